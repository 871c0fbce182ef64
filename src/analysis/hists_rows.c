/* hists_rows.c - rows without chains: Self and Children of each by one walk along each stack that
 * has samples. That takes no tree of paths, which most of the time of chains goes into. */
#include <stdlib.h>
#include <string.h>

#include "analysis/hists_private.h"

/* In frame_rows; else the row + 1. */
enum { NOT_KNOWN = 0 };
static const uint32_t SEVERAL = UINT32_MAX; /* any number but one: functions inlined there, or an
					     * inlined function that is none */

bool hists_rows_suffice(const struct hists_private *h)
{
	return !h->hists.opts->chains && !h->hists.opts->levels && !h->ignored && !h->depths;
}

/* Where stacks are many more than samples, they are of one sample each: looking whether one was
 * met before takes longer than adding it up again. */
static bool is_met_once(const struct samples *s) { return s->n_stacks / 4 > s->n; }

static uint32_t new_visit(struct hists_private *h, stackid stack, uint32_t skey, taskid task)
{
	size_t n_events = h->hists.opts->n_events;

	if (!h->visits.n) { /* once: what is not touched costs nothing */
		vec_reserve(&h->visits, h->hists.profile->samples.n);
		vec_reserve(&h->own, h->hists.profile->samples.n * n_events);
	}
	vec_push(&h->visits, ((struct visit){ stack, skey, task }));
	vec_reserve(&h->own, n_events);
	memset(h->own.at + h->own.n, 0, n_events * sizeof(*h->own.at));
	h->own.n += n_events;
	return (uint32_t)h->visits.n;
}

void hists_rows_add(struct hists_private *h, stackid stack, uint32_t skey, taskid task,
		    size_t event, const struct hist_stat *stat)
{
	size_t n_events = h->hists.opts->n_events;
	const struct visit *last = h->visits.n ? &h->visits.at[h->visits.n - 1] : NULL;
	uint32_t visit = (uint32_t)h->visits.n;

	if (!last || last->stack != stack || last->skey != skey) {
		bool once = is_met_once(&h->hists.profile->samples);
		uint32_t *known = once ? &(uint32_t){ 0 } : hists_of_stack(h, stack, skey);
		if (!*known)
			*known = new_visit(h, stack, skey, task);
		visit = *known;
	}
	hist_stat_add(&h->own.at[(visit - 1) * n_events + event], stat, 1);
}

/* ---- sums ---- */

struct sums {
	struct hists_private *h;
	size_t n_events;
	uint32_t *frame_rows[SKEY_ARRAYS]; /* [skey][frame]; NULL: none yet */
	VEC(uint32_t) seen;                /* [row]: the visit it was met in last, + 1 */
	VEC(struct hist_stat) self, children;
	VEC(frameid) frames; /* of learn() */
	const struct visit *visit;
	uint32_t mark; /* of the visit, for seen */
	const struct hist_stat *own;
};

static void append_zeros(struct sums *s)
{
	size_t n = s->n_events;

	vec_reserve(&s->self, n + 1); /* there may be no events */
	vec_reserve(&s->children, n + 1);
	memset(s->self.at + s->self.n, 0, n * sizeof(*s->self.at));
	memset(s->children.at + s->children.n, 0, n * sizeof(*s->children.at));
	s->self.n += n;
	s->children.n += n;
	vec_push(&s->seen, 0);
}

static uint32_t row_of(struct sums *s, uint32_t hop)
{
	uint32_t row = hists_row(s->h, s->visit->skey, hop, s->visit->task);

	if (row == s->seen.n)
		append_zeros(s);
	return row;
}

static uint32_t *frame_rows(struct sums *s)
{
	uint32_t skey = s->visit->skey;

	if (skey >= SKEY_ARRAYS)
		return NULL;
	if (!s->frame_rows[skey])
		s->frame_rows[skey] =
			xalloc(s->h->hists.profile->samples.n_frames * sizeof(**s->frame_rows));
	return s->frame_rows[skey];
}

static void count(struct sums *s, uint32_t row)
{
	if (s->seen.at[row] == s->mark)
		return;
	s->seen.at[row] = s->mark;
	hist_stat_add(&s->children.at[row * s->n_events], s->own, s->n_events);
}

static void count_hops(struct sums *s, frameid frame)
{
	if (hists_leaves_out(s->h, frame))
		return;
	const struct frame_hops hops = *hists_hops(s->h, frame);
	for (uint32_t i = 0; i < hops.n; i++)
		count(s, row_of(s, s->h->hop_lists.at[hops.first + i]));
}

/* Rows are numbered from the outermost caller on: so they are found in that order where some are
 * new. */
static void learn(struct sums *s, uint32_t *rows)
{
	const struct samples *all = &s->h->hists.profile->samples;

	s->frames.n = 0;
	for (stackid i = s->visit->stack; i; i = all->stacks[i].caller)
		vec_push(&s->frames, all->stacks[i].frame);
	while (s->frames.n) {
		frameid frame = s->frames.at[--s->frames.n];
		const struct frame_hops hops = hists_leaves_out(s->h, frame)
						       ? (struct frame_hops){ 0 }
						       : *hists_hops(s->h, frame);
		uint32_t row = 0;
		for (uint32_t i = 0; i < hops.n; i++)
			row = row_of(s, s->h->hop_lists.at[hops.first + i]);
		if (rows)
			rows[frame] = hops.n == 1 ? row + 1 : SEVERAL;
	}
}

static void count_callers(struct sums *s, uint32_t *rows)
{
	const struct stack *stacks = s->h->hists.profile->samples.stacks;

	if (!rows)
		learn(s, NULL);
	for (stackid i = s->visit->stack; i; i = stacks[i].caller) {
		frameid frame = stacks[i].frame;
		if (rows && rows[frame] == NOT_KNOWN)
			learn(s, rows);
		if (!rows || rows[frame] == SEVERAL)
			count_hops(s, frame);
		else
			count(s, rows[frame] - 1);
	}
}

static void add_visit(struct sums *s, size_t i)
{
	s->visit = &s->h->visits.at[i];
	s->own = &s->h->own.at[i * s->n_events];
	s->mark = (uint32_t)i + 1;
	if (!s->h->hists.opts->no_children)
		count_callers(s, frame_rows(s));
	uint32_t leaf = row_of(s, hists_leaf_hop(s->h, s->visit->stack));
	hist_stat_add(&s->self.at[leaf * s->n_events], s->own, s->n_events);
	count(s, leaf);
}

void hists_rows_sum(struct hists_private *h)
{
	struct sums s = { .h = h, .n_events = h->hists.opts->n_events };

	append_zeros(&s); /* so that there is something to point to */
	s.seen.n = s.self.n = s.children.n = 0;
	for (size_t i = 0; i < h->visits.n; i++)
		add_visit(&s, i);
	h->self = s.self.at;
	h->children = s.children.at;
	for (size_t i = 0; i < SKEY_ARRAYS; i++)
		free(s.frame_rows[i]);
	vec_free(&s.seen);
	vec_free(&s.frames);
}
