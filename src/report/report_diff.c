/* report_diff.c - a table of functions that became slower or faster: rows for changes beyond
 * chance, and notes on the total. */
#include "report/report_diff.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/table_build.h"

enum { MILLISECONDS = 1000 };
enum { BEFORE = REPEATS_BEFORE, AFTER = REPEATS_AFTER };

static const double level = 0.05, confidence = 0.95;

enum {
	CHANGE,
	CHANGE_SHARE,
	CHANCE,
	TIME_BEFORE,
	TIME_AFTER,
	RELATIVE,
	LOW,
	HIGH,
	RUNS,
	P,
	P_LIMIT,
	CALLS_BEFORE,
	CALLS_AFTER,
	CALLS_GROWTH,
	BY_CALLS,
	BY_CALLERS,
	BY_COST,
	CALLER,
	FATE,
	OBJECT,
	NAME,
	N_COLUMNS
};

/* The columns for times, and those for shares. */
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
		[RELATIVE] = { .key = "relative",                                                  \
			       .title = "by itself",                                               \
			       .help = "the change as a share of what the function took before",   \
			       .type = KIN_CELL_SHARE,                                             \
			       .hidden = true,                                                     \
			       .change = true },                                                   \
		[LOW] = { .key = "low",                                                            \
			  .title = "from",                                                         \
			  .help = "the lower end of the interval that has that share's true "      \
				  "value "                                                         \
				  "in it 95 times in 100",                                         \
			  .type = KIN_CELL_SHARE,                                                  \
			  .hidden = true,                                                          \
			  .change = true },                                                        \
		[HIGH] = { .key = "high",                                                          \
			   .title = "to",                                                          \
			   .help = "the upper end of it; empty if there may have been nothing "    \
				   "before",                                                       \
			   .type = KIN_CELL_SHARE,                                                 \
			   .hidden = true,                                                         \
			   .change = true },                                                       \
		[RUNS] = { .key = "runs",                                                          \
			   .title = "runs needed",                                                 \
			   .help = "how many runs of each it would take to find a change of the "  \
				   "function by the percentage of --detect, four times in five; "  \
				   "empty if more than 100,000",                                   \
			   .type = KIN_CELL_COUNT,                                                 \
			   .hidden = true },                                                       \
		[P] = { .key = "p",                                                                \
			.title = "p",                                                              \
			.help = "how often chance makes as much of any of the functions that "     \
				"there are: corrected for their number, by Holm's method",         \
			.type = KIN_CELL_NUMBER,                                                   \
			.hidden = true },                                                          \
		[P_LIMIT] = { .key = "p_limit",                                                    \
			      .title = "p of limit",                                               \
			      .help = "the same of a growth by more than what the total may grow", \
			      .type = KIN_CELL_NUMBER,                                             \
			      .hidden = true },                                                    \
		[CALLS_BEFORE] = { .key = "calls_before",                                          \
				   .title = "calls before",                                        \
				   .help = "how often it was called, by itself, too; shown where " \
					   "both count",                                           \
				   .type = KIN_CELL_COUNT,                                         \
				   .hidden = true },                                               \
		[CALLS_AFTER] = { .key = "calls_after",                                            \
				  .title = "calls after",                                          \
				  .help = "how often it was called, by itself, too; shown where "  \
					  "both count",                                            \
				  .type = KIN_CELL_COUNT,                                          \
				  .hidden = true },                                                \
		[CALLS_GROWTH] = { .key = "calls_growth",                                          \
				   .title = "more calls",                                          \
				   .help = "by what share of the most calls in a recording "       \
					   "before "                                               \
					   "the fewest after are more",                            \
				   .type = KIN_CELL_SHARE,                                         \
				   .hidden = true,                                                 \
				   .change = true },                                               \
		[BY_CALLS] = { .key = "by_calls",                                                  \
			       .title = "by calls",                                                \
			       .help = "the part of the change that is due to more or fewer "      \
				       "calls, at what one cost before",                           \
			       .type = kind,                                                       \
			       .hidden = true,                                                     \
			       .change = true },                                                   \
		[BY_CALLERS] = { .key = "by_callers",                                              \
				 .title = "by callers",                                            \
				 .help = "the part that is due to who calls: more or less of the " \
					 "calls from where one cost more than others before; "     \
					 "shown where both sides have stacks and counts",          \
				 .type = kind,                                                     \
				 .hidden = true,                                                   \
				 .change = true },                                                 \
		[BY_COST] = { .key = "by_cost",                                                    \
			      .title = "by cost",                                                  \
			      .help = "the rest: due to what a call costs now",                    \
			      .type = kind,                                                        \
			      .hidden = true,                                                      \
			      .change = true },                                                    \
		[CALLER] = { .key = "caller",                                                      \
			     .title = "which caller",                                              \
			     .help = "the caller that most of that part is due to, and by what "   \
				     "percentage of all calls there are more from it, or fewer",   \
			     .type = KIN_CELL_TEXT,                                                \
			     .hidden = true },                                                     \
		[FATE] = { .key = "what",                                                          \
			   .title = "what",                                                        \
			   .help = "what became of the function itself: new, gone, renamed, "      \
				   "split, inlined; shown where there is such",                    \
			   .type = KIN_CELL_TEXT,                                                  \
			   .hidden = true },                                                       \
		[OBJECT] = { .key = "object",                                                      \
			     .title = "object",                                                    \
			     .help = "the object file it is in; shown where there are several",    \
			     .type = KIN_CELL_TEXT,                                                \
			     .hidden = true },                                                     \
		[NAME] = { .key = "name",                                                          \
			   .title = "name",                                                        \
			   .help = "the function",                                                 \
			   .type = KIN_CELL_TEXT,                                                  \
			   .function = true },                                                     \
	}

