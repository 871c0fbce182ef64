/* cmd_diff.c - shows what became slower, and what faster. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/sides.h"
#include "perf/perf_refusals.h"

enum { DIFF_TUI = OPT_OF_SIDES };

static const char *const description[] = {
	"A row for each function that takes more time in AFTER than in BEFORE, or less, the "
	"largest change first. Each may be a recording, a perf.data, a gmon.out with its program "
	"before it, or a directory: of gmon.out files, which are added up, or of recordings, which "
	"are repetitions. Times are those of a run, on average.",
	"Functions are the same if they have the same name, in the same program or library; if "
	"that is called otherwise now, the name will do where it is the only one. So will the name "
	"without what compilers put behind it: .constprop.0, .part.1, (inlined), the number of a "
	"procedure within another one of Fortran.",
	"Where both sides count calls and have stacks (kin cc, callgrind), a change is divided "
	"into "
	"what more or fewer calls make, what other callers make, and what is left: calls that cost "
	"more.",
	"Times differ by chance, too. Differences within chance are left out: two standard "
	"deviations of sampling, or of the repetitions where there are any, corrected for the "
	"number of functions (Holm). So equal programs have a row once in twenty times. The "
	"machine's own influence, such as a busy cache or a warm CPU, only shows in repetitions: "
	"best in those of kin compare, which takes turns. All runs of a kin record -r 10 belong to "
	"one stretch of time; the intervals include that another stretch may differ as much as "
	"single runs do.",
	NULL,
};

static const char exit_status[] =
	"0, 1 if the total has grown by more than --fail-above allows, 2 if the command line is "
	"wrong, 3 if something could not be read or written, is in doubt with --strict, or if the "
	"two cannot be compared.";

static const struct example examples[] = {
	{ "kin diff before.kin after.kin", "where the time went, or went away" },
	{ "kin diff old/prog old/gmon.out new/prog new/gmon.out", "of two builds with -pg" },
	{ "kin diff monday/ friday/", "each of several recordings" },
	{ "kin diff --shares monday.kin friday.kin", "recordings of unequal length" },
	{ "kin diff -f html -o diff.html old.kin new.kin", "as a page, with a flame graph" },
	{ "kin diff --tui old.kin new.kin", "on the terminal, to go about in" },
	{ "kin diff --fail-above=5 base.kin head.kin", "in CI: fails if it became 5 % slower" },
	{ 0 },
};

static const struct opt_group diff_options = {
	"Comparison",
	(const struct opt[]){
		OPTIONS_OF_SIDES,
		OPTION_OF_LIMIT,
		{ DIFF_TUI, 0, "tui", NULL,
		  "interactively on the terminal, as kin browse: from each row to its callers and "
		  "callees, source and flame graph, before and after" },
		{ 0 },
	},
};

static const struct opt_group *const options[] = {
	&diff_options,        &input_options,
	&names_options,       &inline_options,
	&own_options,         &select_options,
	&chosen_part_options, &difference_output_options,
	&general_options,     NULL,
};

static bool set(struct settings *s, int id, const char *arg, char error[512])
{
	if (id != DIFF_TUI)
		return sides_set(s, id, arg, error);
	s->tui = true;
	return true;
}

static int compare(const struct settings *s)
{
	struct sides sides;
	sides_init(&sides, s);
	sides.remedy = "--event chooses, or --shares compares them";
	for (int i = 0; i < N_SIDES; i++)
		sides_take(&sides, i, s->data.at.at[i]);
	int status = sides_show(&sides, s);
	sides_done(&sides);
	return status;
}

/* A message if a letter was used with its meaning in perf diff; else NULL. */
static const char *meant_for_perf(const struct settings *s)
{
	static const char *const ways[] = { "delta", "delta-abs", "ratio", "wdiff", "cycles" };
	const char *output = s->output.path, *column = s->columns.at.n ? s->columns.at.at[0] : "";

	if (output && *output && !output[strspn(output, "0123456789")])
		return "-o writes to a file, and -s COLUMN orders rows: -o ./NUMBER is a file";
	for (size_t i = 0; i < ARRAY_LEN(ways); i++)
		if (!strcmp(column, ways[i]) || !strncmp(column, "wdiff:", 6))
			return "-c chooses columns, and change and change_share are among them: "
			       "leave it out";
	if (s->sort && (!strcmp(s->sort, "dso") || !strcmp(s->sort, "sym") ||
			!strcmp(s->sort, "comm") || !strcmp(s->sort, "symbol")))
		return "rows are functions, and -s COLUMN orders them: --object FILE and --comm "
		       "NAME compare a part";
	return NULL;
}

static int cmd_diff(const struct settings *s)
{
	const char *otherwise = meant_for_perf(s);
	const struct string_list *data = &s->data, *programs = &s->programs;
	const char *surplus = data->at.n > 2       ? data->at.at[2]
			      : programs->at.n > 2 ? programs->at.at[2]
						   : NULL;
	if (otherwise) {
		message("diff", "%s", otherwise);
		return EXIT_USAGE;
	}
	if (surplus) {
		message("diff",
			"%s is one too many: two profiles are compared, kin diff BEFORE AFTER",
			surplus);
		return EXIT_USAGE;
	}
	if (data->at.n < 2) {
		message("diff", "two profiles are compared: kin diff BEFORE AFTER");
		return EXIT_USAGE;
	}
	if (s->format && !strcmp(s->format, "html") && s->diff.shares) {
		message("diff", "--format=html is about times: leave out --shares");
		return EXIT_USAGE;
	}
	if (s->diff.limited && s->diff.shares) {
		message("diff", "--fail-above is about times, and shares always add up to 100 %%: "
				"leave out --shares");
		return EXIT_USAGE;
	}
	return compare(s);
}

const struct command diff_command = {
	.name = "diff",
	.group = COMMANDS_COMPARE,
	.summary = "two profiles side by side: what became slower, what faster",
	.operands = "[PROGRAM] BEFORE [PROGRAM] AFTER",
	.description = description,
	.options = options,
	.refused = diff_refusals,
	.examples = examples,
	.exit_status = exit_status,
	.compares = true,
	.set = set,
	.run = cmd_diff,
};
