/* cmd_counts.c - shows execution counts. */
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"Execution counts: calls per function, which gmon.out and the files of kin run hold; "
	"executions of lines if the program was built by kin cc --blocks; and of basic blocks, "
	"where "
	"gmon.out or bb.out has them.",
	"With names of functions or source files, only theirs.",
	NULL,
};

static const struct example examples[] = {
	{ "kin counts --sort=-calls", "the most called first" },
	{ 0 },
};

/* Its report shows no times, so no note about subtracted counting time is needed. */
static void narrow(const struct settings *s, struct kin_open_opts *o)
{
	run_with_counters(s, o);
	o->no_hooks_note = true;
}

static const struct opt_group *const options[] = {
	&input_options,   &names_options, &select_options, &part_options, &output_options,
	&general_options, NULL,
};

const struct command counts_command = {
	.name = "counts",
	.group = COMMANDS_MORE,
	.summary = "how often each function, line or basic block was executed",
	.operands = "[PROGRAM] [DATA]... [FUNCTION|FILE]...",
	.description = description,
	.options = options,
	.examples = examples,
	.names_subjects = true,
	.narrow = narrow,
	.run = run_named,
};