static const struct kin_column time_columns[] = COLUMNS(KIN_CELL_TIME);
static const struct kin_column share_columns[] = COLUMNS(KIN_CELL_SHARE);

struct diff {
	struct comparison *c;
	const struct diff_opts *o;
	double ticks; /* ticks of the table per unit */
	struct effect total;
	struct growth_interval growth; /* of the total */
	size_t n_alone;                /* rows of functions that are new or gone */
	bool fates;                    /* some row has a fate */
	bool callers;                  /* some row has other callers than before, beyond chance */
};

/* ---- rows ---- */

struct listed {
	const struct compared_function *f;
	struct effect effect;
	double p, size;
	double p_limit; /* p-value of having grown by more than the limit */
	const char *name, *object;
};

static bool has_times(const struct diff *d) { return d->total.before > 0 || d->total.after > 0; }

static struct kin_cell cell_of_time(const struct diff *d, double x)
{
	return d->c->o.shares ? cell_share(x) : cell_time(x * d->ticks);
}

/* What shares of changes are relative to. */
static double whole_before(const struct diff *d) { return d->c->o.shares ? 1 : d->total.before; }

/* The fate in words; NULL: unchanged. Counts are exact. Without counts, a function that only one
 * side has may have run on the other side without being hit by a sample. */
static char *fate_in_words(const struct diff *d, const struct compared_function *f)
{
	const char *other = strtab_get(d->c->strings, f->other);
	bool counted = comparison_is_counted(d->c);
	switch (f->fate) {
	case FATE_SAME:
		return NULL;
	case FATE_NEW:
		return xprintf("%s", counted ? "new" : "only after");
	case FATE_GONE:
		return xprintf("%s", counted ? "gone" : "only before");
	case FATE_RENAMED:
		return xprintf("was %s", other);
	case FATE_SAME_CODE:
		return xprintf("was %s (same code)", other);
	case FATE_SPLIT:
		return xprintf("split from %s", other);
	case FATE_JOINED:
		return xprintf("part of %s now", other);
	case FATE_INLINED:
		return xprintf("inlined now");
	case FATE_OUTLINED:
		return xprintf("no longer inlined");
	}
	return NULL;
}

static struct kin_cell cell_of_end(double growth)
{
	return isfinite(growth) ? cell_share(growth) : cell_none();
}

