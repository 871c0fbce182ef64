/* hists_levels.c - sorts rows, and sums them up level by level. */
#include "report/hists_levels.h"

#include <stdlib.h>
#include <string.h>

/* order: of the rows; NULL: as they are */
static void plain(const struct hists *h, const uint32_t *order, struct hists_levels *ret)
{
	size_t n_events = h->opts->n_events;
	ret->at = xrealloc(NULL, h->n, sizeof(*ret->at));
	for (uint32_t i = 0; i < h->n; i++) {
		uint32_t row = order ? order[i] : i;
		ret->at[i] = (struct hists_entry){ .row = row,
						   .is_leaf = true,
						   .self = &h->self[row * n_events],
						   .children = &h->children[row * n_events] };
	}
	ret->n = h->n;
}

/* ---- levels ---- */

struct level_node { /* rows order[first .. end), which have equal keys up to `level` */
	size_t first, end;
	uint32_t level;
	size_t sums; /* index of the node's sums */
};

struct level_maker {
	const struct hists *h;
	const uint32_t *order; /* sorted by keys */
	struct hists_levels *ret;
	size_t n_sums;
};

static bool same_key(const struct hists *h, uint32_t a, uint32_t b, uint32_t level)
{
	enum hist_key key = h->opts->keys[level];
	return hists_value(h, a, key) == hists_value(h, b, key);
}

static struct hist_stat *sum_up(struct level_maker *m, size_t first, size_t end)
{
	size_t n_events = m->h->opts->n_events;
	struct hist_stat *sums = &m->ret->sums[m->n_sums];
	m->n_sums += n_events;
	for (size_t i = first; i < end; i++)
		for (size_t e = 0; e < n_events; e++) {
			const struct hist_stat *s = &m->h->self[m->order[i] * n_events + e];
			sums[e].weight += s->weight;
			sums[e].count += s->count;
			sums[e].latency += s->latency;
		}
	return sums;
}

struct level_part {
	size_t first, end;
	struct hist_stat *sums;
};

static int by_weight(const void *a, const void *b)
{
	const struct level_part *x = a, *y = b;
	if (x->sums->weight != y->sums->weight)
		return x->sums->weight > y->sums->weight ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* Adds the levels of a range of rows. The recursion ends after the last key. */
static void add_level(struct level_maker *m, size_t first, size_t end, uint32_t level)
{
	VEC(struct level_part) parts = { 0 };
	for (size_t i = first, stop; i < end; i = stop) {
		for (stop = i + 1; stop < end && same_key(m->h, m->order[i], m->order[stop], level);
		     stop++)
			;
		vec_push(&parts, ((struct level_part){ i, stop, sum_up(m, i, stop) }));
	}
	if (parts.n)
		qsort(parts.at, parts.n, sizeof(*parts.at), by_weight);
	bool last = level + 1 == m->h->opts->n_keys;
	for (size_t i = 0; i < parts.n; i++) {
		const struct level_part *p = &parts.at[i];
		m->ret->at[m->ret->n++] = (struct hists_entry){
			m->order[p->first], level, last, p->sums, p->sums, 0, 0
		};
		if (!last)
			add_level(m, p->first, p->end, level + 1);
	}
	vec_free(&parts);
}

static void by_levels(const struct hists *h, struct hists_levels *ret)
{
	size_t n_keys = h->opts->n_keys, n = h->n * n_keys;
	struct hist_term terms[N_HIST_KEYS];
	uint32_t *order;
	if (!n)
		return;
	for (size_t i = 0; i < n_keys; i++)
		terms[i] = (struct hist_term){ .kind = TERM_KEY,
					       .key = h->opts->keys[i],
					       .apart = true };
	hists_sort(h, terms, n_keys, &order);
	ret->at = xrealloc(NULL, n, sizeof(*ret->at));
	ret->sums = xalloc(n * h->opts->n_events * sizeof(*ret->sums));
	struct level_maker m = { h, order, ret, 0 };
	add_level(&m, 0, h->n, 0);
	free(order);
}

void hists_levels_make(const struct hists *h, const struct hists_ask *a, struct hists_levels *ret)
{
	uint32_t *order = NULL;
	*ret = (struct hists_levels){ 0 };
	if (a->given->hierarchy) {
		by_levels(h, ret);
		return;
	}
	if (!a->overview) /* which has an order of its own */
		hists_sort(h, a->terms.at, a->terms.n, &order);
	plain(h, order, ret);
	free(order);
}

void hists_levels_free(struct hists_levels *l)
{
	free(l->at);
	free(l->sums);
	*l = (struct hists_levels){ 0 };
}
