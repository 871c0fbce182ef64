/* comparison.c - reads the times of functions of two sides, run by run, matches the functions, and
 * tests differences against chance.
 *
 * A side with several recordings varies as these do. A side with one recording varies as its runs
 * do, and additionally as one stretch of time may differ from another. Samples come at a steady
 * rate, so their number is not left to chance. The number that hits a function is: it has a
 * binomial distribution. */
#include "report/comparison.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"
#include "base/err.h"
#include "base/function_name.h"
#include "base/search.h"
#include "names/kept.h"
#include "report/reports.h"
#include "table/render.h"
#include "table/table_build.h"

enum { BEFORE = REPEATS_BEFORE, AFTER = REPEATS_AFTER };

static const double level = 0.05;

const char *const comparison_columns[] = { "name",      "object", "file", "self",
					   "inclusive", "calls",  NULL };
const char *const comparison_line_columns[] = { "name",  "object", "self", "inclusive",
						"calls", "file",   "line", NULL };

struct comparison *comparison_new(const struct comparison_opts *o)
{
	struct comparison *c = xalloc(sizeof(*c));
	c->o = *o;
	c->strings = strtab_new();
	return c;
}

void comparison_free(struct comparison *c)
{
	if (!c)
		return;
	for (int i = 0; i < REPEATS_SIDES; i++) {
		struct comparison_side *s = &c->side[i];
		for (size_t k = 0; k < s->recordings.n; k++)
			free(s->recordings.at[k].started);
		vec_free(&s->times);
		vec_free(&s->totals);
		vec_free(&s->calls);
		vec_free(&s->recordings);
		vec_free(&s->code);
		kept_free(s->kept);
		free(c->scratch[i]);
	}
	strtab_free(c->strings);
	map64_free(&c->index);
	vec_free(&c->at);
	free(c->unit);
	free(c->event);
	free(c->first);
	free(c);
}

/* ---- reading ---- */

static double property(struct kin_table *t, const char *key)
{
	const struct kin_cell *c = kin_table_property(t, key);
	return c ? c->number : 0;
}

static strid intern(struct comparison *c, const struct kin_cell *x)
{
	return x->type == KIN_CELL_TEXT ? strtab_add(c->strings, x->text) : 0;
}

/* "f (file.c:12)" */
static strid intern_line(struct comparison *c, const struct kin_cell *name,
			 const struct kin_cell *file, const struct kin_cell *line)
{
	if (file->type != KIN_CELL_TEXT || line->type != KIN_CELL_COUNT)
		return intern(c, name);
	char *text = xprintf("%s (%s:%llu)", name->type == KIN_CELL_TEXT ? name->text : "?",
			     file->text, (unsigned long long)line->count);
	strid id = strtab_add(c->strings, text);
	free(text);
	return id;
}

struct row_columns {
	size_t name, object, time, calls, file, line, run;
};

static struct row_columns find_columns(const struct comparison *c, struct kin_table *t)
{
	return (struct row_columns){
		.name = kin_table_find_column(t, "name"),
		.object = kin_table_find_column(t, "object"),
		.time = kin_table_find_column(t, c->o.inclusive ? "inclusive" : "self"),
		.calls = kin_table_find_column(t, "calls"),
		.file = kin_table_find_column(t, "file"),
		.line = kin_table_find_column(t, "line"),
		.run = kin_table_find_column(t, "run"),
	};
}

static uint32_t slot_of_function(struct comparison *c, const struct row_columns *k,
				 const struct kin_cell *cells)
{
	const struct kin_cell *file = &cells[k->file];
	const char *of = !c->o.by_line && file->type == KIN_CELL_TEXT ? file->text : NULL;
	return comparison_slot(c, intern(c, &cells[k->name]), intern(c, &cells[k->object]), of);
}

