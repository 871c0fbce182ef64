/* hists_stacks.c - rows without chains: sums over stacks, without paths. */
#include <stdlib.h>
#include <string.h>

#include "analysis/hists_private.h"

bool hists_stacks_suffice(const struct hists_private *h)
{
	return !h->hists.opts->chains && !h->hists.opts->levels && !h->ignored && !h->depths &&
	       !h->hists.opts->no_callers;
}

struct stack_sums {
	struct hists_private *h;
	size_t n_events;
	bool is_met_once;       /* visits are added up as they come */
	bool is_leaf_elsewhere; /* Self of frames that the data marks as inlined goes to a caller */
	const struct visit *visit;
	struct stack_groups groups; /* groups are rows, roots are skeys */
	VEC(uint32_t) rows;         /* rows of the frame that was looked up last */
	VEC(struct hist_stat) self, children;
	struct hist_stat *one; /* [event]: sums of one sample */
};

static struct path_places rows_of(void *arg, uint32_t skey, frameid frame)
{
	struct stack_sums *s = arg;

	s->rows.n = 0;
	if (hists_leaves_out(s->h, frame))
		return (struct path_places){ 0 };
	const struct frame_hops hops = *hists_hops(s->h, frame);
	for (uint32_t i = 0; i < hops.n; i++)
		vec_push(&s->rows,
			 hists_row(s->h, skey, s->h->hop_lists.at[hops.first + i], s->visit->task));
	return (struct path_places){ s->rows.at, s->rows.n };
}

static void add_room(struct stack_sums *s)
{
	size_t lacking = s->h->rows.n * s->n_events - s->self.n;

	if (!lacking)
		return;
	vec_reserve(&s->self, lacking);
	vec_reserve(&s->children, lacking);
	memset(s->self.at + s->self.n, 0, lacking * sizeof(*s->self.at));
	memset(s->children.at + s->children.n, 0, lacking * sizeof(*s->children.at));
	s->self.n += lacking;
	s->children.n += lacking;
}

/* The row that gets Self: most often it is the only row of the innermost frame. */
static uint32_t leaf_row(const struct stack_sums *s, const struct visit *visit)
{
	uint32_t row = s->is_leaf_elsewhere
			       ? NONE
			       : stack_groups_leaf(&s->groups, visit->skey, visit->stack);
	return row != NONE ? row
			   : hists_row(s->h, visit->skey, hists_leaf_hop(s->h, visit->stack),
				       visit->task);
}

/* Latencies that are not the weight: those that are need no sum of their own. */
static void add_latencies(struct stack_sums *s, struct path_places rows,
			  const struct hist_stat *own)
{
	size_t n = s->n_events;

	for (size_t e = 0; e < n; e++) {
		double more = own[e].latency - (double)own[e].weight;
		for (size_t i = 0; i < rows.n && more != 0; i++)
			s->children.at[rows.at[i] * n + e].latency += more;
	}
}

static void add_visit(struct stack_sums *s, const struct visit *visit, const struct hist_stat *own)
{
	size_t n = s->n_events;
	struct path_sum *totals = NULL;

	s->visit = visit;
	if (!s->h->hists.opts->no_children)
		totals = stack_groups_at(&s->groups, visit->skey, visit->stack);
	for (size_t i = 0; i < n && totals; i++) {
		totals[i].weight += own[i].weight;
		totals[i].count += own[i].count;
	}
	uint32_t leaf = leaf_row(s, visit);
	add_room(s);
	if (totals && s->h->has_latency)
		add_latencies(s, stack_groups_on(&s->groups, visit->skey), own);
	hist_stat_add(&s->self.at[leaf * n], own, n);
	if (!stack_groups_has(&s->groups, leaf))
		hist_stat_add(&s->children.at[leaf * n], own, n);
}

/* Adds the sums over the stacks to Children. */
static void finish(struct stack_sums *s)
{
	const struct path_sum *sums = s->groups.sums.at;

	stack_groups_finish(&s->groups);
	for (size_t i = 0; i < s->groups.sums.n; i++) {
		const struct hist_stat stat = { sums[i].weight, sums[i].count,
						(double)sums[i].weight };
		hist_stat_add_one(&s->children.at[i], &stat);
	}
	stack_groups_done(&s->groups);
}

/* ---- samples ---- */

/* If there are more stacks than samples, most stacks have one sample each. To look up or store a
 * stack then takes longer than to add it up at once. */
static bool is_met_once(const struct samples *s) { return s->n_stacks > s->n; }

static bool has_inlined_frames(const struct samples *s)
{
	bool any = false;
	for (size_t i = 0; i < s->n_frames; i++)
		any |= s->frames[i].flags & FRAME_INLINED;
	return any;
}

static struct stack_sums *sums_of(struct hists_private *h)
{
	if (h->stack_sums)
		return h->stack_sums;
	const struct samples *samples = &h->hists.profile->samples;
	struct stack_sums *s = xalloc(sizeof(*s));
	s->h = h;
	s->n_events = h->hists.opts->n_events;
	s->is_met_once = is_met_once(samples);
	s->is_leaf_elsewhere = h->hists.opts->self_physical && has_inlined_frames(samples);
	stack_groups_init(&s->groups, samples, s->n_events, rows_of, s);
	stack_numbers_init(&h->visit_of, samples->n_stacks);
	s->one = xalloc((s->n_events + 1) * sizeof(*s->one));
	vec_reserve(&s->self, 1); /* so that the pointers are valid */
	vec_reserve(&s->children, 1);
	return h->stack_sums = s;
}

static uint32_t new_visit(struct hists_private *h, const struct visit *visit)
{
	vec_push(&h->visits, *visit);
	hists_new_own(h);
	return (uint32_t)h->visits.n;
}

void hists_stacks_add(struct hists_private *h, const struct visit *visit, size_t event,
		      const struct hist_stat *stat)
{
	struct stack_sums *s = sums_of(h);
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

void hists_stacks_sum(struct hists_private *h)
{
	struct stack_sums *s = sums_of(h);

	for (size_t i = 0; i < h->visits.n; i++)
		add_visit(s, &h->visits.at[i], &h->own.at[i * s->n_events]);
	finish(s);
	h->self = s->self.at;
	h->children = s->children.at;
	stack_numbers_done(&h->visit_of);
	vec_free(&s->rows);
	free(s->one);
	free(s);
	h->stack_sums = NULL;
}
