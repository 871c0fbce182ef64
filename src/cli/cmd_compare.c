/* cmd_compare.c - runs and records two commands in turns: which is slower, where, and how certain
 * that is. */
#include "cli/cmd_compare.h"

#include <stdlib.h>
#include <string.h>

#include "cli/arg.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/message.h"
#include "cli/prefix.h"
#include "cli/sampling.h"
#include "cli/turns.h"

static const char *const description[] = {
	"Runs BEFORE and AFTER in turn, under kin record, in the order A B B A A B ..., so that "
	"the machine's own drift (temperature, other programs) affects both alike. Then it shows "
	"the change of the total, and each function that takes more or less time, with 95 % "
	"confidence intervals.",
	"Pairs of neighbouring runs are the repetitions. Chance is the spread of differences "
	"between pairs, after a steady drift is taken off, but at least the noise of sampling. A "
	"function is shown if its change exceeds chance after Holm's correction for the number "
	"of functions: two equal programs show any function only once in twenty times.",
	"Without AFTER the command is compared with itself, and all functions are shown, most "
	"time first. All differences are then chance, and the column \"runs needed\" tells in "
	"advance how many runs it takes to find a change of 2 %, or of --detect.",
	"The commands' input and output are /dev/null; all runs must end with the same status. "
	"-o keeps the recordings: kin diff DIR/before DIR/after shows them again.",
	NULL,
};

static const char exit_status[] =
	"0, 1 if the total has grown by more than --fail-above allows, 2 if the command line is "
	"wrong, 3 if a run failed, was not recorded, or ended otherwise than the others, or if the "
	"recordings cannot be compared.";

static const struct example examples[] = {
	{ "kin compare ./old -- ./new", "ten runs of each" },
	{ "kin compare -r 40 ./old input -- ./new input", "more of them find smaller changes" },
	{ "kin compare --detect=1 ./prog", "how many runs will it take to find 1 %?" },
	{ "kin compare -o runs --fail-above=3 ./old -- ./new", "in CI: fails if 3 % slower" },
	{ 0 },
};

enum { OPT_RUNS = OPT_OF_SIDES, OPT_WARMUP, OPT_KEEP, OPT_EVENTS, OPT_RATE, OPT_SHOW };

static const struct opt_group run_options = {
	"Runs",
	(const struct opt[]){
		{ OPT_RUNS, 'r', "repeat", "N",
		  "runs of each command, 2 or more; 10 if not given" },
		{ OPT_WARMUP, 0, "warmup", "N",
		  "additional runs of each at the start that do not count but fill caches; "
		  "default: 1" },
		{ OPT_RATE, 0, "frequency", "HZ",
		  "samples per second of CPU time, as in kin record: more of them tell more of "
		  "small functions" },
		{ OPT_EVENTS, 'e', "event", "EVENT", "what is sampled, as in kin record" },
		{ OPT_SHOW, 0, "show-output", NULL, "show what the commands print" },
		{ OPT_KEEP, 'o', "output", "DIR",
		  "keep the recordings, in DIR/before and DIR/after, which must not exist", NULL,
		  COMPLETE_DIRECTORY },
		{ 0 },
	},
};

static const struct opt_group compare_options = {
	"Comparison",
	(const struct opt[]){
		OPTIONS_OF_SHOWING,
		OPTION_OF_LIMIT,
		{ 0 },
	},
};

static const struct opt_group table_options = {
	"Output",
	(const struct opt[]){
		{ OPT_FORMAT, 'f', "format", "FORMAT",
		  "text (the default), json or csv; html: a page with the differential flame graph",
		  "text json csv html" },
		{ OPT_COLOR, 0, "color", "WHEN",
		  "auto (the default: on a terminal, unless NO_COLOR is set), always or never",
		  "auto always never" },
		{ OPT_WIDTH, 'w', "width", "COLUMNS",
		  "truncate names so that lines fit; 0: never. Default: width of the terminal, or "
		  "0" },
		{ OPT_NO_PAGER, 0, "no-pager", NULL, "do not use a pager" },
		{ 0 },
	},
};

static const struct opt_group *const options[] = {
	&run_options,    &compare_options, &names_options,
	&inline_options, &own_options,     &select_options,
	&table_options,  &general_options, NULL
};

/* ---- the command line ---- */

struct compare_line {
	struct settings s;
	struct turns turns;
	char *events;    /* all -e, joined; NULL: none */
	bool needs_both; /* both commands are required: a single one is not compared with itself */
};

