/* diff.c - what became slower, and what faster, between two profiles.
 *
 * Times are per run. What chance would make of two programs alike is two standard deviations:
 * between the runs of each side where it has several (Student's t), and at least those of sampling.
 * Samples come at a steady rate, so that how many there are is no chance, but how many of them hit
 * a function is: a binomial distribution. */
#include "report/diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map64.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "table/render.h"
#include "table/table.h"

enum { MILLISECONDS = 1000 };
enum { BEFORE, AFTER, N_SIDES };

enum {
	CHANGE,
	CHANGE_SHARE,
	CHANCE,
	TIME_BEFORE,
	TIME_AFTER,
	CALLS_BEFORE,
	CALLS_AFTER,
	OBJECT,
	NAME,
	N_COLUMNS
};

/* Of times, and of shares. */
#define COLUMNS(kind)                                                                              \
	{                                                                                          \
		[CHANGE] = { .key = "change",                                                      \
			     .title = "change",                                                    \
			     .help = "what is more, or less, after than before",                   \
			     .type = kind,                                                         \
			     .change = true },                                                     \
		[CHANGE_SHARE] = { .key = "change_share",                                          \
				   .title = "of total",                                            \
				   .help = "the same as a share of the total before",              \
				   .type = KIN_CELL_SHARE,                                         \
				   .change = true },                                               \
		[CHANCE] = { .key = "chance",                                                      \
			     .title = "chance",                                                    \
			     .help = "what equal programs would differ by, more only once in "     \
				     "twenty times",                                               \
			     .type = kind },                                                       \
		[TIME_BEFORE] = { .key = "before",                                                 \
				  .title = "before",                                               \
				  .help = "the first profile's; empty if it has no such function", \
				  .type = kind },                                                  \
		[TIME_AFTER] = { .key = "after",                                                   \
				 .title = "after",                                                 \
				 .help = "the second profile's; empty if it has no such function", \
				 .type = kind },                                                   \
		[CALLS_BEFORE] = { .key = "calls_before",                                          \
				   .title = "calls before",                                        \
				   .help = "how often it was called; shown where both count",      \
				   .type = KIN_CELL_COUNT,                                         \
				   .hidden = true },                                               \
		[CALLS_AFTER] = { .key = "calls_after",                                            \
				  .title = "calls after",                                          \
				  .help = "how often it was called; shown where both count",       \
				  .type = KIN_CELL_COUNT,                                          \
				  .hidden = true },                                                \
		[OBJECT] = { .key = "object",                                                      \
			     .title = "object",                                                    \
			     .help = "the object file it is in; shown where there are several",    \
			     .type = KIN_CELL_TEXT,                                                \
			     .hidden = true },                                                     \
		[NAME] = { .key = "name",                                                          \
			   .title = "name",                                                        \
			   .help = "the function",                                                 \
			   .type = KIN_CELL_TEXT },                                                \
	}

static const struct kin_column time_columns[] = COLUMNS(KIN_CELL_TIME);
static const struct kin_column share_columns[] = COLUMNS(KIN_CELL_SHARE);

const char *const diff_columns[] = { "name", "object", "self", "inclusive", "calls", NULL };

/* ---- what each side says of a function ---- */

struct value {
	bool any;
	double time;    /* of all runs, in units of the dimension */
	double squares; /* sum over runs of the time's square */
	uint64_t calls;
};

struct function {
	strid name, object;
	struct value of[N_SIDES];
};

struct diff {
	const struct diff_side *side[N_SIDES];
	const struct diff_opts *o;
	struct strtab *strings;
	struct map64 index; /* of name and object */
	VEC(struct function) at;
	double rate[N_SIDES], total[N_SIDES]; /* total: of all runs */
	double total_squares[N_SIDES];        /* sum over runs of the total's square */
	size_t degrees;                       /* of freedom, between runs */
	const char *unit;                     /* "seconds"; NULL: not the same on both sides */
	bool counted;                         /* both count calls */
	double ticks;                         /* of the table, per unit */
};

static double property(struct kin_table *t, const char *key)
{
	const struct kin_cell *c = kin_table_property(t, key);
	return c ? c->number : 0;
}

static strid intern(struct diff *d, const struct kin_cell *c)
{
	return c->type == KIN_CELL_TEXT ? strtab_add(d->strings, c->text) : 0;
}

