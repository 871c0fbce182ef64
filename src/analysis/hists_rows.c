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
	return !h->hists.opts->chains && !h->hists.opts->levels && !h->ignored && !h->depths &&
	       !h->hists.opts->no_callers;
}

/* ---- sums ---- */

struct row_sums {
	struct hists_private *h;
	size_t n_events;
	bool is_met_once;                   /* visits are added up as they come */
	uint32_t *frame_rows[STACK_ARRAYS]; /* [skey][frame]; NULL: none yet */
	VEC(uint32_t) seen;                 /* [row]: the visit it was met in last, + 1 */
	VEC(struct hist_stat) self, children;
	VEC(frameid) frames; /* of learn() */
	const struct visit *visit;
	uint32_t mark; /* of the visit, for seen */
	const struct hist_stat *own;
	struct hist_stat *one; /* [event]: of a sample */
};

static void append_zeros(struct row_sums *s)
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

static uint32_t row_of(struct row_sums *s, uint32_t hop)
{
	uint32_t row = hists_row(s->h, s->visit->skey, hop, s->visit->task);

	if (row == s->seen.n)
		append_zeros(s);
	return row;
}

static uint32_t *frame_rows(struct row_sums *s)
{
	uint32_t skey = s->visit->skey;

	if (skey >= STACK_ARRAYS)
		return NULL;
	if (!s->frame_rows[skey])
		s->frame_rows[skey] =
			xalloc(s->h->hists.profile->samples.n_frames * sizeof(**s->frame_rows));
	return s->frame_rows[skey];
}

static void count(struct row_sums *s, uint32_t row)
{
	if (s->seen.at[row] == s->mark)
		return;
	s->seen.at[row] = s->mark;
	hist_stat_add(&s->children.at[row * s->n_events], s->own, s->n_events);
}

static void count_hops(struct row_sums *s, frameid frame)
{
	if (hists_leaves_out(s->h, frame))
		return;
	const struct frame_hops hops = *hists_hops(s->h, frame);
	for (uint32_t i = 0; i < hops.n; i++)
		count(s, row_of(s, s->h->hop_lists.at[hops.first + i]));
}

/* Rows are numbered from the outermost caller on: so they are found in that order where some are
 * new. Those of frames that are known are not. */
