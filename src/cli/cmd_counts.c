/* cmd_counts.c - shows execution counts. */
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"Execution counts: calls per function, and executions per basic block if the program was "
	"built to count them. gmon.out and the files of kin run hold them; recordings of samples "
	"do not.",
	"With names of functions or source files, only theirs.",
	NULL,
};

static const struct example examples[] = {
	{ "kin counts --sort=-calls", "the most called first" },
	{ 0 },
};

static const struct opt_group *const options[] = {
	&input_options,   &names_options, &select_options, &part_options, &output_options,
	&general_options, NULL,
};

const struct command counts_command = {
	.name = "counts",
	.group = COMMANDS_MORE,
	.summary = "how often each function or basic block was executed",
	.operands = "[PROGRAM] [DATA]... [FUNCTION|FILE]...",
	.description = description,
	.options = options,
	.examples = examples,
	.names_subjects = true,
	.narrow = run_without_times,
	.run = run_named,
};
