/* cmd_graph.c - callers and callees. */
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"A block of rows per function, ordered by the time spent in it and in all "
	"that it called. The function itself stands between its callers, above, and "
	"its callees, below; both are indented. For a caller, self and children are "
	"the part of the function's time that it is charged with; for a callee, the "
	"part of the callee's time that the function is charged with.",
	"Where calls were counted, called is 3/7 for 3 of 7 calls, and 3+7 for 3 calls from "
	"outside and 7 recursive ones. Functions that call each other in a circle form a cycle, "
	"which has a block of its own; without stacks time cannot be told apart within it.",
	"Where stacks were sampled, the time that went along a call is measured: it is that of the "
	"samples with this call on their stack. gmon.out has no stacks, only counts of calls, so "
	"that such times are estimated: apportioned by these counts. A note says which it is.",
	"Naming functions shows only their blocks.",
	NULL,
};

static const struct example examples[] = {
	{ "kin graph", "the whole call graph" },
	{ "kin graph parse_line", "who calls parse_line, and what it calls" },
	{ "kin graph -- main", "a function whose name is also that of a file" },
	{ 0 },
};

static const struct opt_group *const options[] = {
	&input_options, &names_options,  &inline_options,  &select_options,
	&part_options,  &output_options, &general_options, NULL,
};

static int run(const struct settings *s) { return run_report(s, "graph"); }

const struct command graph_command = {
	.name = "graph",
	.group = COMMANDS_LOOK,
	.summary = "callers and callees of each function, and the time of each call",
	.operands = "[PROGRAM] [DATA]... [FUNCTION]...",
	.description = description,
	.options = options,
	.examples = examples,
	.names_subjects = true,
	.run = run,
};
