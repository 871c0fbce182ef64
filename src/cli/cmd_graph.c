/* cmd_graph.c - shows callers and callees. */
#include "cli/command.h"
#include "cli/run.h"
#include "cli/settings.h"

static const char *const description[] = {
	"A block of rows per function, ordered by its time including callees: callers above, "
	"then the function itself, then callees, both indented. In a caller's row, self and "
	"children are the caller's part of the function's time; in a callee's row, the "
	"function's part of the callee's time.",
	"Where calls were counted, called is 3/7 for 3 of 7 calls, and 3+7 for 3 calls from "
	"outside and 7 recursive ones. Functions that call each other form a cycle, which has a "
	"block of its own; without stacks its time cannot be divided among its functions.",
	"With sampled stacks the time of a call is measured: that of the samples with this call "
	"on their stack. A gmon.out has no stacks, so such times are estimated: apportioned by "
	"number of calls. A note says which it is.",
	"With names of functions, only their blocks. --format=dot and svg draw the graph, or these "
	"functions with their callers and callees: a node has its share of the time, (its own), "
	"and "
	"its calls.",
	"Of stacks without counted calls, as of a recording, text leaves out what has less than "
	"0.01 % of the time, and a note says so; --min-share=0 shows it, as CSV and JSON do.",
	NULL,
};

static const struct opt_group *const options[] = {
	&input_options, &names_options,        &inline_options,  &own_options, &select_options,
	&part_options,  &graph_output_options, &general_options, NULL,
};

static const struct example examples[] = {
	{ "kin graph", "the whole call graph" },
	{ "kin graph parse_line", "who calls parse_line, and what it calls" },
	{ "kin graph -f svg -o graph.svg", "drawn by Graphviz" },
	{ "kin graph -- main", "a function whose name is also that of a file" },
	{ 0 },
};

const struct command graph_command = {
	.name = "graph",
	.group = COMMANDS_START,
	.summary = "callers and callees of each function, and the time of each call",
	.operands = "[PROGRAM] [DATA]... [FUNCTION]...",
	.description = description,
	.options = options,
	.examples = examples,
	.names_subjects = true,
	.narrow = run_by_function,
	.run = run_named,
};
