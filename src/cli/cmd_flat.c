/* cmd_flat.c - shows time per function. */
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"One row per function, the busiest first: its share of the total time and its time in "
	"seconds, without callees. With sampled stacks, inclusive is the time of all samples "
	"with the function on their stack. With counted calls there are the number of calls, and "
	"the time per call without and with callees.",
	"Self times are measured. Times with callees are measured if there are stacks. A "
	"gmon.out has none, so they are estimated: a callee's time is divided among its callers "
	"in proportion to their calls.",
	NULL,
};

static const struct example examples[] = {
	{ "kin flat", "the profile in this directory" },
	{ "kin flat ./server gmon.out.*", "several runs added up" },
	{ "kin flat --sort=-calls --min-share=1",
	  "functions by number of calls, those below 1 % hidden" },
	{ "kin flat --format=csv -o flat.csv", "for a spreadsheet" },
	{ 0 },
};

const struct command flat_command = {
	.name = "flat",
	.group = COMMANDS_GPROF,
	.summary = "time per function, and how often each was called",
	.operands = "[PROGRAM] [DATA]...",
	.description = description,
	.options = report_command_options,
	.examples = examples,
	.narrow = run_by_function,
	.run = run_named,
};