static uint32_t slot_of(struct comparison *c, const struct row_columns *k,
			const struct kin_cell *cells)
{
	if (!c->o.by_line)
		return slot_of_function(c, k, cells);
	strid name = intern_line(c, &cells[k->name], &cells[k->file], &cells[k->line]);
	return comparison_slot(c, name, intern(c, &cells[k->object]), NULL);
}

/* "run 3" -> 2 */
static size_t run_of(const struct kin_cell *cell, size_t n_runs)
{
	unsigned n = 0;
	bool is_run = cell->type == KIN_CELL_TEXT && sscanf(cell->text, "run %u", &n) == 1;
	return is_run && n >= 1 && n <= n_runs ? n - 1 : 0;
}

/* Adds the calls of a whole recording, which may be 0. Only the sum over its runs is known. If it
 * cannot be divided evenly, some runs had fewer calls than others. */
static void end_counts(struct call_counts *x, bool first, size_t n_runs)
{
	uint64_t fewest = x->now / n_runs, rest = x->now % n_runs, most = fewest + !!rest;
	x->mean += (double)x->now / (double)n_runs; /* summed over recordings, for now */
	x->least = first || fewest < x->least ? fewest : x->least;
	x->most = most > x->most ? most : x->most;
	x->now = 0;
}

/* The number in a cell of calls. Calls of a function by itself are the second number of a pair. */
static uint64_t calls_in(const struct kin_cell *c)
{
	return c->type == KIN_CELL_COUNT  ? c->count
	       : c->type == KIN_CELL_PLUS ? c->pair.a + c->pair.b
					  : 0;
}

/* Reads times and calls. Functions with the same name in the same object are one here. */
static void read_sums(struct comparison *c, int side, const struct comparison_recording *r)
{
	struct comparison_side *s = &c->side[side];
	struct row_columns k = find_columns(c, r->flat);
	size_t n_known;
	struct calls_by_kind *known = comparison_kinds_of_calls(c, r, &n_known), none = { 0 };
	struct kin_row row;
	for (kin_table_rewind(r->flat); table_next(r->flat, &row);) {
		const struct kin_cell *cells = row.cells;
		uint32_t slot = slot_of(c, &k, cells), of = slot_of_function(c, &k, cells);
		struct compared_side *f = &c->at.at[slot].of[side];
		double x = cells[k.time].type == KIN_CELL_TIME ? cells[k.time].number / s->rate : 0;
		struct calls_by_kind *kinds = of < n_known ? &known[of] : &none;
		uint64_t calls = calls_in(&cells[k.calls]) + (c->o.by_line ? 0 : kinds->own);
		kinds->own = 0; /* counted with the first row of that name */
		if (!(x > 0) && !calls)
			continue;
		f->slot = slot;
		f->time += x;
		c->at.at[slot].added_up |= calls && f->calls.now;
		uint64_t not_inner = kinds->outer < calls ? kinds->outer : calls;
		kinds->outer -= not_inner;
		f->calls.now += calls;
		f->inner_calls.now += calls - not_inner;
	}
	for (size_t i = 0; i < c->at.n; i++) {
		struct compared_side *f = &c->at.at[i].of[side];
		end_counts(&f->calls, !s->recordings.n, r->n_runs);
		end_counts(&f->inner_calls, !s->recordings.n, r->n_runs);
	}
	free(known);
}

static void read_times(struct comparison *c, int side, struct kin_table *t, size_t n_runs)
{
	struct comparison_side *s = &c->side[side];
	struct row_columns k = find_columns(c, t);
	size_t first = s->totals.n;
	struct kin_row row;
	vec_reserve(&s->totals, n_runs);
	for (size_t i = 0; i < n_runs; i++)
		s->totals.at[s->totals.n++] = 0;
	size_t self = kin_table_find_column(t, "self");
	for (kin_table_rewind(t); table_next(t, &row);) {
		const struct kin_cell *cells = row.cells;
		size_t run = first + (n_runs > 1 ? run_of(&cells[k.run], n_runs) : 0);
		if (cells[self].type == KIN_CELL_TIME)
			s->totals.at[run] += cells[self].number / s->rate;
		if (cells[k.time].type != KIN_CELL_TIME || !(cells[k.time].number > 0))
			continue;
		struct measured m = { slot_of(c, &k, cells), (uint32_t)run,
				      cells[k.time].number / s->rate };
		vec_push(&s->times, m);
	}
}

