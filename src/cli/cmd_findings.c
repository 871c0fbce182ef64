/* cmd_findings.c - says what stands out. */
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"What stands out in the samples, in sentences, the largest share of the time first: time "
	"that "
	"libraries and the kernel take for the program (allocating, copying, page faults, reads "
	"and "
	"writes, exceptions, locks, loading), one thread that does the work of many, time that "
	"threads "
	"wait for locks or for a CPU, code without names, and, in programs built with -pg, a "
	"function "
	"that one caller calls a million times, and cycles of calls, whether stacks go round them "
	"or not; one line of own code with most of the time, code compiled without optimisation, "
	"many processes with a single sample. Each share has its interval, of 95 %. "
	"There is no "
	"finding below a tenth of the time, and none with fewer than 30 samples.",
	"With --format=json or csv: the kind of each finding in one word, its share and half the "
	"interval, the sentence, the function that it names, and the command that shows more.",
	NULL,
};

static const struct example examples[] = {
	{ "kin findings", "of the last recording here" },
	{ "kin findings -f json | jq '.rows[].kind'", "for scripts" },
	{ 0 },
};

static const struct opt_group *const options[] = {
	&input_options, &names_options, &select_options, &output_options, &general_options, NULL,
};

static void narrow(const struct settings *s, struct kin_open_opts *o)
{
	(void)s;
	o->findings = true;
}

const struct command findings_command = {
	.name = "findings",
	.group = COMMANDS_MORE,
	.summary = "what stands out, in sentences",
	.operands = "[PROGRAM] [DATA]...",
	.description = description,
	.options = options,
	.examples = examples,
	.narrow = narrow,
	.run = run_named,
};
