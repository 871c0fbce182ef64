/* hists_order.c - rows in order. */
#include <stdlib.h>
#include <string.h>

#include "analysis/hist_key.h"
#include "analysis/hists_private.h"
#include "base/sort.h"

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

/* ---- sorting ---- */

struct sorter {
	const struct hists *h;
	const struct hist_term *terms;
	size_t n;
	uint32_t **ranks; /* [term]; NULL for figures */
};

/* What a row is sorted by, ascending: the term, of an event. */
static uint64_t sort_key_of(const struct sorter *s, size_t term, size_t event, uint32_t row)
{
	const struct hist_term *t = &s->terms[term];
	size_t at = row * s->h->opts->n_events + event;

	switch (t->kind) {
	case TERM_KEY:
		return hist_keys[t->key].descending ? ~(uint64_t)s->ranks[term][row]
						    : s->ranks[term][row];
	case TERM_CHILDREN:
		return ~s->h->children[at].weight;
	case TERM_SELF:
	case TERM_WEIGHT:
		return ~s->h->self[at].weight;
	case TERM_LATENCY_CHILDREN:
		return ~sort_key_of_double(s->h->children[at].latency);
	case TERM_LATENCY:
		return ~sort_key_of_double(s->h->self[at].latency);
	case TERM_COUNT:
		return ~s->h->self[at].count;
	case TERM_LEVEL:
		return ~s->h->levels[at][t->level];
	}
	return 0;
}

/* Of a group the leader decides first; of Children it alone. */
static size_t events_of(const struct sorter *s, size_t term)
{
	size_t n = s->h->opts->n_events;

	if (s->terms[term].kind == TERM_KEY)
		return 1;
	return s->terms[term].kind == TERM_CHILDREN && n ? 1 : n;
}

/* By what decides least first: rows that nothing tells apart stay in the order of their numbers. */
static void sort_rows(const struct sorter *s, uint32_t *rows)
{
	size_t n = s->h->n;
	struct sort_key *keys = xrealloc(NULL, n, sizeof(*keys));

	for (size_t i = 0; i < n; i++)
		keys[i] = (struct sort_key){ address_of(s->h, (uint32_t)i), (uint32_t)i };
	sort_keys(keys, n);
	for (size_t term = s->n; term--;)
		for (size_t event = events_of(s, term); event--;) {
			for (size_t i = 0; i < n; i++)
				keys[i].key = sort_key_of(s, term, event, keys[i].index);
			sort_keys(keys, n);
		}
	for (size_t i = 0; i < n; i++)
		rows[i] = keys[i].index;
	free(keys);
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
		for (end = i + 1;
		     end < n && sort_key_of(s, 0, 0, rows[i]) == sort_key_of(s, 0, 0, rows[end]);
		     end++)
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
	for (size_t i = 0; i < n_terms; i++)
		if (terms[i].kind == TERM_KEY)
			s.ranks[i] = ranks_of(h, terms[i].key, terms[i].apart);
	sort_rows(&s, *ret);
	if (n_terms && terms[0].kind == TERM_CHILDREN && h->opts->chains && h->opts->n_events)
		move_all(&s, *ret);
	for (size_t i = 0; i < n_terms; i++)
		free(s.ranks[i]);
	free(s.ranks);
}