static void set_interval(const struct diff *d, struct kin_cell *c, const struct listed *l)
{
	const struct effect *e = &l->effect;
	if (isnan(e->growth))
		return;
	c[RELATIVE] = cell_share(e->growth);
	if (!(e->after > 0))
		return;
	struct growth_interval x = comparison_growth(d->c, l->f, confidence);
	c[LOW] = cell_share(x.low);
	c[HIGH] = cell_of_end(x.high);
	double runs = d->o->detect > 0 ? repeats_needed(&d->c->repeats, e->single, d->o->detect)
				       : INFINITY;
	c[RUNS] = runs <= 100000 ? cell_count((uint64_t)runs) : cell_none();
}

/* "parse +20 %" */
static struct kin_cell cell_of_caller(const struct diff *d, struct kin_table *t,
				      const struct causes *causes)
{
	if (!causes->caller)
		return cell_none();
	char *text = xprintf("%s %+.0f %%", strtab_get(d->c->strings, causes->caller),
			     100 * causes->more);
	struct kin_cell cell = cell_text(table_text(t, text));
	free(text);
	return cell;
}

static void set_causes(struct diff *d, struct kin_table *t, struct kin_cell *c,
		       const struct listed *l)
{
	struct causes causes;
	if (!comparison_causes(d->c, l->f, &l->effect, &causes))
		return;
	c[BY_CALLS] = cell_of_time(d, causes.by_calls);
	c[BY_COST] = cell_of_time(d, causes.by_cost);
	if (!causes.traced)
		return;
	c[BY_CALLERS] = cell_of_time(d, causes.by_callers);
	c[CALLER] = cell_of_caller(d, t, &causes);
	d->callers |= fabs(causes.by_callers) > contrast_margin(&l->effect.change, confidence);
}

static void add_row(struct diff *d, struct kin_table *t, const struct listed *l)
{
	struct kin_cell *c = table_add_row(t, (struct kin_row){ .kind = KIN_ROW_PLAIN });
	const struct compared_side *b = &l->f->of[BEFORE], *a = &l->f->of[AFTER];
	const struct effect *e = &l->effect;
	double total = whole_before(d);

	c[CHANGE] = cell_of_time(d, e->change.value);
	c[CHANGE_SHARE] = total > 0 ? cell_share(e->change.value / total) : cell_none();
	c[CHANCE] = cell_of_time(d, contrast_margin(&e->change, confidence));
	c[TIME_BEFORE] = b->slot != NONE ? cell_of_time(d, e->before) : cell_none();
	c[TIME_AFTER] = a->slot != NONE ? cell_of_time(d, e->after) : cell_none();
	set_interval(d, c, l);
	c[P] = cell_number(l->p);
	c[P_LIMIT] = d->o->limited ? cell_number(l->p_limit) : cell_none();
	c[CALLS_BEFORE] =
		b->calls.mean > 0 ? cell_count((uint64_t)(b->calls.mean + 0.5)) : cell_none();
	c[CALLS_AFTER] =
		a->calls.mean > 0 ? cell_count((uint64_t)(a->calls.mean + 0.5)) : cell_none();
	if (b->calls.most && a->calls.most)
		c[CALLS_GROWTH] = cell_share((double)a->calls.least / (double)b->calls.most - 1);
	else if (a->calls.most && !a->calls.least)
		c[CALLS_GROWTH] = cell_share(0); /* some recordings have none */
	set_causes(d, t, c, l);
	char *fate = fate_in_words(d, l->f);
	c[FATE] = fate ? cell_text(table_text(t, fate)) : cell_none();
	d->n_alone += l->f->fate == FATE_NEW || l->f->fate == FATE_GONE;
	d->fates |= fate && l->f->fate != FATE_NEW && l->f->fate != FATE_GONE;
	free(fate);
	c[OBJECT] = cell_text(table_text(t, strtab_get(d->c->strings, l->f->object)));
	c[NAME] = cell_text(table_text(t, l->name));
}

/* Whether calls became or ceased to be 0; counts are exact. */
static bool is_new_or_gone(const struct diff *d, const struct compared_function *f)
{
	return comparison_is_counted(d->c) &&
	       !(f->of[BEFORE].calls.mean > 0) != !(f->of[AFTER].calls.mean > 0);
}

static int compare(const void *pa, const void *pb)
{
	const struct listed *a = pa, *b = pb;
	if (a->size != b->size)
		return a->size < b->size ? 1 : -1;
	int names = strcmp(a->name, b->name);
	return names ? names : strcmp(a->object, b->object);
}

