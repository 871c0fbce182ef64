/* cmd_cycles.c - shows functions that call each other in a cycle. */
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"Call counts show that f called g and that g called f, but not that this happened on one "
	"stack (f called by g calling g again). Sampled stacks show that: a cycle is confirmed "
	"if one of them contains a function of the cycle twice with another of its functions in "
	"between. It is not seen going round if 60 or more samples have its functions and none "
	"does. Then at most 3/n of its time goes round, with 95 % confidence for n independent "
	"samples: the rule of three of Hanley and Lippman-Hand (1983). With fewer samples it is "
	"unknown. The time of a confirmed cycle is that of the samples that go round, with an "
	"interval for their share. A stack that was cut tells no way into a cycle.",
	"For each cycle: its functions, the calls that enter it, the calls within it with the "
	"most time, at most ten of each, and the smallest set of calls whose removal breaks it; "
	"among such sets, the one with the fewest calls. The set is exact for up to 20 "
	"functions; for more it is found by a heuristic, and a note says so.",
	"With names of functions, only their cycles.",
	NULL,
};

static const struct example examples[] = {
	{ "kin cycles profile.kin", "all cycles, most time first" },
	{ "kin cycles -f json parse_expr", "the one parse_expr is in, for programs" },
	{ 0 },
};

const struct command cycles_command = {
	.name = "cycles",
	.group = COMMANDS_GPROF,
	.summary = "cycles of the call graph, and whether sampled stacks go round them",
	.operands = "[PROGRAM] [DATA]... [FUNCTION]...",
	.description = description,
	.options = report_command_options,
	.examples = examples,
	.names_subjects = true,
	.run = run_named,
};
