/* cmd_latency.c - shows how long calls took. */
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"Call durations per function, with a row for each of its callers below: count, mean, "
	"median, 90th and 99th percentile, maximum. It needs data of kin run --latency, from "
	"programs compiled with -finstrument-functions.",
	"Durations are wall-clock time from call to return, including callees, sleep and waiting "
	"for a CPU. The runtime determines the cost of measuring in each thread and subtracts "
	"it. Distributions have buckets an eighth wide; count, total, min and max are exact.",
	"With names of functions, only calls of them and by them. --min-share is relative to the "
	"function with the most time.",
	NULL,
};

static const struct example examples[] = {
	{ "kin run --latency ./prog; kin latency profile.kin", "measure and look" },
	{ "kin latency profile.kin -s -p99", "the worst first" },
	{ 0 },
};

static const struct opt_group *const options[] = {
	&input_options, &names_options, &select_options, &output_options, &general_options, NULL,
};

const struct command latency_command = {
	.name = "latency",
	.group = COMMANDS_GPROF,
	.summary = "how long calls took, as distributions",
	.operands = "[PROGRAM] [DATA]... [FUNCTION]...",
	.description = description,
	.options = options,
	.examples = examples,
	.names_subjects = true,
	.run = run_named,
};