static const char *unit_of(struct kin_table *t)
{
	const char *dimension = render_text(t, "dimension");
	return dimension ? dimension : "seconds";
}

/* "cycles:u" and "cycles" are the same event. */
static bool is_same_event(const char *a, const char *b)
{
	size_t n = strcspn(a, ":"), m = strcspn(b, ":");
	return n == m && !memcmp(a, b, n);
}

static struct kin_error *check(struct comparison *c, int side, const struct comparison_recording *r)
{
	struct kin_table *t = r->flat;
	const char *unit = unit_of(t);
	if (c->unit && strcmp(c->unit, unit) != 0 && !c->o.shares)
		return err_new(KIN_ERROR_MISMATCH, "one profile is in %s, the other in %s", c->unit,
			       unit);
	if (c->event && r->event && !is_same_event(c->event, r->event) && !c->o.shares)
		return err_new(KIN_ERROR_MISMATCH,
			       "one profile has samples of %.80s, the other of %.80s", c->event,
			       r->event);
	if (c->o.inclusive && !kin_table_property(t, "measured"))
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "the profile %s has no stacks, and so no times with callees: leave "
			       "out --inclusive",
			       side == BEFORE ? "before" : "after");
	return NULL;
}

struct kin_error *comparison_add(struct comparison *c, int side,
				 const struct comparison_recording *r)
{
	struct comparison_side *s = &c->side[side];
	bool any = c->side[BEFORE].recordings.n || c->side[AFTER].recordings.n;
	struct kin_error *err = check(c, side, r);
	if (err)
		return err;
	if (!c->event && r->event)
		c->event = xprintf("%s", r->event);
	if (!any)
		c->unit = xprintf("%s", unit_of(r->flat));
	else if (c->unit && strcmp(c->unit, unit_of(r->flat)) != 0)
		free(TAKE(c->unit));
	bool counts =
		render_count(r->flat, "has_arcs") && !render_count(r->flat, "counted_in_part");
	s->counted = counts && (s->counted || !s->recordings.n);
	s->inner_only |= r->inner_only;
	c->lacks_time |= r->lacks_time;
	s->sampled = r->sampled && (s->sampled || !s->recordings.n);
	s->is_sum |= r->is_sum && r->n_runs == 1;
	s->rate = kin_table_rate(r->flat);
	read_sums(c, side, r);
	struct compared_recording new = { s->totals.n, r->n_runs,
					  r->started ? xprintf("%s", r->started) : NULL };
	read_times(c, side, r->n_runs > 1 ? r->by_run : r->flat, r->n_runs);
	double total = property(r->flat, "total") / s->rate, weight = r->per_sample / s->rate;
	if (r->n_runs == 1)
		s->totals.at[s->totals.n - 1] = total;
	comparison_add_calls(c, side, r);
	comparison_add_code(c, side, r);
	s->weight += weight;
	s->samples += weight > 0 ? total / weight : 0;
	vec_push(&s->recordings, new);
	return NULL;
}

/* ---- matching functions by name ---- */

/* The length of the name in "f (file.c:12)"; of the whole text if it has no line. */
static size_t name_length(const struct comparison *c, const char *text)
{
	const char *last = NULL, *next = text;
	while (c->o.by_line && (next = strstr(next, " (")))
		last = next++;
	return last && strchr(last, ':') ? (size_t)(last - text) : strlen(text);
}

/* The name of a function without " (inlined)" (`inlined`) and without suffixes that compilers add
 * (`marked`). A line in the text stays. */
