/* cmd_browse.c - a profile on the terminal, to go about in. */
#include "cli/command.h"
#include "cli/run.h"
#include "tui/browse.h"

static const char *const description[] = {
	"Shows all functions by time including callees, and leads from each to its callers and "
	"callees. For samples with stacks it shows what kin report shows; for gmon.out, what kin "
	"flat and kin graph show.",
	"Up and Down move through the rows, Enter shows callers and callees of a function, + what "
	"it calls in place, f the flame graph, a its source, then its instructions, t and d one "
	"thread or one library "
	"alone, Esc goes back; / shows only rows that contain some words, s sorts by Children or "
	"by Self, ? lists what can be done, q quits.",
	NULL,
};

static const struct example examples[] = {
	{ "kin browse", "the profile here" },
	{ "kin browse app.kin", "of a recording" },
	{ "kin browse prog gmon.out", "of what a program built with -pg left" },
	{ 0 },
};

static const struct opt_group *const options[] = { &input_options,   &names_options,
						   &inline_options,  &source_options,
						   &general_options, NULL };

static struct kin_error *open_part(void *arg, const char *thread, const char *object,
				   struct kin_profile **ret)
{
	return run_open_part(arg, thread, object, ret);
}

struct kin_error *browse_profile(struct kin_profile *profile, const struct settings *s, int status)
{
	struct settings again = *s;
	struct kin_hists_opts usual = { .size = sizeof(usual), .inlines = !s->no_inlines };
	struct browse_opts opts = { .title = "kin",
				    .hists = s->hists.size ? &s->hists : &usual,
				    .part = open_part,
				    .arg = &again,
				    .source_dirs = string_list(&s->source_dirs),
				    .status = status };
	return browse(profile, &opts);
}

static int run(const struct settings *s) { return run_profile(s, browse_profile); }

const struct command browse_command = {
	.name = "browse",
	.group = COMMANDS_LOOK,
	.summary = "browse a profile on the terminal",
	.operands = "[PROGRAM] [DATA]...",
	.description = description,
	.options = options,
	.examples = examples,
	.run = run,
};