/* The p-value of both tails, so that it agrees with the lower end of the interval. */
static double p_beyond(const struct diff *d, const struct listed *l)
{
	if (isnan(l->effect.growth) || !d->o->limited)
		return 1;
	struct contrast c = comparison_beyond(d->c, l->f, d->o->limit);
	double p = 2 * contrast_p_above(&c);
	return p < 1 ? p : 1;
}

/* All functions that exist on some side, with their effects; *n of them. To be freed. */
static struct listed *list_functions(const struct diff *d, size_t *n)
{
	struct listed *list = xrealloc(NULL, d->c->at.n + 1, sizeof(*list));
	double *p = xrealloc(NULL, d->c->at.n + 1, sizeof(*p));
	double *p_limit = xrealloc(NULL, d->c->at.n + 1, sizeof(*p_limit));
	double *samples = xrealloc(NULL, d->c->at.n + 1, sizeof(*samples));
	bool timed = has_times(d);
	*n = 0;
	for (size_t i = 0; i < d->c->at.n; i++) {
		const struct compared_function *f = &d->c->at.at[i];
		if (!compared_is_there(f))
			continue;
		struct listed l = { .f = f, .effect = comparison_effect(d->c, f) };
		l.size = timed ? fabs(l.effect.change.value)
			       : fabs(f->of[AFTER].calls.mean - f->of[BEFORE].calls.mean);
		l.name = strtab_get(d->c->strings, f->name);
		l.object = strtab_get(d->c->strings, f->object);
		p[*n] = timed ? contrast_p(&l.effect.change) : 1;
		p_limit[*n] = timed ? p_beyond(d, &l) : 1;
		samples[*n] = comparison_samples(d->c, f);
		list[(*n)++] = l;
	}
	comparison_correct(p, samples, *n);
	comparison_correct(p_limit, samples, *n);
	for (size_t i = 0; i < *n; i++) {
		list[i].p = p[i];
		list[i].p_limit = p_limit[i];
	}
	free(samples);
	free(p_limit);
	free(p);
	qsort(list, *n, sizeof(*list), compare);
	return list;
}

struct left_out {                   /* functions whose time differs by no more than chance */
	size_t n, called_otherwise; /* called_otherwise: called more or less often, which is no
				       chance */
};

/* Adds rows. `all`: also for changes within chance; otherwise *left_out counts these. Returns the
 * number of rows. */
static size_t add_rows(struct diff *d, struct kin_table *t, const struct listed *list, size_t n,
		       bool all, struct left_out *left_out)
{
	bool timed = has_times(d), counted = comparison_is_counted(d->c);
	double least = d->o->min_share * whole_before(d);
	size_t rows = 0;
	for (size_t i = 0; i < n; i++) {
		const struct listed *l = &list[i];
		bool by_chance = timed ? l->p > level : l->size == 0;
		if (by_chance && !is_new_or_gone(d, l->f) && !all) {
			left_out->n++;
			left_out->called_otherwise += counted && l->f->of[BEFORE].calls.mean !=
									 l->f->of[AFTER].calls.mean;
		} else if (!timed || l->size >= least) {
			add_row(d, t, l);
			rows++;
		}
	}
	return rows;
}

static bool has_objects(const struct diff *d)
{
	const struct compared_function *first = NULL;
	for (size_t i = 0; i < d->c->at.n; i++) {
		const struct compared_function *f = &d->c->at.at[i];
		if (!compared_is_there(f))
			continue;
		if (first && f->object != first->object)
			return true;
		first = f;
	}
	return false;
}

/* ---- notes on the total ---- */

static bool is_seconds(const char *unit) { return unit && !strcmp(unit, "seconds"); }

/* The interval of the total's growth, if there was any time before. Without repetitions both ends
 * are the measured growth. */
static struct growth_interval growth_of_total(const struct diff *d)
{
	if (comparison_is_repeated(d->c) && d->total.before > 0)
		return comparison_growth(d->c, NULL, confidence);
	return (struct growth_interval){ d->total.growth, d->total.growth };
}