static strid plain(struct comparison *c, strid name, bool inlined, bool marked)
{
	static const char *const marks[] = { ".constprop.", ".isra.", ".part.",  ".cold",
					     ".lto_priv.",  ".llvm.", " [clone " };
	const char *text = strtab_get(c->strings, name);
	size_t whole = name_length(c, text), n = whole, tail = strlen(REPORT_INLINED);
	if (inlined && n > tail && !memcmp(text + n - tail, REPORT_INLINED, tail))
		n -= tail;
	for (size_t i = 0; i < ARRAY_LEN(marks) && marked; i++) {
		const char *mark = strstr(text, marks[i]);
		if (mark && mark > text && (size_t)(mark - text) < n)
			n = (size_t)(mark - text);
	}
	if (n == whole)
		return name;
	char *shorter = xprintf("%.*s%s", (int)n, text, text + whole);
	strid id = strtab_add(c->strings, shorter);
	free(shorter);
	return id;
}

static strid same(struct comparison *c, strid name)
{
	(void)c;
	return name;
}

static strid without_inlined(struct comparison *c, strid name)
{
	return plain(c, name, true, false);
}

static strid without_marks(struct comparison *c, strid name) { return plain(c, name, false, true); }

static strid without_both(struct comparison *c, strid name) { return plain(c, name, true, true); }

static bool is_inlined(struct comparison *c, strid name)
{
	return name != without_inlined(c, name);
}

/* A key for the first n bytes of a name, "f.", which is no function's name, followed by its line.
 */
static strid name_in_source(struct comparison *c, const char *name, size_t n, const char *line)
{
	char *text = xprintf("%.*s.%s", (int)n, name, line);
	strid id = strtab_add(c->strings, text);
	free(text);
	return id;
}

/* The key of a function within another one, "f.1", without its number, which changes when other
 * such functions come or go. */
static strid without_number(struct comparison *c, strid name)
{
	const char *text = strtab_get(c->strings, name);
	size_t whole = name_length(c, text);
	char *symbol = xprintf("%.*s", (int)whole, text);
	size_t n = function_name_within(symbol);
	free(symbol);
	return n ? name_in_source(c, text, n, text + whole) : name;
}

/* The same key for such a function where it is inlined: "outer::f (inlined)". */
static strid without_scopes(struct comparison *c, strid name)
{
	if (!is_inlined(c, name))
		return name;
	const char *text = strtab_get(c->strings, name);
	size_t whole = name_length(c, text), end = whole - strlen(REPORT_INLINED), start = end;
	while (start && text[start - 1] != ':')
		start--;
	return name_in_source(c, text + start, end - start, text + whole);
}

/* Maps names, as changed by of(), to functions that only this side has; to NONE if several have the
 * name. */
static void index_alone(struct comparison *c, int side, strid (*of)(struct comparison *, strid),
			struct map64 *ret)
{
	for (uint32_t i = 0; i < c->at.n; i++) {
		if (!comparison_is_alone(&c->at.at[i], side))
			continue;
		size_t before = ret->n;
		uint32_t *slot = map64_at(ret, of(c, c->at.at[i].name));
		*slot = ret->n > before ? i : NONE;
	}
}

static enum function_fate fate_of(struct comparison *c, const struct compared_function *before,
				  const struct compared_function *after)
{
	if (before->name == after->name)
		return FATE_SAME;
	bool was = is_inlined(c, before->name);
	return was == is_inlined(c, after->name) ? FATE_RENAMED
	       : was                             ? FATE_OUTLINED
						 : FATE_INLINED;
}

/* Joins functions that only one side has, if before() and after() make their names equal. The
 * result is the function of `after`. */
