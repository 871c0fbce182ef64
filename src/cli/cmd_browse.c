/* cmd_browse.c - a profile on the terminal, to go about in. */
#include "cli/command.h"
#include "cli/run.h"
#include "tui/browse.h"

static const char *const description[] = {
	"All functions by the time that was spent in them and in what they called; from each to "
	"its callers and callees, and on from there. Of samples with stacks it shows what kin "
	"report does, of gmon.out and the like what kin flat and kin graph do.",
	"Up and Down go through the rows, Enter to the callers and callees of a function, a to its "
	"source, or its instructions, Esc back; / shows only rows with a text in them, s sorts by "
	"Children or by Self, ? lists all keys, q quits.",
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

struct kin_error *browse_profile(struct kin_profile *profile, const struct settings *s, int status)
{
	struct browse_opts opts = { .title = "kin",
				    .hists = &s->hists,
				    .source_dirs = string_list(&s->source_dirs) };
	(void)status;
	return browse(profile, &opts);
}

static int run(const struct settings *s) { return run_profile(s, browse_profile); }

const struct command browse_command = {
	.name = "browse",
	.group = COMMANDS_LOOK,
	.summary = "look around in a profile, on the terminal",
	.operands = "[PROGRAM] [DATA]...",
	.description = description,
	.options = options,
	.examples = examples,
	.run = run,
};