/* Whether the total has certainly grown by more than the limit. 1029 after 1000 is a growth of
 * 2.9 %, which no double represents exactly: hence the tolerance. */
static bool exceeds_limit(const struct diff *d)
{
	double limit = d->o->limit;
	return d->o->limited && d->growth.low - limit > 4 * DBL_EPSILON * (1 + limit);
}

static bool is_compared(const struct diff *d) { return d->total.before > 0 && d->total.after > 0; }

/* Whether the change of the total is known. A side without samples tells nothing about it, not even
 * how many of its runs had none. */
static bool is_known(const struct diff *d) { return comparison_is_counted(d->c) || is_compared(d); }

static void note_change(const struct diff *d, struct kin_table *t)
{
	bool seconds = is_seconds(d->c->unit);
	const char *unit = seconds ? "s" : d->c->unit;
	int decimals = seconds ? 3 : 0;
	char change[64] = "", interval[64] = "", high[32] = "% or more";
	if (d->total.before > 0 && is_known(d))
		snprintf(change, sizeof(change), ": %+.2f %%", 100 * d->total.growth);
	if (isfinite(d->growth.high))
		snprintf(high, sizeof(high), "to %+.2f %%", 100 * d->growth.high);
	if (*change && comparison_is_repeated(d->c))
		snprintf(interval, sizeof(interval), " (%+.2f %s)", 100 * d->growth.low, high);
	table_note(t, "total: %.*f %s before, %.*f %s after%s%s", decimals, d->total.before, unit,
		   decimals, d->total.after, unit, change, interval);
}

/* What the times of a side are: "a sum of recordings"; to be freed. */
static char *made_of(const struct diff *d, int side)
{
	size_t runs = comparison_runs(d->c, side);
	if (runs > 1)
		return xprintf("the mean of %zu runs", runs);
	return xprintf("%s", d->c->side[side].is_sum ? "a sum of recordings" : "one run");
}

static void note_sum(const struct diff *d, struct kin_table *t)
{
	char *before = made_of(d, BEFORE), *after = made_of(d, AFTER);
	if (!strcmp(before, after))
		table_note(t, "each side is a sum of recordings");
	else
		table_note(t, "before is %s, after %s", before, after);
	if (!d->c->o.shares)
		table_note(t, "a sum grows with the number and length of its recordings, and does "
			      "not say how many they were: --shares compares shares of the totals");
	free(before);
	free(after);
}

static void note_means(const struct diff *d, struct kin_table *t)
{
	size_t before = comparison_runs(d->c, BEFORE), after = comparison_runs(d->c, AFTER);
	if (d->c->repeats.paired)
		table_note(t, "means of %zu pairs of recordings made one after the other",
			   d->c->repeats.n[BEFORE]);
	else if ((d->c->side[BEFORE].is_sum || d->c->side[AFTER].is_sum) && is_known(d))
		note_sum(d, t);
	else if ((before > 1 || after > 1) && is_known(d))
		table_note(t, "means of %zu run%s before and %zu after", before,
			   before == 1 ? "" : "s", after);
}

/* Notes what the interval of the total includes, or why there is none. */
static void note_chance(const struct diff *d, struct kin_table *t)
{
	const struct comparison *c = d->c;
	bool together = c->repeats.together[BEFORE] || c->repeats.together[AFTER];
	bool sampled = c->side[BEFORE].sampled && c->side[AFTER].sampled && is_compared(d);
	if (comparison_is_repeated(c) && !c->repeats.paired && together)
		table_note(t,
			   "the sides were not recorded in turns: intervals allow for as much "
			   "difference between the two times as between single runs. kin compare "
			   "takes turns, and its intervals are narrower");
	else if (!comparison_is_repeated(c) && sampled)
		table_note(t, "the total has no interval: how much of its change is chance only "
			      "shows in repetitions, by kin compare or kin record -r 10");
}

/* Notes the weight of a sample on both sides if they differ much. Each thread lacks its time after
 * its last sample, which repetitions do not reveal. */
