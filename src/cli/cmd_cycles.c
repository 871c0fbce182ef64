/* cmd_cycles.c - functions that call each other in a circle. */
#include "cli/command.h"
#include "cli/run.h"

static const char *const description[] = {
	"Call counts show that f called g and that g called f, but not that this happened on one "
	"stack (f called by g calling g again). Sampled stacks show that: a cycle is confirmed if "
	"it was gone round on one of them, and not seen going round if on none of 60 or more "
	"samples with its functions it was. Then at most "
	"3/n of its time can have gone round, with a confidence of 95 %, if n is the number of "
	"these samples and they are independent: the rule of three of Hanley and Lippman-Hand "
	"(1983). With fewer samples it is unknown.",
	"For each cycle: its functions, the calls by which it is entered, the heaviest calls "
	"within it, ten of each at most, and the smallest set of calls without which there is no "
	"cycle. Of several such sets it is the one with the fewest calls. The set is exact for up "
	"to 20 functions; for more it is found by a heuristic, and a note says so.",
	"Naming functions shows the cycles that they are in.",
	NULL,
};

static const struct example examples[] = {
	{ "kin cycles profile.kin", "all cycles, those with the most time first" },
	{ "kin cycles -f json parse_expr", "the one parse_expr is in, for programs" },
	{ 0 },
};

static const struct opt_group *const options[] = {
	&input_options, &names_options,  &inline_options,  &select_options,
	&part_options,  &output_options, &general_options, NULL,
};

static int run(const struct settings *s) { return run_report(s, "cycles"); }

const struct command cycles_command = {
	.name = "cycles",
	.group = COMMANDS_LOOK,
	.summary = "functions that call each other in a circle, and whether they really do",
	.operands = "[PROGRAM] [DATA]... [FUNCTION]...",
	.description = description,
	.options = options,
	.examples = examples,
	.names_subjects = true,
	.run = run,
};
