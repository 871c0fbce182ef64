/* cmd_flat.c - time per function. */
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"One row per function, the busiest first: the share of the total time spent "
	"in its own code, that time in seconds, how often it was called, and the "
	"time per call without and with what it called in turn.",
	"Own times are samples of the program counter: what was measured. Times "
	"that include callees (total/call) are estimated: a callee's time is handed "
	"to its callers in proportion to their calls, as gmon.out does not say "
	"which call it was spent on.",
	NULL,
};

static const struct example examples[] = {
	{ "kin flat", "the profile in gmon.out of the program here" },
	{ "kin flat ./server gmon.out.*", "several runs added up" },
	{ "kin flat --sort=-calls --min-share=1", "what is called most, without the crumbs" },
	{ "kin flat --format=csv -o flat.csv", "for a spreadsheet" },
	{ 0 },
};

static const struct opt_group *const options[] = {
	&input_options,   &names_options, &select_options, &part_options, &output_options,
	&general_options, NULL,
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
