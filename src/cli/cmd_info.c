/* cmd_info.c - what is in the data. */
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"Says what was read, before any of it is interpreted: the files and their "
	"formats, the range of addresses that was sampled and how finely, the "
	"number of calls counted, and which program this was held against.",
	"Of recordings also how far they can be trusted: the CPU time that samples stand for next "
	"to the kernel's own accounting, the rate at which they were really taken, samples that "
	"were lost, stacks that could not be walked to their end and in which files, samples "
	"without a name, preemptions. The last lines say whether any of it is cause for doubt: "
	"with --strict it is the exit status, 1, of this and of all commands that report.",
	NULL,
};

static const struct example examples[] = {
	{ "kin info gmon.out", "is this the right file?" },
	{ "kin info --strict run.kin >/dev/null || exit", "in a script: only data that is whole" },
	{ 0 },
};

static const struct opt_group *const options[] = {
	&input_options, &names_options, &select_options, &output_options, &general_options, NULL,
};

static int run(const struct settings *s) { return run_report(s, "info"); }

const struct command info_command = {
	.name = "info",
	.group = COMMANDS_DATA,
	.summary = "what is in the data: files, histograms, call counts, and the program "
		   "they belong to",
	.operands = "[PROGRAM] [DATA]...",
	.description = description,
	.options = options,
	.examples = examples,
	.run = run,
};