static struct value *value_of(struct diff *d, int side, const struct kin_cell *name,
			      const struct kin_cell *object)
{
	struct function f = { .name = intern(d, name), .object = intern(d, object) };
	uint32_t *slot = map64_at(&d->index, MAP64_PAIR(f.name, f.object));
	if (*slot == NONE) {
		*slot = (uint32_t)d->at.n;
		vec_push(&d->at, f);
	}
	return &d->at.at[*slot].of[side];
}

/* Functions of one name in one object are one here. */
static void read_table(struct diff *d, int side, struct kin_table *t, bool of_run)
{
	size_t name = kin_table_find_column(t, "name"), object = kin_table_find_column(t, "object");
	size_t calls = of_run ? 0 : kin_table_find_column(t, "calls");
	size_t time = kin_table_find_column(t, d->o->inclusive ? "inclusive" : "self");
	struct kin_row row;

	for (kin_table_rewind(t); kin_table_next(t, &row);) {
		const struct kin_cell *c = row.cells;
		struct value *v = value_of(d, side, &c[name], &c[object]);
		double x = c[time].type == KIN_CELL_TIME ? c[time].number / d->rate[side] : 0;
		if (of_run) {
			v->squares += x * x;
			continue;
		}
		v->time += x;
		v->calls += c[calls].type == KIN_CELL_COUNT ? c[calls].count : 0;
		v->any |= x > 0 || v->calls;
	}
}

/* Over the runs: each has its rows together. */
static double squares_of_totals(struct kin_table *by_run, double rate)
{
	size_t run = kin_table_find_column(by_run, "run"),
	       self = kin_table_find_column(by_run, "self");
	double squares = 0, total = 0;
	const char *label = "";
	struct kin_row row;

	for (kin_table_rewind(by_run); kin_table_next(by_run, &row);) {
		if (strcmp(label, row.cells[run].text)) {
			squares += total * total;
			total = 0;
			label = row.cells[run].text;
		}
		total += row.cells[self].number / rate;
	}
	return squares + total * total;
}

static void read_side(struct diff *d, int side)
{
	const struct diff_side *s = d->side[side];
	d->rate[side] = kin_table_rate(s->flat);
	d->total[side] = property(s->flat, "total") / d->rate[side];
	read_table(d, side, s->flat, false);
	if (s->by_run) {
		read_table(d, side, s->by_run, true);
		d->total_squares[side] = squares_of_totals(s->by_run, d->rate[side]);
	}
	d->degrees += s->by_run ? s->n_runs - 1 : 0;
}

/* ---- functions whose object has another name now ---- */

/* What one side alone has, by name; NONE if there are several of that name. */
static void index_by_name(const struct diff *d, int side, struct map64 *ret)
{
	for (uint32_t i = 0; i < d->at.n; i++) {
		const struct function *f = &d->at.at[i];
		if (!f->of[side].any || f->of[!side].any)
			continue;
		size_t before = ret->n;
		uint32_t *slot = map64_at(ret, f->name);
		*slot = ret->n > before ? i : NONE;
	}
}

/* A program that is called otherwise now has the same functions as it had. */
static void match_by_name(struct diff *d)
{
	struct map64 alone[N_SIDES] = { 0 };
	index_by_name(d, BEFORE, &alone[BEFORE]);
	index_by_name(d, AFTER, &alone[AFTER]);
	for (uint32_t i = 0; i < d->at.n; i++) {
		struct function *f = &d->at.at[i];
		if (map64_get(&alone[AFTER], f->name) != i)
			continue;
		uint32_t other = map64_get(&alone[BEFORE], f->name);
		if (other == NONE)
			continue;
		f->of[BEFORE] = d->at.at[other].of[BEFORE];
		d->at.at[other].of[BEFORE].any = false;
	}
	map64_free(&alone[BEFORE]);
	map64_free(&alone[AFTER]);
}

/* ---- differences ---- */

/* Of Student's distribution, what is exceeded, either way, once in twenty times. */
static double deviations(size_t degrees)
{
	static const double t[] = { 1.96, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26 };
	if (!degrees || degrees >= ARRAY_LEN(t))
		return t[0] + (degrees ? 2.4 / (double)degrees : 0);
	return t[degrees];
}

