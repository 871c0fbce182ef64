/* hists_order.c - sorts rows. */
#include <stdlib.h>
#include <string.h>

#include "analysis/hist_key.h"
#include "analysis/hists_private.h"
#include "base/sort.h"

/* ---- ranks of keys: names are compared once, not for each pair of rows ---- */

struct named_hist {
	uint32_t row; /* the first row with this value */
	uint32_t value;
	bool unknown;          /* comes last; all unknown values are equal */
	enum hist_owner owner; /* values of the kernel come last */
	const char *text;
};

static bool same_names(const struct named_hist *x, const struct named_hist *y)
{
	if (x->unknown || y->unknown)
		return x->unknown && y->unknown;
	return x->owner == y->owner && !strcmp(x->text, y->text);
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

struct valued_row {
	uint32_t row, value;
};

static int by_wide(const void *a, const void *b, void *arg)
{
	const struct hists *h = arg;
	uint64_t x = hist_wide(h->priv, ((const struct valued_row *)a)->value),
		 y = hist_wide(h->priv, ((const struct valued_row *)b)->value);
	return x < y ? -1 : x > y;
}

/* The address of a row without a name; 0: it has a name. */
static uint64_t address_of(const struct hists *h, uint32_t row)
{
	const struct hist_row *r = &h->rows[row];
	return hist_is_named(h, r) ? 0 : h->profile->samples.frames[r->frame].addr;
}

/* Instructions per cycle are sorted by the start of the function. */
static int by_start(const void *a, const void *b, void *arg)
{
	const struct hists *h = arg;
	uint32_t ra = ((const struct valued_row *)a)->row, rb = ((const struct valued_row *)b)->row;
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

/* Ranks rows; those that `by` considers equal have equal ranks. */
static void rank_by(const struct hists *h, enum hist_key key,
		    int (*by)(const void *, const void *, void *), uint32_t *rank)
{
	struct hists *arg = UNCONST(struct hists *, h);
	struct valued_row *list = xrealloc(NULL, h->n, sizeof(*list));
	for (size_t i = 0; i < h->n; i++)
		list[i] = (struct valued_row){ (uint32_t)i, hists_value(h, i, key) };
	if (h->n)
		qsort_r(list, h->n, sizeof(*list), by, arg);
	for (size_t i = 0; i < h->n; i++)
		rank[list[i].row] =
			i && !by(&list[i - 1], &list[i], arg) ? rank[list[i - 1].row] : (uint32_t)i;
	free(list);
}

static size_t distinct_values(const struct hists *h, enum hist_key key, const struct sort_key *keys,
			      struct named_hist *ret)
{
	size_t n = 0;
	for (size_t i = 0; i < h->n; i++) {
		if (n && ret[n - 1].value == keys[i].key)
			continue;
		struct named_hist v = { .row = keys[i].index, .value = (uint32_t)keys[i].key };
		v.text = hists_text(h, v.row, key);
		v.unknown = is_unknown(h, &v, key);
		v.owner = hists_owner(h, v.row, key);
		ret[n++] = v;
	}
	return n;
}

/* Indices into values: known values first, those of the kernel after others; then by name, then by
 * value. */
static struct sort_key *in_order_of_names(const struct named_hist *values, size_t n)
{
	struct sort_name *names = xrealloc(NULL, n + 1, sizeof(*names));
	struct sort_key *ret = xrealloc(NULL, n + 1, sizeof(*ret));
	for (size_t i = 0; i < n; i++)
		names[i] =
			(struct sort_name){ values[i].unknown ? "" : values[i].text, (uint32_t)i };
	sort_names(names, n);
	for (size_t i = 0; i < n; i++) {
		const struct named_hist *v = &values[names[i].index];
		uint64_t group = v->unknown ? UINT32_MAX : (uint64_t)v->owner;
		ret[i] = (struct sort_key){ group, names[i].index };
	}
	sort_keys(ret, n);
	free(names);
	return ret;
}

/* Ranks names. A function has a place in each object with a function of its name. Places with equal
 * names have equal ranks, because later keys distinguish them; with `apart` they are ranked by
 * value. */
static void rank_names(const struct hists *h, enum hist_key key, bool apart, uint32_t *rank)
{
	struct sort_key *keys = xrealloc(NULL, h->n + 1, sizeof(*keys));
	struct named_hist *values = xrealloc(NULL, h->n + 1, sizeof(*values));
	for (size_t i = 0; i < h->n; i++)
		keys[i] = (struct sort_key){ hists_value(h, i, key), (uint32_t)i };
	sort_keys(keys, h->n);
	size_t n = distinct_values(h, key, keys, values);
	struct sort_key *order = in_order_of_names(values, n);
	uint32_t *rank_of = xrealloc(NULL, n + 1, sizeof(*rank_of)), last = 0;
	for (size_t i = 0; i < n; i++) {
		last += i && (apart ||
			      !same_names(&values[order[i].index], &values[order[i - 1].index]));
		rank_of[order[i].index] = last;
	}
	for (size_t i = 0, v = 0; i < h->n; i++) {
		v += values[v].value != keys[i].key;
		rank[keys[i].index] = rank_of[v];
	}
	free(rank_of);
	free(order);
	free(values);
	free(keys);
}

static uint32_t *ranks_of(const struct hists *h, enum hist_key key, bool apart)
{
	uint32_t *rank = xrealloc(NULL, h->n, sizeof(*rank));
	if (hist_keys[key].wide)
		rank_by(h, key, by_wide, rank);
	else if (key == HIST_IPC)
		rank_by(h, key, by_start, rank);
	else if (!hist_keys[key].number)
		rank_names(h, key, apart, rank);
	else
		for (size_t i = 0; i < h->n; i++)
			rank[i] = hists_value(h, i, key);
	return rank;
}

/* ---- sorting ---- */

struct sorter {
	const struct hists *h;
	const struct hist_term *terms;
	size_t n;
	uint32_t **ranks; /* [term]; NULL for figures */
};

/* The ascending sort key of a row, for one term and event. */
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

/* The number of events that a term sorts by, of a group the leader first. Children are sorted by
 * the leader only. */
static size_t events_of(const struct sorter *s, size_t term)
{
	size_t n = s->h->opts->n_events;

	if (s->terms[term].kind == TERM_KEY)
		return 1;
	return s->terms[term].kind == TERM_CHILDREN && n ? 1 : n;
}

/* The key for rows that tie: the place, unless such rows stay in their order. */
static uint64_t tie_of(const struct hists *h, uint32_t row)
{
	const struct hist_row *r = &h->rows[row];
	return h->priv->rules->ties_as_data ? 0 : (uint64_t)r->place << 1 | r->inlined;
}

/* Sorts by the least significant key first. Rows that tie in all keys stay in the order of their
 * numbers. */
static void sort_rows(const struct sorter *s, uint32_t *rows)
{
	size_t n = s->h->n;
	struct sort_key *keys = xrealloc(NULL, n, sizeof(*keys));

	for (size_t i = 0; i < n; i++)
		keys[i] = (struct sort_key){ tie_of(s->h, (uint32_t)i), (uint32_t)i };
	sort_keys(keys, n);
	for (size_t i = 0; i < n; i++)
		keys[i].key = address_of(s->h, keys[i].index);
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

/* Rows with equal Children, as a list in which the rows of one thread are sorted by depth. */
struct mover {
	const struct sorter *s;
	uint32_t *next; /* [row]: next row in the list; NONE: the end */
	uint32_t *prev; /* [row]: previous row in the list; NONE: the start */
	uint32_t first, last;
	struct sort_key *keys; /* rows by thread and depth; index: the place among those to move */
	uint32_t *lower;       /* [place]: see find_lower() */
};

static uint64_t thread_of(const struct hists *h, uint32_t row)
{
	const struct task *t = &h->profile->samples.tasks[h->rows[row].task];
	return MAP64_PAIR(t->tid, t->run);
}

/* Sorts keys[] by thread, and within a thread in the order its rows must have: callers above
 * callees. */
static void sort_by_depth(struct mover *m, const uint32_t *rows, size_t n)
{
	const struct hists *h = m->s->h;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t depth = h->rows[rows[i]].depth;
		m->keys[i] =
			(struct sort_key){ h->opts->order == CHAIN_CALLER ? ~depth : depth, i };
	}
	sort_keys(m->keys, n);
	for (size_t i = 0; i < n; i++)
		m->keys[i].key = thread_of(h, rows[m->keys[i].index]);
	sort_keys(m->keys, n);
}

/* Fills lower[i]: the uppermost of the rows before rows[i] that must come below it; NONE: rows[i]
 * comes last. In the thread's order this is the next row whose place is before i, as the rows in
 * between have later places. */
static void find_lower(struct mover *m, size_t n)
{
	const struct sort_key *keys = m->keys;
	for (size_t i = n; i--;) {
		uint32_t at =
			i + 1 < n && keys[i + 1].key == keys[i].key ? keys[i + 1].index : NONE;
		while (at != NONE && at > keys[i].index)
			at = m->lower[at];
		m->lower[keys[i].index] = at;
	}
}

static void put_before(struct mover *m, uint32_t row, uint32_t other)
{
	uint32_t before = other == NONE ? m->last : m->prev[other];
	m->prev[row] = before;
	m->next[row] = other;
	*(before == NONE ? &m->first : &m->next[before]) = row;
	*(other == NONE ? &m->last : &m->prev[other]) = row;
}

/* Sorts rows[0 .. n), which have equal Children, by depth within each thread. */
static void move_callers(struct mover *m, uint32_t *rows, size_t n)
{
	sort_by_depth(m, rows, n);
	find_lower(m, n);
	m->first = m->last = NONE;
	for (size_t i = 0; i < n; i++)
		put_before(m, rows[i], m->lower[i] == NONE ? NONE : rows[m->lower[i]]);
	uint32_t at = m->first;
	for (size_t i = 0; i < n; i++, at = m->next[at])
		rows[i] = at;
}

static void move_all(const struct sorter *s, uint32_t *rows)
{
	size_t n = s->h->n;
	struct mover m = { .s = s };
	m.next = xrealloc(NULL, n, sizeof(*m.next));
	m.prev = xrealloc(NULL, n, sizeof(*m.prev));
	m.keys = xrealloc(NULL, n, sizeof(*m.keys));
	m.lower = xrealloc(NULL, n, sizeof(*m.lower));
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1;
		     end < n && sort_key_of(s, 0, 0, rows[i]) == sort_key_of(s, 0, 0, rows[end]);
		     end++)
			;
		if (end - i > 1)
			move_callers(&m, rows + i, end - i);
	}
	free(m.next);
	free(m.prev);
	free(m.keys);
	free(m.lower);
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
