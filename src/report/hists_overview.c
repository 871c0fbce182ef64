/* hists_overview.c - a first page of the report "hists": where time is spent, then who spends it.
 */
#include <stdlib.h>

#include "base/map64.h"
#include "base/sort.h"
#include "report/hists_state.h"

enum { BY_SELF, BY_CHILDREN }; /* the groups of rows */

/* ---- functions that only pass time on ---- */

static uint64_t id_of(const struct hists_state *s, uint32_t row, uint32_t fkey)
{
	return MAP64_PAIR(s->hists->rows[row].skey, fkey);
}

/* They are left out for the row that they lead to, if it is there. */
static void fold(struct hists_state *s)
{
	struct hists_levels *l = &s->levels;
	struct map64 entries = { 0 };
	size_t n = 0;
	for (size_t i = 0; i < l->n; i++) {
		uint32_t row = l->at[i].row;
		*map64_at(&entries, id_of(s, row, s->hists->rows[row].fkey)) = (uint32_t)i;
	}
	for (size_t i = 0; i < l->n; i++) {
		uint32_t target = hists_target(s->hists, l->at[i].row), to = NONE;
		if (target != NONE)
			to = map64_get(&entries, id_of(s, l->at[i].row, target));
		if (to == NONE)
			continue;
		l->at[to].n_folded++;
		l->at[i].is_leaf = false;
		l->n_folded++;
	}
	for (size_t i = 0; i < l->n; i++)
		if (l->at[i].is_leaf)
			l->at[n++] = l->at[i];
	l->n = n;
	map64_free(&entries);
}

/* ---- choice and order ---- */

static int compare(uint64_t a, uint64_t b) { return ORDER(a, b); }

static int by_self(const void *a, const void *b)
{
	const struct hists_entry *x = a, *y = b;
	int order = compare(y->self->weight, x->self->weight);
	if (!order)
		order = compare(y->children->weight, x->children->weight);
	return order ? order : compare(x->row, y->row);
}

static int by_group(const void *a, const void *b)
{
	const struct hists_entry *x = a, *y = b;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->group == BY_SELF)
		return by_self(a, b);
	int order = compare(y->children->weight, x->children->weight);
	return order ? order : by_self(a, b);
}

static bool counts(const struct hists_state *s, const struct hist_stat *stat)
{
	return stat->weight && hists_percent(s, stat) >= s->ask->percent_limit;
}

/* How many of `max` rows are for functions with Self: two thirds, or more if fewer rows than a
 * third have none. */
static size_t room_for_self(const struct hists_state *s, size_t max)
{
	const struct hists_levels *l = &s->levels;
	size_t callers = 0;
	for (size_t i = 0; i < l->n; i++)
		callers += !counts(s, l->at[i].self) && counts(s, l->at[i].children);
	return max - (callers < max / 3 ? callers : max / 3);
}

/* Entries come by Self. */
static void choose(struct hists_state *s)
{
	struct hists_levels *l = &s->levels;
	bool all = s->ask->given->all_rows;
	size_t max = s->ask->given->max_rows && !all ? s->ask->given->max_rows : l->n, n = 0;
	size_t room = room_for_self(s, max);
	for (size_t i = 0; i < l->n; i++) {
		struct hists_entry *e = &l->at[i];
		bool spends = all ? e->self->weight > 0 : counts(s, e->self) && i < room;
		e->group = spends ? BY_SELF : BY_CHILDREN;
		if (spends || all || counts(s, e->children))
			l->at[n++] = *e;
	}
	l->n_left_out = l->n - n;
	l->n = n;
	if (n)
		qsort(l->at, n, sizeof(*l->at), by_group);
	if (n > max) {
		l->n_left_out += n - max;
		l->n = max;
	}
}

/* Whether there are more rows than fit: otherwise nothing is folded. */
static bool is_crowded(const struct hists_state *s)
{
	const struct hists_levels *l = &s->levels;
	size_t max = s->ask->given->max_rows, n = 0;
	for (size_t i = 0; i < l->n; i++)
		n += counts(s, l->at[i].children) || counts(s, l->at[i].self);
	return max && n > max;
}

void hists_overview(struct hists_state *s)
{
	struct hists_levels *l = &s->levels;
	size_t n = 0;
	for (size_t i = 0; i < l->n; i++)
		if (hists_state_wants(s, l->at[i].row))
			l->at[n++] = l->at[i];
	l->n = n;
	if (s->ask->opts.passing && is_crowded(s))
		fold(s);
	if (l->n)
		qsort(l->at, l->n, sizeof(*l->at), by_self);
	choose(s);
}