static double runs(const struct diff *d, int side) { return (double)d->side[side]->n_runs; }

/* What times are divided by: a mean over runs, or a share of the total. */
static double scale(const struct diff *d, int side)
{
	if (!d->o->shares)
		return runs(d, side);
	return d->total[side] > 0 ? d->total[side] : 1;
}

/* No time is known to better than a sample in each run: runs begin anywhere between two samples,
 * and those that happen to have equally many need not have taken equally long. */
static double by_phase(const struct diff *d, int side, double time)
{
	double sample = d->side[side]->per_sample / d->rate[side];
	double samples = sample > 0 ? time / sample : 0;
	return sample * sample * (samples < runs(d, side) ? samples : runs(d, side));
}

/* Of a time summed over the runs. */
static double variance(const struct diff *d, int side, double time, double squares)
{
	const struct diff_side *s = d->side[side];
	double n = runs(d, side);
	double others = d->total[side] > time ? 1 - time / d->total[side] : 0;
	double by_samples = time * others * s->per_sample / d->rate[side], by_runs = 0;
	if (s->n_runs > 1 && squares * n > time * time)
		by_runs = (squares * n - time * time) / (n - 1);
	double least = by_phase(d, side, time);
	double more = by_runs > by_samples ? by_runs : by_samples;
	return more > least ? more : least;
}

static double mean(const struct diff *d, int side, const struct function *f)
{
	return f->of[side].time / scale(d, side);
}

static double change_of(const struct diff *d, const struct function *f)
{
	return mean(d, AFTER, f) - mean(d, BEFORE, f);
}

static double chance_of(const struct diff *d, const struct function *f)
{
	double sum = 0;
	for (int i = 0; i < N_SIDES; i++)
		sum += variance(d, i, f->of[i].time, f->of[i].squares) /
		       (scale(d, i) * scale(d, i));
	return deviations(d->degrees) * sqrt(sum);
}

/* ---- the table ---- */

static struct kin_cell cell_of_time(const struct diff *d, double x)
{
	return d->o->shares ? cell_share(x) : cell_time(x * d->ticks);
}

static double total_before(const struct diff *d) { return d->total[BEFORE] / scale(d, BEFORE); }

static void add_row(const struct diff *d, struct kin_table *t, const struct function *f)
{
	struct kin_cell *c = table_add_row(t, (struct kin_row){ .kind = KIN_ROW_PLAIN });
	double change = change_of(d, f), total = total_before(d);
	const struct value *b = &f->of[BEFORE], *a = &f->of[AFTER];

	c[CHANGE] = cell_of_time(d, change);
	c[CHANGE_SHARE] = total > 0 ? cell_share(change / total) : cell_none();
	c[CHANCE] = cell_of_time(d, chance_of(d, f));
	c[TIME_BEFORE] = b->any ? cell_of_time(d, mean(d, BEFORE, f)) : cell_none();
	c[TIME_AFTER] = a->any ? cell_of_time(d, mean(d, AFTER, f)) : cell_none();
	c[CALLS_BEFORE] = b->calls ? cell_count(b->calls) : cell_none();
	c[CALLS_AFTER] = a->calls ? cell_count(a->calls) : cell_none();
	c[OBJECT] = cell_text(table_text(t, strtab_get(d->strings, f->object)));
	c[NAME] = cell_text(table_text(t, strtab_get(d->strings, f->name)));
}

static bool is_there(const struct function *f) { return f->of[BEFORE].any || f->of[AFTER].any; }

/* Counts are exact. */
static bool is_new_or_gone(const struct diff *d, const struct function *f)
{
	return d->counted && !f->of[BEFORE].calls != !f->of[AFTER].calls;
}

struct listed {
	double size;
	const char *name;
	uint32_t index;
};

static int compare(const void *pa, const void *pb)
{
	const struct listed *a = pa, *b = pb;
	if (a->size != b->size)
		return a->size < b->size ? 1 : -1;
	return strcmp(a->name, b->name);
}

static bool has_times(const struct diff *d) { return d->total[BEFORE] > 0 || d->total[AFTER] > 0; }

/* `all`: also what differs by no more than chance; else *left_out is how many do. Returns how many
 * rows there are. */
