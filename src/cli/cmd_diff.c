/* cmd_diff.c - what became slower, and what faster. */
#include <stdlib.h>
#include <string.h>

#include "cli/arg.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/run.h"
#include "kin/table.h"
#include "perf/perf_refusals.h"

enum { EXIT_SLOWER = 1, EXIT_INCOMPARABLE = 3 };

enum { OPT_INCLUSIVE = OPT_OWN, OPT_SHARES, OPT_ALL, OPT_FAIL_ABOVE };

static const char *const description[] = {
	"A row for each function that takes more time in AFTER than in BEFORE, or less, the "
	"largest "
	"change first. Each may be a recording, a perf.data, a "
	"gmon.out with its program before it, or a directory with such; of kin record -r, times "
	"are "
	"those of a run, on average.",
	"Functions are the same if they have the same name, in the same program or library; if "
	"that is called otherwise now, the name will do where it is the only one.",
	"Sampled times differ by chance, too. What differs by no more than that is left out: two "
	"standard deviations of sampling, or of the runs where there are several. What the "
	"machine adds of its own, a busy cache or a warm CPU, only several runs show: kin "
	"record -r 10. Where both are of several runs the change of the total has an interval, "
	"too; "
	"what the machine did otherwise in the minutes of the one and of the other is not in it.",
	NULL,
};

static const char exit_status[] =
	"0, 1 if the total has grown by more than --fail-above allows, 2 if the command line is "
	"wrong, 3 if something could not be read or written, is in doubt with --strict, or if the "
	"two cannot be compared.";

static const struct example examples[] = {
	{ "kin diff before.kin after.kin", "where the time went, or went away" },
	{ "kin diff old/prog old/gmon.out new/prog new/gmon.out", "of two builds with -pg" },
	{ "kin diff --shares monday.kin friday.kin", "recordings of unequal length" },
	{ "kin diff --fail-above=5 base.kin head.kin", "in CI: fails if it became 5 % slower" },
	{ 0 },
};

static const struct opt_group diff_options = {
	"Comparison",
	(const struct opt[]){
		{ OPT_INCLUSIVE, 0, "inclusive", NULL,
		  "compare times with callees, of sampled stacks; otherwise own times", NULL,
		  COMPLETE_NOTHING },
		{ OPT_SHARES, 0, "shares", NULL,
		  "compare shares of the totals: for recordings of unequal length", NULL,
		  COMPLETE_NOTHING },
		{ OPT_ALL, 0, "all", NULL, "show what differs by no more than chance, too", NULL,
		  COMPLETE_NOTHING },
		{ OPT_FAIL_ABOVE, 0, "fail-above", "PERCENT",
		  "exit with 1 if the total has grown by more than this, by the lower end of its "
		  "interval where there is one",
		  NULL, COMPLETE_NOTHING },
		{ 0 },
	},
};

static const struct opt_group *const options[] = {
	&diff_options,   &input_options,   &names_options,
	&inline_options, &select_options,  &part_options,
	&output_options, &general_options, NULL,
};

static bool set(struct settings *s, int id, const char *arg, char error[512])
{
	double percent;
	switch (id) {
	case OPT_INCLUSIVE:
		s->diff.inclusive = true;
		break;
	case OPT_SHARES:
		s->diff.shares = true;
		break;
	case OPT_ALL:
		s->diff.all = true;
		break;
	case OPT_FAIL_ABOVE:
		if (!arg_double(arg, "%", 0, 1e9, &percent))
			return arg_bad("--fail-above", arg, "a percentage", error);
		s->diff.limited = true;
		s->diff.limit = percent / 100;
		break;
	}
	return true;
}

/* Has it become slower than allowed? */
static bool fails(const struct settings *s, const struct kin_table *t)
{
	if (!kin_table_property(t, "exceeds_limit"))
		return false;
	double before = kin_table_property(t, "total_before")->number;
	double after = kin_table_property(t, "total_after")->number;
	const struct kin_cell *least = kin_table_property(t, "certain_growth");
	char *interval = least && kin_table_property(t, "total_chance")
				 ? xprintf(", %.2f %% at least", 100 * least->number)
				 : xprintf("%s", "");
	message("diff", "the total has grown by %.2f %%%s: more than %.2f %%",
		100 * (after / before - 1), interval, 100 * s->diff.limit);
	free(interval);
	return true;
}

/* `*slower`: by more than allowed. */
static int show(const struct settings *s, struct kin_profile *before, struct kin_profile *after,
		int status, bool *slower)
{
	struct kin_diff_opts opts = s->diff;
	struct kin_table *table = NULL;

	opts.size = sizeof(opts);
	opts.columns = string_list(&s->columns);
	opts.sort = s->sort;
	opts.min_share = s->min_share;
	struct kin_error *err = kin_diff(before, after, &opts, &table);
	if (!err)
		err = run_render(s, table, status);
	*slower = !err && fails(s, table);
	kin_table_free(table);
	return err ? message_error("diff", err) : status;
}

/* The settings for one of the two; its program is its own, or the only one. */
static struct settings side(const struct settings *s, size_t i, const char *data[2])
{
	struct settings one = *s;
	data[0] = s->data.at.at[i];
	data[1] = NULL;
	one.data.at.at = data;
	one.data.at.n = 1;
	if (s->programs.at.n)
		one.executable = s->programs.at.at[i < s->programs.at.n ? i : 0];
	return one;
}

static int compare(const struct settings *s)
{
	struct settings one[2];
	struct kin_profile *p[2] = { NULL, NULL };
	struct told told[2];
	const char *data[2][2];
	bool slower = false;
	int status = EXIT_OK;

	for (size_t i = 0; i < 2; i++) {
		one[i] = side(s, i, data[i]);
		int found = run_open(&one[i], &p[i], &told[i]);
		status = found ? found : status;
	}
	if (p[0] && p[1])
		status = show(s, p[0], p[1], status, &slower);
	for (size_t i = 0; i < 2; i++) {
		int doubt = p[i] ? run_tell(&one[i], p[i], &told[i]) : EXIT_OK;
		status = status ? status : doubt;
		kin_profile_free(p[i]);
	}
	if (status == EXIT_ERROR)
		return EXIT_INCOMPARABLE;
	return status ? status : slower ? EXIT_SLOWER : EXIT_OK;
}

/* What perf diff takes these letters for. */
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

static int run(const struct settings *s)
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
	if (s->diff.limited && s->diff.shares) {
		message("diff", "--fail-above is about times, and shares always add up to 100 %%: "
				"leave out --shares");
		return EXIT_USAGE;
	}
	return compare(s);
}

const struct command diff_command = {
	.name = "diff",
	.group = COMMANDS_LOOK,
	.summary = "two profiles side by side: what became slower, what faster",
	.operands = "[PROGRAM] BEFORE [PROGRAM] AFTER",
	.description = description,
	.options = options,
	.refused = diff_refusals,
	.examples = examples,
	.exit_status = exit_status,
	.compares = true,
	.set = set,
	.run = run,
};
