/* hists_order.c - rows in order. */
#include <stdlib.h>
#include <string.h>

#include "analysis/hist_key.h"
#include "analysis/hists_private.h"

/* ---- keys as ranks: names are compared once, not once per pair of rows ---- */

struct named_hist {
	uint32_t row;
	uint32_t value;
	bool unknown;          /* comes last; all that are unknown are equal */
	enum hist_owner owner; /* what is the kernel's comes last */
	const char *text;
};

static int by_value(const void *a, const void *b)
{
	const struct named_hist *x = a, *y = b;
	return x->value < y->value ? -1 : x->value > y->value;
}

static int compare_names(const struct named_hist *x, const struct named_hist *y)
{
	return x->owner != y->owner ? (int)x->owner - (int)y->owner : strcmp(x->text, y->text);
}

static int by_text(const void *a, const void *b)
{
	const struct named_hist *x = a, *y = b;
	if (x->unknown != y->unknown)
		return x->unknown ? 1 : -1;
	int names = x->unknown ? 0 : compare_names(x, y);
	return names ? names : by_value(a, b);
}

static bool is_unknown(const struct hists *h, const struct named_hist *n, enum hist_key key)
{
	symid place = h->rows[n->row].place;
	if (key == HIST_PARENT)
		return n->value == NONE;
	if (key == HIST_DSO)
		return !strcmp(n->text, "[unknown]");
	return (key == HIST_SYM || key == HIST_SYMOFF) &&
	       (place == NONE || program_kind(h->program, place) == PLACE_UNKNOWN);
}

static int by_wide(const void *a, const void *b, void *h)
{
	uint64_t x = hist_wide(h, ((const struct named_hist *)a)->value),
		 y = hist_wide(h, ((const struct named_hist *)b)->value);
	return x < y ? -1 : x > y;
}

/* Of a row without a name; 0: it has one. */
static uint64_t address_of(const struct hists *h, uint32_t row)
{
	const struct hist_row *r = &h->rows[row];
	return hist_is_named(h, r) ? 0 : h->profile->samples.frames[r->frame].addr;
}

/* Instructions per cycle are by function, wherever that is. */
static int by_start(const void *a, const void *b, void *arg)
{
	const struct hists *h = arg;
	uint32_t ra = ((const struct named_hist *)a)->row, rb = ((const struct named_hist *)b)->row;
	symid x = h->rows[ra].place, y = h->rows[rb].place;
	bool known = hist_is_named(h, &h->rows[ra]), known_too = hist_is_named(h, &h->rows[rb]);
	uint64_t ax = address_of(h, ra), ay = address_of(h, rb);
	if (!known || !known_too)
		return known ? -1 : known_too ? 1 : ax < ay ? -1 : ax > ay;
	int objects = strcmp(program_object_name(h->program, program_object(h->program, x)),
			     program_object_name(h->program, program_object(h->program, y)));
	uint64_t sx = program_start(h->program, x), sy = program_start(h->program, y);
	return objects ? objects : sx < sy ? -1 : sx > sy;
}

static void rank_wide(const struct hists *h, struct named_hist *list, uint32_t *rank)
{
	if (h->n)
		qsort_r(list, h->n, sizeof(*list), by_wide, h->priv);
	for (size_t i = 0; i < h->n; i++)
		rank[list[i].row] = i && list[i].value == list[i - 1].value ? rank[list[i - 1].row]
									    : (uint32_t)i;
}

/* A function has as many places as there are objects with one of that name: equal names are equal
 * here, as later keys tell them apart. */