static size_t add_rows(const struct diff *d, struct kin_table *t, bool all, size_t *left_out)
{
	struct listed *list = xrealloc(NULL, d->at.n + 1, sizeof(*list));
	size_t n = 0;
	bool timed = has_times(d);
	double least = d->o->min_share * total_before(d);

	for (uint32_t i = 0; i < d->at.n; i++) {
		const struct function *f = &d->at.at[i];
		if (!is_there(f))
			continue;
		double size =
			timed ? fabs(change_of(d, f))
			      : fabs((double)f->of[AFTER].calls - (double)f->of[BEFORE].calls);
		bool by_chance = timed ? size <= chance_of(d, f) : size == 0;
		if (by_chance && !is_new_or_gone(d, f) && !all)
			++*left_out;
		else if (!timed || size >= least)
			list[n++] = (struct listed){ size, strtab_get(d->strings, f->name), i };
	}
	qsort(list, n, sizeof(*list), compare);
	for (size_t i = 0; i < n; i++)
		add_row(d, t, &d->at.at[list[i].index]);
	free(list);
	return n;
}

static bool has_objects(const struct diff *d)
{
	const struct function *first = NULL;
	for (size_t i = 0; i < d->at.n; i++) {
		const struct function *f = &d->at.at[i];
		if (!is_there(f))
			continue;
		if (first && f->object != first->object)
			return true;
		first = f;
	}
	return false;
}

/* ---- what is said of the whole ---- */

static bool is_seconds(const char *unit) { return unit && !strcmp(unit, "seconds"); }

static double total_of(const struct diff *d, int side) { return d->total[side] / runs(d, side); }

/* By the runs. */
static double total_chance(const struct diff *d)
{
	double sum = 0;
	for (int i = 0; i < N_SIDES; i++)
		sum += variance(d, i, d->total[i], d->total_squares[i]) / (runs(d, i) * runs(d, i));
	return deviations(d->degrees) * sqrt(sum);
}

/* How much the total varies only repetitions say, and those of both. */
static bool has_interval(const struct diff *d)
{
	return d->side[BEFORE]->n_runs > 1 && d->side[AFTER]->n_runs > 1;
}

static bool is_sampled(const struct diff *d)
{
	return d->side[BEFORE]->sampled && d->side[AFTER]->sampled;
}

/* The least growth of the total that can be told from none: the lower end of its interval. */
static double certain_growth(const struct diff *d)
{
	double growth = total_of(d, AFTER) - total_of(d, BEFORE);
	return has_interval(d) ? growth - total_chance(d) : growth;
}

static bool exceeds_limit(const struct diff *d)
{
	return d->o->limited && certain_growth(d) > d->o->limit * total_of(d, BEFORE);
}

static void note_change(const struct diff *d, struct kin_table *t, double before, double after)
{
	bool seconds = is_seconds(d->unit);
	const char *unit = seconds ? "s" : d->unit;
	int decimals = seconds ? 3 : 0;
	char change[64] = "", interval[64] = "";
	if (before > 0)
		snprintf(change, sizeof(change), ": %+.2f %%", 100 * (after / before - 1));
	if (before > 0 && has_interval(d))
		snprintf(interval, sizeof(interval), " (by these runs %+.2f to %+.2f %%)",
			 100 * ((after - total_chance(d)) / before - 1),
			 100 * ((after + total_chance(d)) / before - 1));
	table_note(t, "total: %.*f %s before, %.*f %s after%s%s", decimals, before, unit, decimals,
		   after, unit, change, interval);
}

/* What the change of the total does not contain. */
static void note_chance(const struct diff *d, struct kin_table *t)
{
	if (has_interval(d))
		table_note(t, "what the machine did otherwise while the one and the other were "
			      "recorded is part of the change, and not of its interval");
	else if (is_sampled(d))
		table_note(t, "what of the total's change is chance only repetitions say: kin "
			      "record -r 10");
}

