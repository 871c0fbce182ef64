/* sides.c - opens the recordings of both sides, one at a time, compares them, and shows the
 * result. */
#include "cli/sides.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/arg.h"
#include "cli/command.h"
#include "cli/content.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/run.h"
#include "kin/table.h"
#include "tui/browse.h"

void sides_init(struct sides *sides, const struct settings *s)
{
	const struct string_list *programs = &s->programs;
	*sides = (struct sides){ .mode = 0666 };
	for (size_t i = 0; i < N_SIDES && programs->at.n; i++)
		sides->program[i] = programs->at.at[i < programs->at.n ? i : 0];
}

void sides_done(struct sides *sides)
{
	for (int i = 0; i < N_SIDES; i++)
		vec_free(&sides->of[i].at);
	arena_release(&sides->words);
}

void sides_add(struct sides *sides, int side, const char *path)
{
	string_list_add(&sides->of[side], arena_printf(&sides->words, "%s", path));
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *d) { return d->d_name[0] != '.'; }

/* Whether the folder's files are one recording: gprof's files, which are added up, and perf's. */
static bool is_of_one(struct dirent *const *at, int n)
{
	bool one = false;
	for (int i = 0; i < n; i++)
		one = one || !strncmp(at[i]->d_name, "gmon.", 5) || !strcmp(at[i]->d_name, "data");
	return one;
}

/* A folder that cannot be read is added as a recording: opening it fails and gives the reason. */
void sides_take(struct sides *sides, int side, const char *path)
{
	struct dirent **at = NULL;
	int n = content_of(path) == CONTENT_FOLDER ? scandir(path, &at, is_visible, by_bytes) : 0;
	size_t before = sides->of[side].at.n;
	bool one = is_of_one(at, n);
	for (int i = 0; i < n && !one; i++) {
		char *file = xprintf("%s/%s", path, at[i]->d_name);
		enum content content = content_of(file);
		if (content == CONTENT_PROFILE || content == CONTENT_OTHER)
			sides_add(sides, side, file);
		free(file);
	}
	for (int i = 0; i < n; i++)
		free(at[i]);
	free(at);
	if (sides->of[side].at.n == before)
		sides_add(sides, side, path);
}

bool sides_set(struct settings *s, int id, const char *arg, char error[512])
{
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
	case OPT_PAIRED:
		s->diff.paired = true;
		break;
	case OPT_LINES:
		s->diff.lines = true;
		break;
	case OPT_DETECT:
		return arg_share(arg, 0.001, 1000, &s->diff.detect) ||
		       arg_bad("--detect", arg, "a percentage above 0", error);
	case OPT_LIMIT:
		s->diff.limited = true;
		return arg_share(arg, 0, 1e9, &s->diff.limit) ||
		       arg_bad("--fail-above", arg, "a percentage", error);
	}
	return true;
}

struct settings sides_settings(const struct sides *sides, const struct settings *s, int side,
			       size_t i, const char *data[2])
{
	struct settings one = *s;
	data[0] = sides->of[side].at.at[i];
	data[1] = NULL;
	one.data.at.at = data;
	one.data.at.n = 1;
	if (sides->program[side])
		one.executable = sides->program[side];
	return one;
}

/* Appends the remedy, if there is one. */
static struct kin_error *with_remedy(const struct sides *sides, struct kin_error *err)
{
	if (!err || !sides->remedy || kin_error_kind(err) != KIN_ERROR_MISMATCH)
		return err;
	struct kin_error *more =
		err_new(KIN_ERROR_MISMATCH, "%s: %s", kin_error_message(err), sides->remedy);
	kin_error_free(err);
	return more;
}

/* Returns the exit status for the recording; `*err`: it cannot be compared. */
static int add_one(struct sides *sides, const struct settings *s, int side, size_t i,
		   struct kin_comparison *c, bool *added, bool *hinted)
{
	const char *data[2];
	struct settings one = sides_settings(sides, s, side, i, data);
	struct kin_profile *p = NULL;
	struct told told;
	int status = run_open(&one, &p, &told);
	*added = false;
	if (!p)
		return status;
	sides->mode &= kin_profile_file_mode(p);
	sides->foreign |= kin_profile_is_foreign(p);
	struct kin_error *err = kin_comparison_add(c, side == SIDE_AFTER, p);
	*added = !err;
	if (*hinted) /* hints about other recordings are the same */
		told.hints = SIZE_MAX;
	const char *origin = kin_profile_remark(p, KIN_REMARK_ORIGIN, &(size_t){ 0 });
	if (origin && sides->origin && !strcmp(origin, sides->origin))
		told.origins = SIZE_MAX;
	else if (origin)
		sides->origin = arena_printf(&sides->words, "%s", origin);
	int doubt = run_tell(&one, p, &told);
	*hinted |= kin_profile_remark(p, KIN_REMARK_HINT, &(size_t){ 0 }) != NULL;
	kin_profile_free(p);
	err = with_remedy(sides, err);
	return err ? message_error(s->command->name, err) : status ? status : doubt;
}

static bool is_page(const struct settings *s) { return s->format && !strcmp(s->format, "html"); }

static struct kin_comparison *new_comparison(const struct settings *s)
{
	struct kin_diff_opts opts = s->diff;
	opts.size = sizeof(opts);
	opts.columns = string_list(&s->columns);
	opts.sort = s->sort;
	opts.min_share = s->min_share;
	opts.for_page = is_page(s);
	return kin_comparison_new(&opts);
}

