/* spreads.c - exact sums over ranks, and joining sets of them. */
#include "profile/spreads.h"

#include <math.h>

#include "base/map64.h"
#include "base/sort.h"

/* ---- one spread ---- */

static spread_sum add_sums(spread_sum a, spread_sum b)
{
	spread_sum sum;
	return __builtin_add_overflow(a, b, &sum) ? ~(spread_sum)0 : sum;
}

struct spread spread_of(uint32_t rank, uint64_t value)
{
	return (struct spread){ .sum = value,
				.squares = (spread_sum)value * value,
				.min = value,
				.max = value,
				.min_rank = rank,
				.max_rank = rank,
				.n = value != 0 };
}

static void join(struct spread *s, const struct spread *more)
{
	if (more->min < s->min || (more->min == s->min && more->min_rank < s->min_rank)) {
		s->min = more->min;
		s->min_rank = more->min_rank;
	}
	if (more->max > s->max || (more->max == s->max && more->max_rank < s->max_rank)) {
		s->max = more->max;
		s->max_rank = more->max_rank;
	}
	s->sum = add_sums(s->sum, more->sum);
	s->squares = add_sums(s->squares, more->squares);
	if (__builtin_add_overflow(s->n, more->n, &s->n))
		s->n = UINT32_MAX;
}

double spread_mean(const struct spread *s, uint64_t n) { return (double)s->sum / (double)n; }

double spread_deviation(const struct spread *s, uint64_t n)
{
	long double mean = (long double)s->sum / (long double)n;
	long double variance = (long double)s->squares / (long double)n - mean * mean;
	return (double)sqrtl(fmaxl(variance, 0)); /* rounding may make it negative */
}

/* ---- sets ---- */

struct spread_set *spread_set_new(void)
{
	struct spread_set *s = xalloc(sizeof(*s));
	s->strings = strtab_new();
	return s;
}

void spread_set_free(struct spread_set *s)
{
	if (!s)
		return;
	strtab_free(s->strings);
	vec_free(&s->rows);
	vec_free(&s->ranks);
	vec_free(&s->met);
	records_free(&s->index);
	free(s);
}

strid spread_set_string(struct spread_set *s, const char *text)
{
	return strtab_add(s->strings, text);
}

/* ---- ranks ---- */

uint64_t spread_set_count(const struct spread_set *s)
{
	uint64_t n = 0;
	for (size_t i = 0; i < s->ranks.n; i++)
		n += (uint64_t)s->ranks.at[i].last - s->ranks.at[i].first + 1;
	return n;
}

bool spread_set_has(const struct spread_set *s, uint32_t rank)
{
	for (size_t i = 0; i < s->ranks.n; i++)
		if (s->ranks.at[i].first <= rank && rank <= s->ranks.at[i].last)
			return true;
	return false;
}

char *spread_set_missing(const struct spread_set *s, uint32_t ranks)
{
	enum { MOST = 8 };
	char *text = NULL;
	uint32_t next = 0;
	for (size_t i = 0, n = 0; i <= s->ranks.n && next < ranks; i++) {
		uint32_t first = i < s->ranks.n ? s->ranks.at[i].first : ranks;
		first = (uint32_t)min_u64(first, ranks);
		if (first > next) {
			char *before = text;
			text = n == MOST          ? xprintf("%s, ...", before)
			       : first - next > 1 ? xprintf("%s%s%u-%u", before ? before : "",
							    before ? ", " : "", next, first - 1)
						  : xprintf("%s%s%u", before ? before : "",
							    before ? ", " : "", next);
			free(before);
			if (n++ == MOST)
				break;
		}
		next = i < s->ranks.n ? s->ranks.at[i].last + 1 : ranks;
	}
	return text;
}

static int by_first(const void *a, const void *b)
{
	const struct rank_range *x = a, *y = b;
	return ORDER(x->first, y->first);
}

void spread_set_add_ranks(struct spread_set *s, struct rank_range r)
{
	size_t n = 0;
	if (r.first > r.last || r.last == UINT32_MAX)
		return;
	vec_push(&s->ranks, r);
	qsort(s->ranks.at, s->ranks.n, sizeof(*s->ranks.at), by_first);
	for (size_t i = 1; i < s->ranks.n; i++) {
		struct rank_range *last = &s->ranks.at[n], next = s->ranks.at[i];
		if (next.first > last->last + 1) {
			s->ranks.at[++n] = next;
			continue;
		}
		if (next.first <= last->last && (!s->twice || next.first + 1 < s->twice))
			s->twice = next.first + 1;
		last->last = next.last > last->last ? next.last : last->last;
	}
	s->ranks.n = n + 1;
}

/* ---- rows ---- */

static uint64_t hash_function(uint64_t hash, const struct spread_function *f)
{
	hash = records_mix(hash, MAP64_PAIR(f->name, f->object));
	return records_mix(records_mix(hash, f->addr), f->inlined);
}

static uint64_t row_hash(const void *row)
{
	const struct spread_row *r = row;
	uint64_t hash = records_mix(MAP64_PAIR(r->kind, r->unit), r->event);
	return hash_function(hash_function(hash, &r->from), &r->to);
}

static bool is_same_function(const struct spread_function *a, const struct spread_function *b)
{
	return a->name == b->name && a->object == b->object && a->addr == b->addr &&
	       a->inlined == b->inlined;
}