static void match(struct comparison *c, strid (*before)(struct comparison *, strid),
		  strid (*after)(struct comparison *, strid))
{
	struct map64 alone[REPEATS_SIDES] = { 0 };
	index_alone(c, BEFORE, before, &alone[BEFORE]);
	index_alone(c, AFTER, after, &alone[AFTER]);
	for (uint32_t i = 0; i < c->at.n; i++) {
		struct compared_function *f = &c->at.at[i];
		if (!comparison_is_alone(f, AFTER) ||
		    map64_get(&alone[AFTER], after(c, f->name)) != i)
			continue;
		uint32_t other = map64_get(&alone[BEFORE], after(c, f->name));
		if (other == NONE)
			continue;
		comparison_join(c, other, i, fate_of(c, &c->at.at[other], f));
	}
	map64_free(&alone[BEFORE]);
	map64_free(&alone[AFTER]);
}

/* Sets the fate of functions without a partner: split from or joined with a function that both
 * sides have, new, or gone. */
static void tell_fates(struct comparison *c)
{
	struct map64 whole = { 0 };
	for (uint32_t i = 0; i < c->at.n; i++)
		if (c->at.at[i].of[BEFORE].slot != NONE && c->at.at[i].of[AFTER].slot != NONE)
			*map64_at(&whole, c->at.at[i].name) = i;
	for (uint32_t i = 0; i < c->at.n; i++) {
		struct compared_function *f = &c->at.at[i];
		bool new = comparison_is_alone(f, AFTER);
		if (!new && !comparison_is_alone(f, BEFORE))
			continue;
		strid name = without_marks(c, f->name);
		bool part = name != f->name && map64_get(&whole, name) != NONE;
		f->fate = part ? new ? FATE_SPLIT : FATE_JOINED : new ? FATE_NEW : FATE_GONE;
		f->other = name;
	}
	map64_free(&whole);
}

/* ---- values and their order ---- */

static bool by_recording(const struct comparison *c, int side)
{
	return c->side[side].recordings.n > 1;
}

struct comparison_start {
	const char *when;
	int side;
};

static int compare_starts(const void *pa, const void *pb)
{
	const struct comparison_start *a = pa, *b = pb;
	int order = strcmp(a->when, b->when);
	return order ? order : a->side - b->side;
}

static int compare_recordings(const void *pa, const void *pb)
{
	const struct compared_recording *a = pa, *b = pb;
	return strcmp(a->started, b->started);
}

/* All recordings, sorted by time; NULL if the time of one is not known. To be freed. */
static struct comparison_start *starts_of(const struct comparison *c, size_t *n)
{
	size_t all = c->side[BEFORE].recordings.n + c->side[AFTER].recordings.n;
	struct comparison_start *ret = xrealloc(NULL, all, sizeof(*ret));
	*n = 0;
	for (int i = 0; i < REPEATS_SIDES; i++)
		for (size_t k = 0; k < c->side[i].recordings.n; k++)
			ret[(*n)++] =
				(struct comparison_start){ c->side[i].recordings.at[k].started, i };
	for (size_t k = 0; k < all; k++)
		if (!ret[k].when) {
			free(ret);
			return NULL;
		}
	qsort(ret, all, sizeof(*ret), compare_starts);
	return ret;
}

/* Whether each two successive recordings are one from each side. *first: for each such pair,
 * whether `before` was recorded first. */
static bool are_interleaved(const struct comparison_start *all, size_t n, bool *first)
{
	for (size_t k = 0; k + 1 < n; k += 2) {
		if (all[k].side == all[k + 1].side)
			return false;
		first[k / 2] = all[k].side == BEFORE;
	}
	return true;
}

/* Whether both sides were recorded at about the same time, though not in turns: the sides alternate
 * at least half as often as the smaller side has recordings. */
static bool are_mixed(const struct comparison *c, const struct comparison_start *all, size_t n)
{
	size_t changes = 0, before = c->side[BEFORE].recordings.n, after = n - before;
	for (size_t k = 1; k < n; k++)
		changes += all[k].side != all[k - 1].side;
	return 2 * changes >= (before < after ? before : after) && changes > 1;
}

