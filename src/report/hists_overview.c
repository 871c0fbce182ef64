/* hists_overview.c - a first page of the report "hists": where time is spent, then who spends it.
 */
#include <stdlib.h>

#include "base/map64.h"
#include "base/sort.h"
#include "report/hists_state.h"

/* ---- functions that only pass time on ---- */

static uint64_t id_of(const struct hists_state *s, uint32_t row, uint32_t fkey)
{
	return MAP64_PAIR(s->hists->rows[row].skey, fkey);
}

/* Folds such rows into the row that their functions lead to, if it is listed. */
static void fold(struct hists_state *s)
{
	struct hists_levels *l = &s->levels;
	struct map64 entries = { 0 };
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
		l->at[i].group = KIN_OVERVIEW_FOLDED;
		l->n_folded++;
	}
	map64_free(&entries);
}

/* ---- choice and order ---- */

static int compare(uint64_t a, uint64_t b) { return ORDER(a, b); }

static int by_self(const struct hists_entry *x, const struct hists_entry *y, const struct hists *h)
{
	int order = compare(y->self->weight, x->self->weight);
	if (!order)
		order = compare(y->children->weight, x->children->weight);
	if (!order) /* callers before their callees */
		order = compare(hists_n_callers(h, x->row), hists_n_callers(h, y->row));
	if (!order)
		order = compare(h->rows[x->row].place, h->rows[y->row].place);
	return order ? order : compare(x->row, y->row);
}

static int by_group(const void *a, const void *b, void *hists)
{
	const struct hists_entry *x = a, *y = b;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->group == KIN_OVERVIEW_SELF || x->group == KIN_OVERVIEW_REST)
		return by_self(x, y, hists);
	int order = compare(y->children->weight, x->children->weight);
	return order ? order : by_self(x, y, hists);
}

static void sort(struct hists_state *s, size_t n)
{
	if (n)
		qsort_r(s->levels.at, n, sizeof(*s->levels.at), by_group, s->hists);
}

/* The size of a page; 0: all rows. */
static size_t page_rows(const struct hists_state *s)
{
	const struct kin_hists_opts *g = s->ask->given;
	return g->first_rows ? g->first_rows : g->max_rows;
}

static bool counts(const struct hists_state *s, const struct hist_stat *stat)
{
	return stat->weight && hists_percent(s, stat) >= s->ask->percent_limit;
}

enum chance { MAY_BE_SHOWN, TOO_SMALL, FOLDED };

static enum chance chance_of(const struct hists_state *s, const struct hists_entry *e)
{
	if (e->group == KIN_OVERVIEW_FOLDED)
		return FOLDED;
	return counts(s, e->self) || counts(s, e->children) ? MAY_BE_SHOWN : TOO_SMALL;
}

/* Moves entries with at most that chance to the front of the first n. Returns their number. */
static size_t bring_forward(struct hists_state *s, size_t n, enum chance most)
{
	struct hists_entry *at = s->levels.at;
	size_t front = 0;
	for (size_t i = 0; i < n; i++) {
		struct hists_entry e = at[i];
		if (chance_of(s, &e) > most)
			continue;
		at[i] = at[front];
		at[front++] = e;
	}
	return front;
}

/* Sorts entries by Self, and puts folded ones last. Returns how many are sorted: of a page that
 * ends, only those that it may show, as the others may be hundreds of thousands. */
static size_t sort_by_self(struct hists_state *s)
{
	struct hists_levels *l = &s->levels;
	size_t n = l->n - l->n_folded;
	if (s->ask->given->all_rows || s->ask->given->first_rows) {
		sort(s, l->n);
		return n;
	}
	bring_forward(s, l->n, TOO_SMALL);
	n = bring_forward(s, n, MAY_BE_SHOWN);
	sort(s, n);
	return n;
}

/* How many of `max` rows go to functions with Self: two thirds; more, if functions without Self
 * need less than a third. */
static size_t room_for_self(const struct hists_state *s, size_t n, size_t max)
{
	const struct hists_levels *l = &s->levels;
	size_t callers = 0;
	for (size_t i = 0; i < n; i++)
		callers += !counts(s, l->at[i].self) && counts(s, l->at[i].children);
	return max - (callers < max / 3 ? callers : max / 3);
}

/* Chooses the rows of the page among the first `sorted`, which are sorted by Self; folded ones are
 * last. */
static void choose(struct hists_state *s, size_t sorted)
{
	struct hists_levels *l = &s->levels;
	bool all = s->ask->given->all_rows;
	size_t n = l->n - l->n_folded, max = page_rows(s) && !all ? page_rows(s) : n, chosen = 0;
	size_t room = room_for_self(s, sorted, max);
	for (size_t i = 0; i < sorted; i++) {
		struct hists_entry *e = &l->at[i];
		bool spends = all ? e->self->weight > 0 : counts(s, e->self) && i < room;
		bool leads = all || counts(s, e->children);
		e->group = spends  ? KIN_OVERVIEW_SELF
			   : leads ? KIN_OVERVIEW_CHILDREN
				   : KIN_OVERVIEW_REST;
		chosen += spends || leads;
	}
	sort(s, sorted);
	for (size_t i = max; i < chosen; i++)
		l->at[i].group = KIN_OVERVIEW_REST;
	if (s->ask->given->first_rows) {
		sort(s, sorted);
		return;
	}
	chosen = chosen < max ? chosen : max;
	l->n_left_out = n - chosen;
	/* What leads to a row that is not shown is not shown, either. */
	for (size_t i = chosen; i < n; i++) {
		l->n_left_out += l->at[i].n_folded;
		l->n_folded -= l->at[i].n_folded;
	}
	l->n = chosen;
}

/* Whether there are more rows than fit. Otherwise nothing is folded. */
static bool is_crowded(const struct hists_state *s)
{
	const struct hists_levels *l = &s->levels;
	size_t max = page_rows(s), n = 0;
	for (size_t i = 0; i < l->n; i++)
		n += counts(s, l->at[i].children) || counts(s, l->at[i].self);
	return max && n > max;
}

/* A mark is no function: it has no row on a page, but one among all rows. */
static bool is_mark(const struct hists_state *s, uint32_t row)
{
	symid place = s->hists->rows[row].place;
	return place != NONE && program_is_no_caller(s->hists->program, place);
}

void hists_overview(struct hists_state *s)
{
	struct hists_levels *l = &s->levels;
	bool is_page = page_rows(s) && !s->ask->given->all_rows;
	size_t n = 0;
	for (size_t i = 0; i < l->n; i++)
		if (hists_state_wants(s, l->at[i].row) && !(is_page && is_mark(s, l->at[i].row)))
			l->at[n++] = l->at[i];
	l->n = n;
	if (s->ask->opts.passing && !s->ask->given->all_rows && is_crowded(s))
		fold(s);
	choose(s, sort_by_self(s));
}
