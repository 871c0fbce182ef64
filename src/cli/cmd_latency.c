/* cmd_latency.c - how long calls took. */
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"Call durations per function, with a row for each of its callers below: count, mean, "
	"median, 90th and 99th percentile, maximum. It takes data of kin run --latency, from "
	"programs compiled with "
	"-finstrument-functions.",
	"Every call is measured by the clock, from its beginning to its end: with all that it "
	"called, with time in which the thread slept or had no CPU, and without the time that "
	"measuring itself took, which the runtime finds out in each thread and takes off. "
	"Distributions are kept in buckets that are an eighth wide; count, total, min and max are "
	"exact.",
	"Naming functions shows only calls of them and by them. --min-share is of the function "
	"with the most time.",
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

static int run(const struct settings *s) { return run_report(s, "latency"); }

const struct command latency_command = {
	.name = "latency",
	.group = COMMANDS_LOOK,
	.summary = "how long calls took, as distributions",
	.operands = "[PROGRAM] [DATA]... [FUNCTION]...",
	.description = description,
	.options = options,
	.examples = examples,
	.names_subjects = true,
	.run = run,
};
