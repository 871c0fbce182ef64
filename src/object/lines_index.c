/* lines_index.c - looks up single addresses. Units that may contain an address are known from their
 * ranges; a unit is decoded when it is first needed. Units without ranges are decoded at once. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "object/lines_private.h"

enum {
	CANDIDATES = 16, /* units looked at for an address */
	CLAIMS = 8,      /* units of the very same range that are kept */
	NEAR = 8,        /* rows before and behind an address tested for the same line */
	ROWS_KEPT = (64 << 20) / sizeof(struct line_row),
};

struct unit_range {
	uint64_t low, high;
	uint32_t unit;
};

struct decoded {
	struct line_table table;
	bool known;
};

struct line_index {
	struct object_lines *lines;
	VEC(struct unit_range) ranges; /* by low */
	uint64_t *highest; /* highest ends of the ranges: binary tree, leaves from [leaves] on */
	size_t leaves;
	struct decoded *units;
	size_t rows_kept;
};

/* ---- decoded units ---- */

static void forget_all(struct line_index *x)
{
	for (size_t i = 0; i < x->lines->info->file.units.n; i++)
		line_table_done(&x->units[i].table);
	memset(x->units, 0, x->lines->info->file.units.n * sizeof(*x->units));
	x->rows_kept = 0;
}

/* The unit's line table; without sequences if it has none. */
static struct line_table *table_of(struct line_index *x, uint32_t unit)
{
	struct decoded *d = &x->units[unit];
	if (d->known)
		return &d->table;
	if (x->rows_kept > ROWS_KEPT)
		forget_all(x);
	if (!unit_table(x->lines, unit, &d->table))
		d->table.sequences.n = 0;
	d->known = true;
	x->rows_kept += d->table.rows.n;
	return &d->table;
}

/* ---- ranges of units ---- */

static int by_low(const void *a, const void *b)
{
	const struct unit_range *l = a, *r = b;
	if (l->low != r->low)
		return l->low < r->low ? -1 : 1;
	if (l->high != r->high)
		return l->high < r->high ? -1 : 1;
	return ORDER(l->unit, r->unit);
}

static void add_range(struct line_index *x, uint64_t low, uint64_t high, size_t unit)
{
	struct unit_range *last = x->ranges.n ? &x->ranges.at[x->ranges.n - 1] : NULL;
	if (last && last->unit == unit && last->high == low)
		last->high = high;
	else
		vec_push(&x->ranges, ((struct unit_range){ low, high, (uint32_t)unit }));
}

/* The linker keeps one copy of an inline function, and all units claim it: the first ones
 * answer. */
static void drop_repeated(struct line_index *x)
{
	size_t n = 0, same = 0;
	for (size_t i = 0; i < x->ranges.n; i++) {
		struct unit_range r = x->ranges.at[i];
		const struct unit_range *last = n ? &x->ranges.at[n - 1] : NULL;
		same = last && last->low == r.low && last->high == r.high ? same + 1 : 0;
		if (same < CLAIMS)
			x->ranges.at[n++] = r;
	}
	x->ranges.n = n;
}

static void find_ranges(struct line_index *x)
{
	const struct dwarf_info *d = x->lines->info;
	for (size_t i = 0; i < d->file.units.n; i++) {
		const struct dwarf_unit *u = &d->file.units.at[i];
		for (uint32_t k = 0; k < u->n_ranges; k++) {
			struct address_range r = d->ranges.at[u->first_range + k];
			add_range(x, r.low, r.high, i);
		}
		if (u->n_ranges || !u->has_lines)
			continue;
		const struct line_table *t = table_of(x, (uint32_t)i);
		for (size_t k = 0; k < t->sequences.n; k++)
			add_range(x, t->sequences.at[k].low, t->sequences.at[k].high, i);
	}
	if (x->ranges.n)
		qsort(x->ranges.at, x->ranges.n, sizeof(*x->ranges.at), by_low);
	drop_repeated(x);
}