static void sort_recordings(struct comparison *c)
{
	for (int i = 0; i < REPEATS_SIDES; i++)
		qsort(c->side[i].recordings.at, c->side[i].recordings.n,
		      sizeof(*c->side[i].recordings.at), compare_recordings);
}

static struct kin_error *find_order(struct comparison *c)
{
	size_t n[REPEATS_SIDES];
	size_t n_starts = 0;
	struct comparison_start *starts = starts_of(c, &n_starts);
	bool mixed = starts && are_mixed(c, starts, n_starts);
	for (int i = 0; i < REPEATS_SIDES; i++) {
		const struct comparison_side *s = &c->side[i];
		n[i] = by_recording(c, i) ? s->recordings.n : s->totals.n;
		c->repeats.n[i] = n[i];
		c->repeats.together[i] = n[i] > 1 && !(by_recording(c, i) && mixed);
		c->scratch[i] = xrealloc(NULL, n[i], sizeof(double));
	}
	c->first = xalloc(n[BEFORE] * sizeof(bool));
	c->repeats.first = c->first;
	bool both = by_recording(c, BEFORE) && by_recording(c, AFTER) && n[BEFORE] == n[AFTER];
	bool in_turns = both && starts && are_interleaved(starts, n_starts, c->first);
	c->repeats.paired = in_turns || (both && c->o.paired);
	if (in_turns)
		sort_recordings(c);
	else if (c->repeats.paired)
		for (size_t k = 0; k < n[BEFORE]; k++)
			c->first[k] = k % 2 == 0;
	free(starts);
	if (c->o.paired && !both)
		return err_new(KIN_ERROR_USAGE,
			       "--paired takes as many recordings before as after, and more than "
			       "one: there are %zu and %zu",
			       c->side[BEFORE].recordings.n, c->side[AFTER].recordings.n);
	return NULL;
}

/* ---- building ---- */

static int compare_measured(const void *pa, const void *pb)
{
	const struct measured *a = pa, *b = pb;
	if (a->slot != b->slot)
		return a->slot < b->slot ? -1 : 1;
	return a->run < b->run ? -1 : a->run > b->run;
}

/* If one side has no calls from outside the program, such calls of the other side are left out:
 * they are no change. */
static void leave_out_outer_calls(struct comparison *c)
{
	if (!c->side[BEFORE].inner_only && !c->side[AFTER].inner_only)
		return;
	for (size_t k = 0; k < c->at.n; k++)
		for (int i = 0; i < REPEATS_SIDES; i++) {
			struct compared_side *f = &c->at.at[k].of[i];
			c->inner_only |= f->calls.most != f->inner_calls.most;
			f->calls = f->inner_calls;
			if (!(f->time > 0) && !f->calls.most)
				f->slot = NONE;
		}
}

static bool is_unsampled(const struct comparison *c, const struct compared_function *f)
{
	return !strcmp(strtab_get(c->strings, f->name), NAME_NOT_SAMPLED);
}

/* What all recordings lack by chance is no function's, and nothing that the sides differ by. */
static void leave_out_unsampled(struct comparison *c)
{
	for (int i = 0; i < REPEATS_SIDES && !c->lacks_time; i++) {
		struct comparison_side *s = &c->side[i];
		size_t n = 0;
		for (size_t k = 0; k < s->times.n; k++) {
			struct measured m = s->times.at[k];
			if (is_unsampled(c, &c->at.at[m.slot]))
				s->totals.at[m.run] -= m.time;
			else
				s->times.at[n++] = m;
		}
		s->times.n = n;
		for (size_t k = 0; k < c->at.n; k++)
			if (is_unsampled(c, &c->at.at[k]))
				c->at.at[k].of[i] = (struct compared_side){ .slot = NONE };
	}
}

