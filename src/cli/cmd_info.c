/* cmd_info.c - what is in the data. */
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"Says what was read, before any of it is interpreted: the files and their "
	"formats, the range of addresses that was sampled and how finely, the "
	"number of calls counted, and which program this was held against.",
	NULL,
};

static const struct example examples[] = {
	{ "kin info gmon.out", "is this the right file?" },
	{ 0 },
};

static const struct opt_group *const options[] = {
	&input_options, &names_options, &select_options, &output_options, &general_options, NULL,
};

static int run(const struct settings *s) { return run_report(s, "info"); }

const struct command info_command = {
	.name = "info",
	.summary = "what is in the data: files, histograms, call counts, and the program "
		   "they belong to",
	.operands = "[PROGRAM] [DATA]...",
	.description = description,
	.options = options,
	.examples = examples,
	.run = run,
};