static void build_tree(struct line_index *x)
{
	for (x->leaves = 1; x->leaves <= x->ranges.n;) /* one more: searches start behind a range */
		x->leaves *= 2;
	x->highest = xalloc(2 * x->leaves * sizeof(*x->highest));
	for (size_t i = 0; i < x->ranges.n; i++)
		x->highest[x->leaves + i] = x->ranges.at[i].high;
	for (size_t i = x->leaves - 1; i; i--) {
		uint64_t a = x->highest[2 * i], b = x->highest[2 * i + 1];
		x->highest[i] = a > b ? a : b;
	}
}

/* The last of the first n ranges that ends after addr; n if there is none. */
static size_t last_beyond(const struct line_index *x, size_t n, uint64_t addr)
{
	size_t i = x->leaves + n;
	while (i > 1) { /* up to where a left neighbour holds one, then down to it */
		if ((i & 1) && x->highest[i - 1] > addr) {
			for (i--; i < x->leaves;)
				i = 2 * i + (x->highest[2 * i + 1] > addr);
			return i - x->leaves;
		}
		i /= 2;
	}
	return n;
}

/* Units that may hold addr, in their order. */
static size_t candidates(const struct line_index *x, uint64_t addr, uint32_t *units)
{
	size_t n = 0;
	size_t low = COUNT_WHILE(x->ranges.n, i, x->ranges.at[i].low <= addr);
	/* Line tables cover the padding behind functions, the ranges of units do not. */
	size_t before = low;
	for (size_t i; n < CANDIDATES && (i = last_beyond(x, low, addr)) != low; low = i) {
		size_t k = n++;
		for (; k && units[k - 1] > x->ranges.at[i].unit; k--)
			units[k] = units[k - 1];
		units[k] = x->ranges.at[i].unit;
	}
	if (!n && before && !unit_is_clipped(x->lines, x->ranges.at[before - 1].unit))
		units[n++] = x->ranges.at[before - 1].unit;
	return n;
}

/* ---- the index ---- */

struct line_index *line_index_new(struct object_lines *l)
{
	struct line_index *x = xalloc(sizeof(*x));
	x->lines = l;
	x->units = xalloc((l->info->file.units.n + 1) * sizeof(*x->units));
	find_ranges(x);
	build_tree(x);
	return x;
}

void line_index_free(struct line_index *x)
{
	if (!x)
		return;
	forget_all(x);
	free(x->units);
	free(x->highest);
	vec_free(&x->ranges);
	free(x);
}

static bool is_same_line(const struct line_row *a, const struct line_row *b)
{
	return a->file == b->file && a->line == b->line;
}

static bool find_in(struct line_index *x, uint32_t unit, uint64_t addr, struct line_run *ret)
{
	struct line_table *t = table_of(x, unit);
	size_t n = COUNT_WHILE(t->sequences.n, i, t->sequences.at[i].low <= addr);
	const struct line_sequence *s = n ? &t->sequences.at[n - 1] : NULL;
	if (!s || addr >= s->high)
		return false;

	const struct line_row *rows = &t->rows.at[s->first_row];
	size_t behind = COUNT_WHILE(s->n_rows, i, rows[i].addr <= addr), first = behind - 1;
	struct line_row row = rows[first];
	for (size_t k = 0; k < NEAR && first && is_same_line(&rows[first - 1], &row); k++)
		first--;
	for (size_t k = 0; k < NEAR && behind < s->n_rows && is_same_line(&rows[behind], &row); k++)
		behind++;
	uint64_t low = rows[first].addr;
	*ret = (struct line_run){
		.addr = low > s->low ? low : s->low,
		.end = behind < s->n_rows ? rows[behind].addr : s->high,
		.at = { .file = unit_path(x->lines, t, row.file), .line = row.line },
	};
	if (unit_is_clipped(x->lines, unit)) {
		ret->addr = addr;
		ret->end = addr + 1;
	}
	return true;
}

bool line_index_find(struct line_index *x, uint64_t addr, struct line_run *ret)
{
	uint32_t units[CANDIDATES];
	size_t n = candidates(x, addr, units);
	for (size_t i = 0; i < n; i++)
		if (find_in(x, units[i], addr, ret))
			return true;
	return false;
}