static void note_totals(const struct diff *d, struct kin_table *t)
{
	double before = total_of(d, BEFORE), after = total_of(d, AFTER);
	table_property(t, "total_before", cell_time(before * d->ticks));
	table_property(t, "total_after", cell_time(after * d->ticks));
	if (has_interval(d))
		table_property(t, "total_chance", cell_time(total_chance(d) * d->ticks));
	if (before > 0)
		table_property(t, "certain_growth", cell_share(certain_growth(d) / before));
	if (exceeds_limit(d))
		table_property(t, "exceeds_limit", cell_count(1));
	if (d->unit)
		note_change(d, t, before, after);
	if (d->degrees)
		table_note(t, "means of %zu run%s before and %zu after", d->side[BEFORE]->n_runs,
			   d->side[BEFORE]->n_runs == 1 ? "" : "s", d->side[AFTER]->n_runs);
	note_chance(d, t);
}

/* Whether the total is another one, whatever its functions say one by one. */
static bool total_differs(const struct diff *d)
{
	double growth = total_of(d, AFTER) - total_of(d, BEFORE);
	return exceeds_limit(d) || (has_interval(d) && fabs(growth) > total_chance(d));
}

/* A change that all functions have a little of is in no row, unless they are all shown. */
static void add_changes(const struct diff *d, struct kin_table *t)
{
	size_t left_out = 0, n = add_rows(d, t, d->o->all, &left_out);
	if (!n && left_out && total_differs(d)) {
		table_note(t, "no function alone differs by more than chance, only their sum does: "
			      "all are shown");
		add_rows(d, t, true, &left_out);
	} else if (left_out) {
		table_note(t,
			   "%zu function%s no more than by chance and %s left out: --all shows all",
			   left_out, left_out == 1 ? " differs" : "s differ",
			   left_out == 1 ? "is" : "are");
	}
}

static const char *unit_of(struct kin_table *t)
{
	const char *dimension = render_text(t, "dimension");
	return dimension ? dimension : "seconds";
}

/* Where neither was sampled there are calls alone. */
static void show_columns(const struct diff *d, struct kin_table *t)
{
	static const char *const of_time[] = { "change", "change_share", "chance", "before",
					       "after" };
	for (size_t i = 0; i < ARRAY_LEN(of_time); i++)
		table_show(t, of_time[i], has_times(d));
	if (d->o->shares)
		table_show(t, "change_share", false);
	table_show(t, "calls_before", d->counted);
	table_show(t, "calls_after", d->counted);
	table_show(t, "object", has_objects(d));
}

static struct kin_table *make_table(struct diff *d)
{
	const char *title = d->o->inclusive ? "Difference, with callees" : "Difference";
	struct kin_table *t =
		table_new("diff", title, d->o->shares ? share_columns : time_columns, N_COLUMNS);
	d->ticks = is_seconds(d->unit) ? MILLISECONDS : 1;
	table_set_rate(t, d->ticks);
	if (d->unit)
		table_property(t, "dimension", cell_text(d->unit));
	note_totals(d, t);
	add_changes(d, t);
	show_columns(d, t);
	return t;
}

static struct kin_error *check(const struct diff *d)
{
	const char *a = unit_of(d->side[BEFORE]->flat), *b = unit_of(d->side[AFTER]->flat);
	if (strcmp(a, b) && !d->o->shares)
		return err_new(KIN_ERROR_MISMATCH,
			       "one profile is of %s, the other of %s: --shares compares them, or "
			       "--event chooses",
			       a, b);
	for (int i = 0; i < N_SIDES && d->o->inclusive; i++)
		if (!kin_table_property(d->side[i]->flat, "measured"))
			return err_new(KIN_ERROR_UNSUPPORTED,
				       "the profile %s has no stacks, and so no times with "
				       "callees: leave out --inclusive",
				       i == BEFORE ? "before" : "after");
	return NULL;
}

struct kin_error *diff_report(const struct diff_side *before, const struct diff_side *after,
			      const struct diff_opts *o, struct kin_table **ret)
{
	struct diff d = { .side = { before, after }, .o = o };
	struct kin_error *err = check(&d);
	if (err)
		return err;
	d.unit = unit_of(before->flat);
	if (strcmp(d.unit, unit_of(after->flat)))
		d.unit = NULL;
	d.counted = render_count(before->flat, "has_arcs") && render_count(after->flat, "has_arcs");
	d.strings = strtab_new();
	for (int i = 0; i < N_SIDES; i++)
		read_side(&d, i);
	match_by_name(&d);
	*ret = make_table(&d);
	strtab_free(d.strings);
	map64_free(&d.index);
	vec_free(&d.at);
	return NULL;
}
