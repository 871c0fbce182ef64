/* cmd_lines.c - shows time per source line. */
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"One row per source line that has time or was called, the busiest first. self is the "
	"time in the line's own code. With sampled stacks, inclusive is the time of all samples "
	"with the line on their stack. The program must have line information (compile with -g).",
	"With names of functions or source files, only their lines; a function has those of "
	"code inlined into it as well.",
	NULL,
};

static const struct example examples[] = {
	{ "kin lines --min-share=1", "the lines that matter" },
	{ "kin lines parse.c", "those of one file" },
	{ 0 },
};

static const struct opt_group *const options[] = {
	&input_options,  &names_options, &inline_options, &own_options,     &coverage_options,
	&select_options, &part_options,  &output_options, &general_options, NULL,
};

const struct command lines_command = {
	.name = "lines",
	.group = COMMANDS_MORE,
	.summary = "time per source line",
	.operands = "[PROGRAM] [DATA]... [FUNCTION|FILE]...",
	.description = description,
	.options = options,
	.examples = examples,
	.names_subjects = true,
	.narrow = run_with_counters,
	.run = run_named,
};