struct kin_error *comparison_finish(struct comparison *c)
{
	struct kin_error *err = find_order(c);
	if (err)
		return err;
	leave_out_outer_calls(c);
	leave_out_unsampled(c);
	for (int i = 0; i < REPEATS_SIDES; i++) {
		struct comparison_side *s = &c->side[i];
		if (s->times.n)
			qsort(s->times.at, s->times.n, sizeof(*s->times.at), compare_measured);
		s->weight /= (double)s->recordings.n;
		for (size_t k = 0; k < c->at.n; k++)
			c->at.at[k].of[i].calls.mean /= (double)s->recordings.n;
	}
	match(c, same, same);
	match(c, without_inlined, without_inlined);
	match(c, without_marks, without_marks);
	match(c, without_both, without_both);
	comparison_match_code(c);
	match(c, without_number, without_number);
	match(c, without_number, without_scopes);
	match(c, without_scopes, without_number);
	tell_fates(c);
	comparison_tell_apart(c);
	comparison_order_calls(c);
	return NULL;
}

/* ---- effects ---- */

size_t comparison_runs(const struct comparison *c, int side) { return c->side[side].totals.n; }

double comparison_mean_total(const struct comparison *c, int side)
{
	double sum = 0;
	for (size_t i = 0; i < c->side[side].totals.n; i++)
		sum += c->side[side].totals.at[i];
	return sum / (double)c->side[side].totals.n;
}

bool comparison_is_repeated(const struct comparison *c)
{
	return c->repeats.n[BEFORE] > 1 && c->repeats.n[AFTER] > 1;
}

double comparison_samples(const struct comparison *c, const struct compared_function *f)
{
	double n = 0;
	for (int i = 0; i < REPEATS_SIDES; i++)
		if (f->of[i].slot != NONE && c->side[i].weight > 0)
			n += f->of[i].time / c->side[i].weight;
	return n;
}

/* Turns values of runs into values of repetitions. With several recordings these are the means of
 * each recording's runs; otherwise they are the runs. */
static void fold(const struct comparison *c, int side, const double *runs, double *ret)
{
	const struct comparison_side *s = &c->side[side];
	if (!by_recording(c, side)) {
		memcpy(ret, runs, s->totals.n * sizeof(*ret));
		return;
	}
	for (size_t k = 0; k < s->recordings.n; k++) {
		const struct compared_recording *r = &s->recordings.at[k];
		double sum = 0;
		for (size_t i = 0; i < r->n_runs; i++)
			sum += runs[r->first_run + i];
		ret[k] = sum / (double)r->n_runs;
	}
}

static size_t find_slot(const struct comparison_side *s, uint32_t slot)
{
	return COUNT_WHILE(s->times.n, i, s->times.at[i].slot < slot);
}

static void take_values(struct comparison *c, int side, uint32_t slot, double *ret)
{
	const struct comparison_side *s = &c->side[side];
	double *runs = xalloc(s->totals.n * sizeof(*runs));
	if (slot != NONE)
		for (size_t i = find_slot(s, slot); i < s->times.n && s->times.at[i].slot == slot;
		     i++)
			runs[s->times.at[i].run] += s->times.at[i].time;
	fold(c, side, runs, ret);
	free(runs);
}