static void learn(struct row_sums *s, uint32_t *rows)
{
	const struct samples *all = &s->h->hists.profile->samples;

	s->frames.n = 0;
	for (stackid i = s->visit->stack; i; i = all->stacks[i].caller)
		vec_push(&s->frames, all->stacks[i].frame);
	while (s->frames.n) {
		frameid frame = s->frames.at[--s->frames.n];
		if (rows && rows[frame] != NOT_KNOWN)
			continue;
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

/* From `stack` on, up to the first one whose frame is not of one row that is known; 0: there is
 * none. The inner loop of a table. */
static stackid count_known(struct row_sums *s, const uint32_t *rows, stackid stack)
{
	const struct stack *stacks = s->h->hists.profile->samples.stacks;
	const struct hist_stat *own = s->own;
	struct hist_stat *children = s->children.at;
	uint32_t *seen = s->seen.at, mark = s->mark;
	size_t n = s->n_events;

	for (; stack; stack = stacks[stack].caller) {
		uint32_t row = rows[stacks[stack].frame];
		if (row == NOT_KNOWN || row == SEVERAL)
			break;
		if (seen[row - 1] == mark)
			continue;
		seen[row - 1] = mark;
		hist_stat_add(&children[(row - 1) * n], own, n);
	}
	return stack;
}

static void count_callers(struct row_sums *s)
{
	const struct stack *stacks = s->h->hists.profile->samples.stacks;
	uint32_t *rows = frame_rows(s);
	stackid at = s->visit->stack;

	if (!rows) {
		learn(s, NULL);
		for (; at; at = stacks[at].caller)
			count_hops(s, stacks[at].frame);
		return;
	}
	while ((at = count_known(s, rows, at))) {
		frameid frame = stacks[at].frame;
		if (rows[frame] == NOT_KNOWN) {
			learn(s, rows);
			continue;
		}
		count_hops(s, frame);
		at = stacks[at].caller;
	}
}

/* The row that gets Self: that of the leaf's frame, if it has only one. */
static uint32_t leaf_row(struct row_sums *s)
{
	stackid stack = s->visit->stack;
	const uint32_t *rows = s->visit->skey < STACK_ARRAYS ? s->frame_rows[s->visit->skey] : NULL;
	uint32_t known = rows ? rows[s->h->hists.profile->samples.stacks[stack].frame] : NOT_KNOWN;

	if (known == NOT_KNOWN || known == SEVERAL)
		return row_of(s, hists_leaf_hop(s->h, stack));
	return known - 1;
}

static void add_visit(struct row_sums *s, const struct visit *visit, const struct hist_stat *own)
{
	s->visit = visit;
	s->own = own;
	s->mark++;
	if (!s->h->hists.opts->no_children)
		count_callers(s);
	uint32_t leaf = leaf_row(s);
	hist_stat_add(&s->self.at[leaf * s->n_events], s->own, s->n_events);
	count(s, leaf);
}

/* ---- samples ---- */

/* Where stacks are more than samples, most are of one sample each: looking whether one was met
 * before, or keeping it, takes longer than adding it up at once. */
static bool is_met_once(const struct samples *s) { return s->n_stacks > s->n; }

static struct row_sums *sums_of(struct hists_private *h)
{
	if (h->row_sums)
		return h->row_sums;
	struct row_sums *s = xalloc(sizeof(*s));
	s->h = h;
	s->n_events = h->hists.opts->n_events;
	s->is_met_once = is_met_once(&h->hists.profile->samples);
	stack_numbers_init(&h->visit_of, h->hists.profile->samples.n_stacks);
	s->one = xalloc((s->n_events + 1) * sizeof(*s->one));
	append_zeros(s); /* so that there is something to point to */
	s->seen.n = s->self.n = s->children.n = 0;
	return h->row_sums = s;
}

static uint32_t new_visit(struct hists_private *h, const struct visit *visit)
{
	size_t n_events = h->hists.opts->n_events;

	vec_push(&h->visits, *visit);
	vec_reserve(&h->own, n_events);
	memset(h->own.at + h->own.n, 0, n_events * sizeof(*h->own.at));
	h->own.n += n_events;
	return (uint32_t)h->visits.n;
}

void hists_rows_add(struct hists_private *h, const struct visit *visit, size_t event,
		    const struct hist_stat *stat)
{
	struct row_sums *s = sums_of(h);
	const struct visit *last = h->visits.n ? &h->visits.at[h->visits.n - 1] : NULL;
	uint32_t at = (uint32_t)h->visits.n;

	if (s->is_met_once) {
		s->one[event] = *stat;
		add_visit(s, visit, s->one);
		s->one[event] = (struct hist_stat){ 0 };
		return;
	}
	if (!last || last->stack != visit->stack || last->skey != visit->skey) {
		uint32_t *known = stack_numbers_at(&h->visit_of, visit->skey, visit->stack);
		if (!*known)
			*known = new_visit(h, visit);
		at = *known;
	}
	hist_stat_add(&h->own.at[(at - 1) * s->n_events + event], stat, 1);
}

void hists_rows_sum(struct hists_private *h)
{
	struct row_sums *s = sums_of(h);

	for (size_t i = 0; i < h->visits.n; i++)
		add_visit(s, &h->visits.at[i], &h->own.at[i * s->n_events]);
	h->self = s->self.at;
	h->children = s->children.at;
	for (size_t i = 0; i < STACK_ARRAYS; i++)
		free(s->frame_rows[i]);
	stack_numbers_done(&h->visit_of);
	vec_free(&s->seen);
	vec_free(&s->frames);
	free(s->one);
	free(s);
	h->row_sums = NULL;
}