static uint32_t *ranks_of(const struct hists *h, enum hist_key key, bool apart)
{
	uint32_t *rank = xrealloc(NULL, h->n, sizeof(*rank));
	struct named_hist *list = xrealloc(NULL, h->n, sizeof(*list));
	for (size_t i = 0; i < h->n; i++)
		list[i] =
			(struct named_hist){ .row = (uint32_t)i, .value = hists_value(h, i, key) };
	if (hist_keys[key].wide) {
		rank_wide(h, list, rank);
		free(list);
		return rank;
	}
	if (key == HIST_IPC) {
		qsort_r(list, h->n, sizeof(*list), by_start, UNCONST(struct hists *, h));
		for (size_t i = 0; i < h->n; i++)
			rank[list[i].row] =
				i && !by_start(&list[i - 1], &list[i], UNCONST(struct hists *, h))
					? rank[list[i - 1].row]
					: (uint32_t)i;
		free(list);
		return rank;
	}
	if (hist_keys[key].number) {
		for (size_t i = 0; i < h->n; i++)
			rank[i] = list[i].value;
		free(list);
		return rank;
	}
	qsort(list, h->n, sizeof(*list), by_value);
	for (size_t i = 0; i < h->n; i++) {
		bool same = i && list[i].value == list[i - 1].value;
		list[i].text = same ? list[i - 1].text : hists_text(h, list[i].row, key);
		list[i].unknown = is_unknown(h, &list[i], key);
		list[i].owner = same ? list[i - 1].owner : hists_owner(h, list[i].row, key);
	}
	qsort(list, h->n, sizeof(*list), by_text);
	uint32_t n = 0;
	for (size_t i = 0; i < h->n; i++) {
		if (i && apart && list[i].value != list[i - 1].value)
			n++;
		else if (i && (list[i].unknown != list[i - 1].unknown ||
			       (!list[i].unknown && compare_names(&list[i], &list[i - 1]) != 0)))
			n++;
		rank[list[i].row] = n;
	}
	free(list);
	return rank;
}

/* ---- comparing ---- */

struct sorter {
	const struct hists *h;
	const struct hist_term *terms;
	size_t n;
	uint32_t **ranks; /* [term]; NULL for figures */
};

static int figure(double a, double b) { return a > b ? -1 : a < b; }
static int number(uint64_t a, uint64_t b) { return a > b ? -1 : a < b; }

static int compare_term(const struct sorter *s, size_t i, uint32_t a, uint32_t b)
{
	size_t n = s->h->opts->n_events;
	const struct hist_stat *self = s->h->self, *children = s->h->children;
	int order = 0;
	if (s->terms[i].kind == TERM_KEY)
		return hist_keys[s->terms[i].key].descending
			       ? number(s->ranks[i][a], s->ranks[i][b])
			       : number(s->ranks[i][b], s->ranks[i][a]);
	for (size_t e = 0; e < n && !order; e++) { /* of a group the leader decides first */
		const struct hist_stat *x = &self[a * n + e], *y = &self[b * n + e];
		const struct hist_stat *xc = &children[a * n + e], *yc = &children[b * n + e];
		switch (s->terms[i].kind) {
		case TERM_CHILDREN:
			if (e)
				break; /* the leader's alone */
			order = number(xc->weight, yc->weight);
			break;
		case TERM_SELF:
		case TERM_WEIGHT:
			order = number(x->weight, y->weight);
			break;
		case TERM_LATENCY_CHILDREN:
			order = figure(xc->latency, yc->latency);
			break;
		case TERM_LATENCY:
			order = figure(x->latency, y->latency);
			break;
		case TERM_COUNT:
			order = number(x->count, y->count);
			break;
		case TERM_LEVEL:
			order = number(s->h->levels[a * n + e][s->terms[i].level],
				       s->h->levels[b * n + e][s->terms[i].level]);
			break;
		case TERM_KEY:
			break;
		}
	}
	return order;
}

static int compare(const void *l, const void *r, void *arg)
{
	const struct sorter *s = arg;
	uint32_t a = *(const uint32_t *)l, b = *(const uint32_t *)r;
	for (size_t i = 0; i < s->n; i++) {
		int order = compare_term(s, i, a, b);
		if (order)
			return order;
	}
	uint64_t x = address_of(s->h, a), y = address_of(s->h, b);
	return x != y ? (x < y ? -1 : 1) : a < b ? -1 : a > b;
}

/* ---- callers above callees ---- */

/* Rows of one thread that are to go by depth, in a list with the first row of each depth at hand.
 */
struct lane {
	uint32_t low, high; /* depths seen */
};

struct mover {
	const struct sorter *s;
	uint32_t *next; /* [row]: the list; NONE ends */
	uint32_t *prev; /* NONE: the first */
	uint32_t first, last;
	struct map64 lane_ids; /* by thread */
	VEC(struct lane) lanes;
	struct map64 first_of; /* (lane, depth): the uppermost row */
};