static void note_rates(const struct diff *d, struct kin_table *t)
{
	const struct comparison_side *b = &d->c->side[BEFORE], *a = &d->c->side[AFTER];
	bool alike = b->weight < 2 * a->weight && a->weight < 2 * b->weight;
	bool gmon = b->inner_only || a->inner_only; /* nothing is lacking there at the end */
	if (!b->sampled || !a->sampled || alike || gmon || !is_seconds(d->c->unit))
		return;
	char *text = xprintf("a sample stands for %.3g ms before and for %.3g after: each thread "
			     "lacks up to that much at its end, so short runs differ by it alone. "
			     "Record both with the same -F",
			     b->weight * MILLISECONDS, a->weight * MILLISECONDS);
	table_property(t, "rates", cell_text(table_text(t, text)));
	table_note(t, "%s", text);
	free(text);
}

static void note_needed(const struct diff *d, struct kin_table *t)
{
	if (!(d->o->detect > 0) || isnan(d->total.growth) || !comparison_is_repeated(d->c))
		return;
	double runs = repeats_needed(&d->c->repeats, d->total.single, d->o->detect);
	const struct repeats *r = &d->c->repeats;
	bool together = !r->paired && (r->together[BEFORE] || r->together[AFTER]);
	if (runs <= 1e6)
		table_note(t,
			   "to find a change of %g %% of the total four times in five takes about "
			   "%.0f runs of each%s",
			   100 * d->o->detect, runs,
			   together ? ", in turns, by kin compare: sides that were not recorded in "
				      "turns may differ by more, however many runs they have"
				    : "");
	else
		table_note(t, "no number of runs finds a change of %g %% of the total",
			   100 * d->o->detect);
}

static void note_totals(const struct diff *d, struct kin_table *t)
{
	double before = d->total.before, after = d->total.after;
	table_property(t, "total_before", cell_time(before * d->ticks));
	table_property(t, "total_after", cell_time(after * d->ticks));
	if (comparison_is_repeated(d->c))
		table_property(t, "total_chance",
			       cell_time(contrast_margin(&d->total.change, confidence) * d->ticks));
	table_property(t, "repeated", cell_count(comparison_is_repeated(d->c)));
	table_property(t, "runs_before", cell_count(comparison_runs(d->c, BEFORE)));
	table_property(t, "runs_after", cell_count(comparison_runs(d->c, AFTER)));
	table_property(t, "counted", cell_count(comparison_is_counted(d->c)));
	if (before > 0) {
		table_property(t, "certain_growth", cell_share(d->growth.low));
		table_property(t, "possible_growth", cell_of_end(d->growth.high));
		/* Growth by this above a limit exceeds it with certainty four times in five. */
		double power = contrast_margin(&d->total.change, 2 * 0.8 - 1);
		double margin = contrast_margin(&d->total.change, confidence);
		table_property(t, "resolution", cell_share((margin + power) / before));
	}
	if (exceeds_limit(d))
		table_property(t, "exceeds_limit", cell_count(1));
	if (d->c->unit)
		note_change(d, t);
	note_means(d, t);
	if (d->c->inner_only) {
		table_property(t, "inner_only", cell_count(1));
		table_note(t, "calls from outside the program are left out: gmon.out has none");
	}
	note_chance(d, t);
	note_rates(d, t);
	note_needed(d, t);
}

/* Whether the total differs, whatever its single functions do. */
static bool total_differs(const struct diff *d)
{
	return exceeds_limit(d) ||
	       (comparison_is_repeated(d->c) && contrast_p(&d->total.change) <= level);
}

/* Notes functions of equal name whose calls are summed: one may be called more often, the other
 * less. */
static void note_added_up(const struct diff *d, struct kin_table *t)
{
	const struct compared_function *last = NULL;
	size_t n = 0;
	for (size_t i = 0; i < d->c->at.n; i++) {
		const struct compared_function *f = &d->c->at.at[i];
		if (!f->added_up || !compared_is_there(f))
			continue;
		last = f;
		n++;
	}
	if (!n || !comparison_is_counted(d->c) || d->c->o.by_line)
		return;
	const char *name = strtab_get(d->c->strings, last->name);
	char *text =
		n == 1 ? xprintf("several functions of one object are called %s: their calls "
				 "are added up",
				 name)
		       : xprintf("%zu names, such as %s, each belong to several functions of one "
				 "object: their calls are added up",
				 n, name);
	table_property(t, "added_up", cell_text(table_text(t, text)));
	table_note(t, "%s", text);
	free(text);
}