static double mean_of(const double *x, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

/* The variance of one value by sampling. No time is known better than to one sample: runs begin
 * anywhere between two samples, so runs with equal numbers of samples need not have taken equally
 * long. */
static double noise_of(const struct comparison *c, int side, double time, double total)
{
	const struct comparison_side *s = &c->side[side];
	double runs = (double)s->totals.n / (double)c->repeats.n[side];
	double others = total > time ? 1 - time / total : 0;
	double by_samples = time * others * s->weight;
	double by_phase = s->weight * (time < s->weight ? time : s->weight);
	return (by_samples > by_phase ? by_samples : by_phase) / runs;
}

/* Turns each value into its share of the total of the same repetition. */
static void make_shares(struct comparison *c, int side, double *x, double *noise)
{
	size_t n = c->repeats.n[side];
	double *totals = xalloc(n * sizeof(*totals));
	fold(c, side, c->side[side].totals.at, totals);
	double total = mean_of(totals, n), share = total > 0 ? mean_of(x, n) / total : 0;
	for (size_t i = 0; i < n; i++)
		x[i] = total > 0 ? (x[i] - share * totals[i]) / total + share : 0;
	*noise = total > 0 ? *noise / (total * total) : 0;
	free(totals);
}

struct compared_values {
	const double *of[REPEATS_SIDES]; /* a value of each repetition; in c->scratch */
	double mean[REPEATS_SIDES], noise[REPEATS_SIDES];
};

static struct compared_values values_of(struct comparison *c, const struct compared_function *f)
{
	struct compared_values v;
	for (int i = 0; i < REPEATS_SIDES; i++) {
		double *x = c->scratch[i];
		if (f)
			take_values(c, i, f->of[i].slot, x);
		else
			fold(c, i, c->side[i].totals.at, x);
		v.noise[i] =
			noise_of(c, i, mean_of(x, c->repeats.n[i]), comparison_mean_total(c, i));
		if (f && c->o.shares)
			make_shares(c, i, x, &v.noise[i]);
		v.of[i] = x;
		v.mean[i] = mean_of(x, c->repeats.n[i]);
	}
	return v;
}

struct effect comparison_effect(struct comparison *c, const struct compared_function *f)
{
	struct compared_values v = values_of(c, f);
	struct effect e = { .before = v.mean[BEFORE], .after = v.mean[AFTER], .growth = NAN };
	e.change = repeats_contrast(&c->repeats, v.of, v.noise, 1);
	if (!(e.before > 0))
		return e;
	e.growth = (e.after - e.before) / e.before;
	/* `single` is used to plan further runs, so each side's variation is taken relative to its
	 * own time: a side that takes twice as long varies by twice as much. */
	double ratio = e.after / e.before;
	e.single = repeats_contrast(&c->repeats, v.of, v.noise, ratio).single /
		   (e.after > 0 ? e.after : e.before);
	return e;
}

struct growth_interval comparison_growth(struct comparison *c, const struct compared_function *f,
					 double confidence)
{
	struct compared_values v = values_of(c, f);
	struct ratio_interval x = repeats_ratio(&c->repeats, v.of, v.noise, confidence);
	return (struct growth_interval){ x.low - 1, x.high - 1 };
}

struct contrast comparison_beyond(struct comparison *c, const struct compared_function *f,
				  double limit)
{
	struct compared_values v = values_of(c, f);
	return repeats_contrast(&c->repeats, v.of, v.noise, 1 + limit);
}

static int largest_first(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;
	return *a > *b ? -1 : *a < *b;
}

/* n samples that fall on either side by chance are all on the same side once in 2^(n-1) times. An
 * effect with so few samples that even this would not be significant is not tested, and does not
 * count as one of the tests (R. E. Tarone, "A Modified Bonferroni Method for Discrete Data",
 * Biometrics 46, 1990). */
void comparison_correct(double *p, const double *samples, size_t n)
{
	double *order = xrealloc(NULL, n + 1, sizeof(*order)), least = 0;
	size_t m = 0;
	for (size_t i = 0; i < n; i++)
		order[i] = samples[i];
	if (n)
		qsort(order, n, sizeof(*order), largest_first);
	for (size_t k = 1; k <= n; k++) {
		least = 1 + log2((double)k / level);
		if (k == n || order[k] < least)
			break;
	}
	for (size_t i = 0; i < n; i++)
		if (samples[i] >= least)
			order[m++] = p[i];
	stats_holm(order, m);
	m = 0;
	for (size_t i = 0; i < n; i++)
		p[i] = samples[i] >= least ? order[m++] : 1;
	free(order);
}