static uint32_t lane_of(struct mover *m, uint32_t row)
{
	const struct hists *h = m->s->h;
	const struct task *t = &h->profile->samples.tasks[h->rows[row].task];
	uint32_t *at = map64_at(&m->lane_ids, MAP64_PAIR(t->tid, t->run));
	if (*at == NONE) {
		*at = (uint32_t)m->lanes.n;
		vec_push(&m->lanes, ((struct lane){ UINT32_MAX, 0 }));
	}
	return *at;
}

/* The uppermost row of the lane that must come below one of this depth; NONE if there is none. */
static uint32_t first_below_depth(struct mover *m, uint32_t lane, uint32_t depth)
{
	bool caller = m->s->h->opts->order == CHAIN_CALLER;
	const struct lane *l = &m->lanes.at[lane];
	if (l->low > l->high)
		return NONE;
	if (caller)
		for (uint32_t d = depth > l->high ? l->high : depth - 1; depth && d + 1 > l->low;
		     d--) {
			uint32_t at = map64_get(&m->first_of, MAP64_PAIR(lane, d));
			if (at != NONE)
				return at;
		}
	else
		for (uint32_t d = depth < l->low ? l->low : depth + 1; d <= l->high; d++) {
			uint32_t at = map64_get(&m->first_of, MAP64_PAIR(lane, d));
			if (at != NONE)
				return at;
		}
	return NONE;
}

static void put_before(struct mover *m, uint32_t row, uint32_t other)
{
	uint32_t before = other == NONE ? m->last : m->prev[other];
	m->prev[row] = before;
	m->next[row] = other;
	*(before == NONE ? &m->first : &m->next[before]) = row;
	*(other == NONE ? &m->last : &m->prev[other]) = row;
}

static void put(struct mover *m, uint32_t row)
{
	uint32_t lane = lane_of(m, row), depth = m->s->h->rows[row].depth;
	put_before(m, row, first_below_depth(m, lane, depth));
	struct lane *l = &m->lanes.at[lane];
	l->low = depth < l->low ? depth : l->low;
	l->high = depth > l->high ? depth : l->high;
	uint32_t *at = map64_at(&m->first_of, MAP64_PAIR(lane, depth));
	*at = *at == NONE ? row : *at;
}

/* rows[0 .. n) have equal Children. */
static void move_callers(struct mover *m, uint32_t *rows, size_t n)
{
	m->first = m->last = NONE;
	m->lanes.n = 0;
	for (size_t i = 0; i < n; i++)
		put(m, rows[i]);
	uint32_t at = m->first;
	for (size_t i = 0; i < n; i++, at = m->next[at])
		rows[i] = at;
	map64_free(&m->lane_ids);
	map64_free(&m->first_of);
	m->lane_ids = m->first_of = (struct map64){ 0 };
}

static void move_all(const struct sorter *s, uint32_t *rows)
{
	size_t n = s->h->n;
	struct mover m = { .s = s };
	m.next = xrealloc(NULL, n, sizeof(*m.next));
	m.prev = xrealloc(NULL, n, sizeof(*m.prev));
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !compare_term(s, 0, rows[i], rows[end]); end++)
			;
		if (end - i > 1)
			move_callers(&m, rows + i, end - i);
	}
	vec_free(&m.lanes);
	free(m.next);
	free(m.prev);
}

void hists_sort(const struct hists *h, const struct hist_term *terms, size_t n_terms,
		uint32_t **ret)
{
	struct sorter s = { h, terms, n_terms, xalloc((n_terms + 1) * sizeof(*s.ranks)) };
	*ret = xrealloc(NULL, h->n, sizeof(**ret));
	for (size_t i = 0; i < h->n; i++)
		(*ret)[i] = (uint32_t)i;
	for (size_t i = 0; i < n_terms; i++)
		if (terms[i].kind == TERM_KEY)
			s.ranks[i] = ranks_of(h, terms[i].key, terms[i].apart);
	if (h->n)
		qsort_r(*ret, h->n, sizeof(**ret), compare, &s);
	if (n_terms && terms[0].kind == TERM_CHILDREN && h->opts->chains)
		move_all(&s, *ret);
	for (size_t i = 0; i < n_terms; i++)
		free(s.ranks[i]);
	free(s.ranks);
}