/* Compares both sides. *ret_c: the comparison that the table was made from, or NULL. */
static int compare(struct sides *sides, const struct settings *s, struct kin_comparison **ret_c,
		   struct kin_table **ret)
{
	int status = EXIT_OK;
	bool added = true, hinted = false;
	*ret = NULL;
	struct kin_comparison *c = *ret_c = new_comparison(s);
	for (int side = 0; side < N_SIDES; side++)
		for (size_t i = 0; i < sides->of[side].at.n && added; i++) {
			int found = add_one(sides, s, side, i, c, &added, &hinted);
			status = status ? status : found;
		}
	struct kin_error *err = added ? kin_comparison_table(c, ret) : NULL;
	return err ? message_error(s->command->name, err) : status;
}

int sides_check(const struct settings *s)
{
	struct kin_comparison *c = new_comparison(s);
	struct kin_error *err = kin_comparison_check(c);
	kin_comparison_free(c);
	return message_error(s->command->name, err);
}

int sides_compare(struct sides *sides, const struct settings *s, struct kin_table **ret)
{
	struct kin_comparison *c;
	int status = compare(sides, s, &c, ret);
	kin_comparison_free(c);
	return status;
}

/* "before.kin → after.kin"; to be freed. */
static char *title_of(const struct sides *sides)
{
	const char *name[N_SIDES];
	for (int i = 0; i < N_SIDES; i++) {
		name[i] = base_name(sides->of[i].at.at[0]);
	}
	size_t n = sides->of[SIDE_BEFORE].at.n, m = sides->of[SIDE_AFTER].at.n;
	return n == 1 && m == 1 ? xprintf("%s \xe2\x86\x92 %s", name[0], name[1])
				: xprintf("%zu recordings \xe2\x86\x92 %zu", n, m);
}

static struct kin_error *write_page(const struct sides *sides, const struct settings *s,
				    struct kin_comparison *c, struct kin_table *table, int status)
{
	struct output_opts opts = s->output;
	struct output out;
	opts.no_pager = true;
	opts.mode = run_output_mode(s, sides->mode);
	struct kin_error *err = output_open(&opts, status, &out);
	if (err)
		return err;
	char *title = title_of(sides);
	err = kin_comparison_html(
		c, table,
		&(struct kin_html_opts){ .size = sizeof(struct kin_html_opts), .title = title },
		out.stream);
	free(title);
	return output_finish(&out, err);
}

/* Opens all recordings of a side as one profile. */
static struct kin_error *open_side(const struct sides *sides, const struct settings *s, int side,
				   struct kin_profile **ret)
{
	struct settings all = *s;
	all.data = sides->of[side];
	if (sides->program[side])
		all.executable = sides->program[side];
	return run_open_part(&all, NULL, NULL, ret);
}

static struct kin_error *browse_table(const struct sides *sides, const struct settings *s,
				      struct kin_table *table)
{
	struct kin_profile *before = NULL, *after = NULL;
	struct kin_hists_opts hists = { .size = sizeof(hists), .inlines = !s->no_inlines };
	struct kin_error *err = open_side(sides, s, SIDE_BEFORE, &before);
	if (!err)
		err = open_side(sides, s, SIDE_AFTER, &after);
	char *title = title_of(sides);
	if (!err)
		err = browse(after,
			     &(struct browse_opts){ .title = title,
						    .hists = &hists,
						    .changes = table,
						    .before = before,
						    .full_names = settings_full_names(s),
						    .source_dirs = string_list(&s->source_dirs) });
	free(title);
	kin_profile_free(before);
	kin_profile_free(after);
	return err;
}

/* Whether the program has become slower than allowed. */
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
	message(s->command->name, "the total has grown by %.2f %%%s: more than %.2f %%",
		100 * (after / before - 1), interval, 100 * s->diff.limit);
	free(interval);
	return true;
}

/* Why the table does not tell of a change; NULL: it does. A limit applies to times. */
static const char *what_lacks(const struct settings *s, const struct kin_table *t)
{
	bool before = kin_table_property(t, "total_before")->number > 0;
	bool after = kin_table_property(t, "total_after")->number > 0;
	bool counted = kin_table_property(t, "counted")->count;
	if ((before && after) || (counted && !s->diff.limited))
		return NULL;
	return !before && !after ? "there are no samples on either side"
	       : !before         ? "there are no samples before"
				 : "there are no samples after";
}

/* Whether there is anything to compare; prints why if not. */
static bool has_data(const struct settings *s, const struct kin_table *t)
{
	const char *lacks = what_lacks(s, t);
	if (lacks)
		message(s->command->name, "%s: nothing is known of %s", lacks,
			s->diff.limited ? "how much the total has grown" : "a change");
	return !lacks;
}

static int incomparable(int status) { return status == EXIT_ERROR ? EXIT_INCOMPARABLE : status; }

int sides_show(struct sides *sides, const struct settings *s)
{
	struct kin_table *table = NULL;
	struct kin_comparison *c;
	int status = incomparable(compare(sides, s, &c, &table));
	struct kin_error *err = NULL;
	struct settings allowed = *s;
	allowed.output.mode = sides->mode;
	if (table)
		err = s->tui       ? browse_table(sides, s, table)
		      : is_page(s) ? write_page(sides, s, c, table, status)
				   : run_render(&allowed, table, status);
	kin_comparison_free(c);
	if (!table)
		return status;
	bool known = err || has_data(s, table);
	bool slower = !err && known && fails(s, table);
	kin_table_free(table);
	if (err)
		return incomparable(message_error(s->command->name, err));
	return status ? status : !known ? EXIT_INCOMPARABLE : slower ? EXIT_SLOWER : EXIT_OK;
}