/* Notes that functions shown as new and gone may be the same function under another name. */
static void note_unread(const struct diff *d, struct kin_table *t)
{
	size_t n = d->c->side[BEFORE].unread + d->c->side[AFTER].unread;
	if (n && d->n_alone)
		table_note(
			t,
			"renamed functions are not recognised by their code: of %zu functions on "
			"one side the code is not here (the program is gone, was replaced, or has "
			"no build id). kin pack keeps it in the recording",
			n);
}

static void note_left_out(const struct left_out *x, const char *what, struct kin_table *t)
{
	char *calls = x->called_otherwise ? xprintf(", %zu of them called more or less often",
						    x->called_otherwise)
					  : xprintf("%s", "");
	table_property(t, "nothing", cell_text("No difference beyond chance."));
	table_note(t, "%zu %s%s no more than by chance and %s left out%s: --all shows all", x->n,
		   what, x->n == 1 ? " differs" : "s differ", x->n == 1 ? "is" : "are", calls);
	free(calls);
}

/* Adds the rows. A change that is spread over all functions is in no single row, so all functions
 * are then shown. */
static void add_changes(struct diff *d, struct kin_table *t)
{
	const char *what = d->c->o.by_line ? "line" : "function";
	struct left_out left_out = { 0 };
	size_t n = 0;
	struct listed *list = list_functions(d, &n);
	size_t rows = add_rows(d, t, list, n, d->o->all, &left_out);
	if (!rows && left_out.n && total_differs(d)) {
		table_note(t,
			   "no %s alone differs by more than chance, only their sum does: all are "
			   "shown",
			   what);
		add_rows(d, t, list, n, true, &left_out);
	} else if (left_out.n) {
		note_left_out(&left_out, what, t);
	}
	note_added_up(d, t);
	note_unread(d, t);
	free(list);
}

/* Hides the columns of times if neither side was sampled: there are only calls. */
static void show_columns(const struct diff *d, struct kin_table *t)
{
	static const char *const of_time[] = { "change", "change_share", "chance", "before",
					       "after" };
	static const char *const of_percent[] = { "relative", "low", "high" };
	bool counted = comparison_is_counted(d->c), percent = d->o->by_percent && has_times(d);
	for (size_t i = 0; i < ARRAY_LEN(of_time); i++)
		table_show(t, of_time[i], has_times(d));
	for (size_t i = 0; i < ARRAY_LEN(of_percent); i++)
		table_show(t, of_percent[i], percent);
	if (percent)
		table_show(t, "chance", false);
	if (d->c->o.shares)
		table_show(t, "change_share", false);
	table_show(t, "runs", d->o->detect > 0 && has_times(d));
	table_show(t, "calls_before", counted);
	table_show(t, "calls_after", counted);
	bool traced = d->c->side[BEFORE].traced && d->c->side[AFTER].traced;
	bool causes = counted && has_times(d) && (percent || traced) && !d->c->o.shares;
	table_show(t, "by_calls", causes);
	table_show(t, "by_callers", causes && traced);
	table_show(t, "by_cost", causes);
	table_show(t, "caller", causes && d->callers);
	table_show(t, "what", d->fates);
	table_show(t, "object", has_objects(d));
}

struct kin_table *diff_table(const struct comparison *c)
{
	const char *title = c->o.inclusive ? "Difference, with callees" : "Difference";
	return table_new("diff", title, c->o.shares ? share_columns : time_columns, N_COLUMNS);
}

struct kin_table *diff_report(struct comparison *c, const struct diff_opts *o)
{
	struct diff d = { .c = c, .o = o, .total = comparison_effect(c, NULL) };
	struct kin_table *t = diff_table(c);
	d.growth = growth_of_total(&d);
	d.ticks = is_seconds(c->unit) ? MILLISECONDS : 1;
	table_set_rate(t, d.ticks);
	if (c->unit)
		table_property(t, "dimension", cell_text(c->unit));
	note_totals(&d, t);
	add_changes(&d, t);
	show_columns(&d, t);
	return t;
}