static bool take_number(const char *arg, const char *option, uint64_t least, unsigned *ret,
			char error[512])
{
	uint64_t n = 0;
	char what[64];
	snprintf(what, sizeof(what), "a number of runs from %u to 10000", (unsigned)least);
	if (!arg_u64(arg, least, 10000, &n))
		return arg_bad(option, arg, what, error);
	*ret = (unsigned)n;
	return true;
}

static bool set(void *line, const struct opt *row, const char *arg, char error[512])
{
	struct compare_line *l = line;
	switch (row->id) {
	case OPT_RUNS:
		return take_number(arg, "-r", 2, &l->turns.runs, error);
	case OPT_WARMUP:
		return take_number(arg, "--warmup", 0, &l->turns.warmup, error);
	case OPT_KEEP:
		l->turns.folder = arg;
		break;
	case OPT_EVENTS:
		sampling_add_events(&l->events, arg);
		l->turns.events = l->events;
		break;
	case OPT_RATE:
		l->turns.frequency = arg;
		return sampling_set(&(struct sampling){ 0 }, SAMPLING_FREQUENCY, arg, error) ||
		       arg_bad("--frequency", arg,
			       "a number of samples per second from 1 to 1000000, or max", error);
	case OPT_SHOW:
		l->turns.shows_output = true;
		break;
	default:
		return row->id >= OPT_OWN ? sides_set(&l->s, row->id, arg, error)
					  : settings_set(&l->s, row, arg, error);
	}
	return true;
}

/* Splits the words at "--" into both commands. A single command is used for both sides: then
 * nothing has changed, and the table shows each function, the most expensive first. Returns NULL,
 * or what is wrong. */
static const char *split(struct compare_line *l, char **words)
{
	struct turns *t = &l->turns;
	char **between = NULL;
	if (!words)
		return "which commands?";
	t->argv[SIDE_BEFORE] = t->argv[SIDE_AFTER] = words;
	for (char **w = words; *w; w++) {
		if (strcmp(*w, "--") != 0)
			continue;
		if (between)
			return "-- twice, and one is between the commands (sh -c '...' holds one "
			       "that has its own):";
		between = w;
	}
	if (!between && l->needs_both)
		return "no -- between the commands:";
	if (!between) {
		l->s.diff.all = true;
		l->s.sort = l->s.sort ? l->s.sort : "-before";
		return NULL;
	}
	*between = NULL;
	t->argv[SIDE_AFTER] = between + 1;
	return between[1] ? NULL : "-- and no command behind it:";
}

static int run_line(struct compare_line *l)
{
	struct sides sides;
	int status = sides_check(&l->s);
	if (status)
		return status;
	sides_init(&sides, &l->s);
	status = turns_run(&l->turns, &sides);
	if (status == TURNS_DONE)
		status = sides_show(&sides, &l->s);
	turns_done(&l->turns);
	sides_done(&sides);
	return status;
}

static int run_as(const struct command *c, int argc, char **argv, bool needs_both)
{
	struct compare_line l = { .s = { .command = c },
				  .turns = { .command = c->name, .runs = 10, .warmup = 1 },
				  .needs_both = needs_both };
	char **words;
	l.s.diff.by_percent = l.s.diff.paired = true;
	l.s.diff.detect = 0.02;
	int status = prefix_parse(c, argc, argv, set, &l, &words);
	if (status == PREFIX_GO_ON) {
		const char *wrong = split(&l, words);
		if (wrong)
			message(c->name, "%s kin %s BEFORE -- AFTER", wrong, c->name);
		status = wrong ? EXIT_USAGE : run_line(&l);
	}
	settings_done(&l.s);
	free(l.events);
	return status;
}

static int run_words(const struct command *c, int argc, char **argv)
{
	return run_as(c, argc, argv, false);
}

int compare_as(const char *as, int argc, char **argv)
{
	const char *const of_two[] = { description[0], description[1], description[3], NULL };
	struct command c = compare_command;
	c.name = as;
	c.operands = "[--] BEFORE [ARGUMENT]... -- AFTER [ARGUMENT]...";
	c.description = of_two;
	return run_as(&c, argc, argv, true);
}

const struct command compare_command = {
	.name = "compare",
	.group = COMMANDS_COMPARE,
	.summary = "run two commands in turn: which is slower, and where",
	.operands = "[--] BEFORE [ARGUMENT]... [-- AFTER [ARGUMENT]...]",
	.description = description,
	.options = options,
	.examples = examples,
	.exit_status = exit_status,
	.run_words = run_words,
};
