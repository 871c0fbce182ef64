/* cmd_flat.c - time per function. */
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"One row per function, the busiest first: the share of the total time spent in its own "
	"code, and that time in seconds. Where stacks were sampled, inclusive is the time of all "
	"samples with the function on their stack. Where calls were counted, there is how often "
	"it was called, and the time per call without and with what it called in turn.",
	"Own times are samples of where the program was: measured. Times with callees are measured "
	"where there are stacks. From gmon.out, which has none, they are estimated: a callee's "
	"time is handed to its callers in proportion to their calls.",
	NULL,
};

static const struct example examples[] = {
	{ "kin flat", "the profile here" },
	{ "kin flat ./server gmon.out.*", "several runs added up" },
	{ "kin flat --sort=-calls --min-share=1",
	  "functions by number of calls, those below 1 % hidden" },
	{ "kin flat --format=csv -o flat.csv", "for a spreadsheet" },
	{ 0 },
};

static const struct opt_group *const options[] = {
	&input_options, &names_options,  &inline_options,  &select_options,
	&part_options,  &output_options, &general_options, NULL,
};

static int run(const struct settings *s) { return run_report(s, "flat"); }

const struct command flat_command = {
	.name = "flat",
	.group = COMMANDS_LOOK,
	.summary = "time per function, and how often each was called",
	.operands = "[PROGRAM] [DATA]...",
	.description = description,
	.options = options,
	.examples = examples,
	.run = run,
};