static bool row_same(const void *a, const void *b)
{
	const struct spread_row *x = a, *y = b;
	return x->kind == y->kind && x->unit == y->unit && x->event == y->event &&
	       is_same_function(&x->from, &y->from) && is_same_function(&x->to, &y->to);
}

static const struct records_kind row_records = { sizeof(struct spread_row), row_hash, row_same };

/* Finds the row with the same key, or adds a copy of `row`; *is_new: it was added. */
static struct spread_row *find(struct spread_set *s, const struct spread_row *row, bool *is_new)
{
	uint32_t id = records_add(&s->index, &row_records, s->rows.at, row, (uint32_t)s->rows.n);
	*is_new = id == s->rows.n;
	if (*is_new) {
		vec_push(&s->rows, *row);
		vec_push(&s->met, 0);
	}
	s->met.at[id] = s->joins;
	return &s->rows.at[id];
}

void spread_set_add(struct spread_set *s, const struct spread_row *row)
{
	bool is_new;
	struct spread_row *known = find(s, row, &is_new);
	if (!is_new)
		join(&known->of, &row->of);
}

/* ---- joining ---- */

/* The spread of a row that no rank of the set has: 0, at the lowest rank. */
static struct spread nothing_of(const struct spread_set *s)
{
	return spread_of(s->ranks.at[0].first, 0);
}

static struct spread_function translate_function(const struct spread_function *f,
						 const strid *strings, const objid *objects)
{
	struct spread_function to = *f;
	to.name = strings[f->name];
	to.object = objects ? objects[f->object] : f->object;
	return to;
}

/* Rows of `into` that `from` lacks get a 0 for the ranks of `from`. Rows that only `from` has get a
 * 0 for the ranks that `into` had before. */
void spread_set_join(struct spread_set *into, const struct spread_set *from, const objid *objects)
{
	size_t n = strtab_count(from->strings), before = into->rows.n;
	strid *strings = xrealloc(NULL, n, sizeof(*strings));

	for (size_t i = 0; i < n; i++)
		strings[i] = strtab_add(into->strings, strtab_get(from->strings, (strid)i));
	into->joins++;
	for (size_t i = 0; i < from->rows.n; i++) {
		struct spread_row row = from->rows.at[i];
		bool is_new;
		row.event = strings[row.event];
		row.from = translate_function(&row.from, strings, objects);
		row.to = translate_function(&row.to, strings, objects);
		struct spread_row *known = find(into, &row, &is_new);
		if (!is_new) {
			join(&known->of, &row.of);
		} else if (into->ranks.n) {
			struct spread nothing = nothing_of(into);
			join(&known->of, &nothing);
		}
	}
	if (from->ranks.n) {
		struct spread nothing = nothing_of(from);
		for (size_t i = 0; i < before; i++)
			if (into->met.at[i] != into->joins)
				join(&into->rows.at[i].of, &nothing);
	}
	for (size_t i = 0; i < from->ranks.n; i++)
		spread_set_add_ranks(into, from->ranks.at[i]);
	if (from->twice && (!into->twice || from->twice < into->twice))
		into->twice = from->twice;
	into->is_part |= from->is_part;
	free(strings);
}

/* ---- parts ---- */

static struct spread_set *without_rows(const struct spread_set *s)
{
	struct spread_set *new = spread_set_new();

	for (size_t i = 0; i < s->ranks.n; i++)
		spread_set_add_ranks(new, s->ranks.at[i]);
	new->twice = s->twice;
	new->is_part = s->is_part;
	return new;
}

struct spread_set *spread_set_select(const struct spread_set *s,
				     bool (*wants)(const char *event, const void *arg),
				     const void *arg)
{
	struct spread_set *some = without_rows(s);

	for (size_t i = 0; i < s->rows.n; i++) {
		const struct spread_row *r = &s->rows.at[i];
		struct spread_row row = *r;
		if (r->event && !wants(strtab_get(s->strings, r->event), arg))
			continue;
		row.event = spread_set_string(some, strtab_get(s->strings, r->event));
		row.from.name = spread_set_string(some, strtab_get(s->strings, r->from.name));
		row.to.name = spread_set_string(some, strtab_get(s->strings, r->to.name));
		spread_set_add(some, &row);
	}
	return some;
}

struct spread_set *spread_set_part(const struct spread_set *s)
{
	struct spread_set *part = without_rows(s);

	part->is_part = true;
	return part;
}

/* ---- order ---- */

static int by_function(const struct spread_set *s, const struct spread_function *x,
		       const struct spread_function *y)
{
	int order = ORDER(x->object, y->object);
	if (!order)
		order = ORDER(x->addr, y->addr);
	if (!order && x->name != y->name)
		order = strcmp(strtab_get(s->strings, x->name), strtab_get(s->strings, y->name));
	return order ? order : ORDER(x->inlined, y->inlined);
}

static int by_key(const void *a, const void *b, void *set)
{
	const struct spread_set *s = set;
	const struct spread_row *x = a, *y = b;
	int order = ORDER(x->kind, y->kind);
	if (!order)
		order = ORDER(x->unit, y->unit);
	if (!order && x->event != y->event)
		order = strcmp(strtab_get(s->strings, x->event), strtab_get(s->strings, y->event));
	if (!order)
		order = by_function(s, &x->from, &y->from);
	return order ? order : by_function(s, &x->to, &y->to);
}

void spread_set_sort(struct spread_set *s)
{
	records_free(&s->index);
	if (s->rows.n)
		qsort_r(s->rows.at, s->rows.n, sizeof(*s->rows.at), by_key, s);
}
