/* cmd_browse.c - browses a profile on the terminal. */
#include <stdlib.h>

#include "base/err.h"
#include "cli/command.h"
#include "cli/report_options.h"
#include "cli/run.h"
#include "tui/browse.h"

static const char *const description[] = {
	"Shows functions, and leads from each to its callers and callees. For samples with stacks "
	"it begins with the page that kin report prints: the functions with the most Self, then of "
	"the rest those with the most Children, as many as fit on the terminal; the other ones "
	"follow. For gmon.out it shows what kin flat and kin graph show, by time including "
	"callees.",
	"If not all functions fit, those that pass at least 99 % of their time on to one callee "
	"are folded into that callee's row; the column Folded says how many. The first line "
	"counts them, and A or --all-rows shows them; / finds them, too.",
	"The list is of own code first, as that of kin report; o shows all functions, and own code "
	"again.",
	"Options about rows and samples are those of kin report, and its --tui is the same.",
	"Up and Down move through the rows, Enter shows callers and callees of a function, + what "
	"it calls in place, f the flame graph, a its source, then its instructions, t and d one "
	"thread or one library "
	"alone, Esc goes back; / shows only rows that contain some words, s sorts by Children, by "
	"Self, or as at first, ? lists what can be done, q quits.",
	NULL,
};

static const struct example examples[] = {
	{ "kin browse", "the profile here" },
	{ "kin browse app.kin", "of a recording" },
	{ "kin browse --by=thread --min-share=1% app.kin", "the main functions of each thread" },
	{ "kin browse prog gmon.out", "the profile that a program built with -pg left" },
	{ 0 },
};

static const struct opt_group *const options[] = {
	&input_options,  &report_row_options, &report_sample_options,
	&names_options,  &inline_options,     &own_options,
	&source_options, &general_options,    NULL,
};

static struct kin_error *open_part(void *arg, bool own, const char *thread, const char *object,
				   struct kin_profile **ret)
{
	struct settings s = *(const struct settings *)arg;
	s.own = own ? OWN_YES : OWN_NO;
	return run_open_part(&s, thread, object, ret);
}

static struct kin_error *browse_by(struct kin_profile *profile, const struct settings *s,
				   const struct kin_hists_opts *hists, int status)
{
	struct settings again = *s;
	struct browse_opts opts = { .title = "kin",
				    .hists = hists,
				    .part = open_part,
				    .arg = &again,
				    .full_names = settings_full_names(s),
				    .source_dirs = string_list(&s->source_dirs),
				    .status = status };
	return browse(profile, &opts);
}

struct kin_error *browse_profile(struct kin_profile *profile, const struct settings *s, int status)
{
	struct kin_hists_opts hists = s->hists;
	const char *option = report_options_of_samples(s);
	if (option && !kin_profile_is_sampled(profile))
		return err_new(KIN_ERROR_USAGE, "%s is about samples, but this data has counts",
			       option);
	struct kin_error *err = kin_hists_check(profile, &s->hists);
	if (err)
		return err;
	char *keys = s->by ? settings_rows_by(s->by, &hists) : NULL;
	hists.inlines = hists.inlines && !s->no_inlines;
	hists.overview = report_options_overview(s) && !keys;
	err = browse_by(profile, s, &hists, status);
	free(keys);
	return err;
}

static int cmd_browse(const struct settings *s) { return run_profile(s, browse_profile); }

const struct command browse_command = {
	.name = "browse",
	.group = COMMANDS_START,
	.summary = "browse a profile on the terminal",
	.operands = "[PROGRAM] [DATA]...",
	.description = description,
	.options = options,
	.examples = examples,
	.begin = report_options_begin,
	.set = report_options_set,
	.narrow = report_options_lead,
	.run = cmd_browse,
};
