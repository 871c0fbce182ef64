/* hists_passing.c - finds functions that only pass time on: nearly all samples with such a function
 * on their stack are in the same callee. Also finds how many callers functions have. Functions are
 * identified by frame keys; the data is the tree of stacks. */
#include <stdlib.h>
#include <string.h>

#include "analysis/hists_private.h"

/* A function only passes time on if at least this share of its weight is in one callee. */
static const double NEARLY_ALL = 0.99;

struct passing_function {   /* a function, by fkey */
	uint64_t weight;    /* sum over its occurrences on stacks */
	uint32_t callee;    /* the callee with most of the weight, if one has more than half */
	uint64_t lead;      /* lead of that callee during the vote */
	uint64_t to_callee; /* the part of weight that is in `callee` */
	uint32_t target; /* the first function on the way down that does more than pass time on */
	bool passes, on_way, is_done;
};

struct passing_run { /* functions at a frame: fkeys[first .. first + n), outermost first */
	uint32_t first, n;
};

struct passing {
	struct hists_private *h;
	struct passing_run *runs; /* [frame]: for frames on stacks with samples */
	VEC(uint32_t) fkeys;
	struct passing_function *functions;
	uint32_t *innermost; /* [stack]: fkey of the innermost function on it; NONE */
	uint32_t *n_callers; /* [stack]: number of functions on it */
	uint64_t *below;     /* [stack]: weight of its samples and those below */
};

static void sum_stacks(struct passing *p)
{
	const struct samples *s = &p->h->hists.profile->samples;
	for (size_t i = s->n_stacks; i-- > 1;) /* a caller's number is smaller */
		p->below[s->stacks[i].caller] += p->below[i];
}

/* Finds the functions at frames on stacks with samples. Frames that are left out have none. */
static void find_runs(struct passing *p)
{
	struct hists_private *h = p->h;
	const struct samples *s = &h->hists.profile->samples;
	bool *used = xalloc(s->n_frames + 1);
	p->runs = xalloc((s->n_frames + 1) * sizeof(*p->runs));
	for (size_t i = 1; i < s->n_stacks; i++)
		used[s->stacks[i].frame] |= p->below[i] > 0;
	for (frameid f = 0; f < s->n_frames; f++) {
		if (!used[f] || hists_leaves_out(h, f))
			continue;
		const struct frame_hops hops = *hists_hops(h, f);
		p->runs[f] = (struct passing_run){ (uint32_t)p->fkeys.n, hops.n };
		for (uint32_t k = 0; k < hops.n; k++)
			vec_push(&p->fkeys, h->hops.at[h->hop_lists.at[hops.first + k]].fkey);
	}
	free(used);
}

/* The callee with more than half of the weight remains in the end (majority vote, Boyer and
 * Moore). */
static void vote(struct passing_function *f, uint32_t callee, uint64_t weight)
{
	if (f->callee == callee) {
		f->lead += weight;
	} else if (f->lead >= weight) {
		f->lead -= weight;
	} else {
		f->callee = callee;
		f->lead = weight - f->lead;
	}
}

static void count(struct passing_function *f, uint32_t callee, uint64_t weight)
{
	f->to_callee += f->callee == callee ? weight : 0;
}

static void note_callers(struct hists_private *h, uint32_t f, uint32_t n_callers)
{
	h->n_callers[f] = n_callers < h->n_callers[f] ? n_callers : h->n_callers[f];
}

/* Calls call() for each call on stacks that have samples at or below them, callers first. */
static void for_each_call(struct passing *p,
			  void (*call)(struct passing_function *f, uint32_t callee,
				       uint64_t weight),
			  bool first_time)
{
	const struct samples *s = &p->h->hists.profile->samples;
	for (size_t i = 1; i < s->n_stacks; i++) {
		uint32_t caller = p->innermost[s->stacks[i].caller];
		uint32_t n_callers = p->n_callers[s->stacks[i].caller];
		struct passing_run run =
			p->below[i] ? p->runs[s->stacks[i].frame] : (struct passing_run){ 0 };
		for (uint32_t k = run.first; k < run.first + run.n; k++) {
			uint32_t f = p->fkeys.at[k];
			if (first_time) {
				p->functions[f].weight += p->below[i];
				note_callers(p->h, f, n_callers + k - run.first);
			}
			if (caller != NONE)
				call(&p->functions[caller], f, p->below[i]);
			caller = f;
		}
		p->innermost[i] = caller;
		p->n_callers[i] = n_callers + run.n;
	}
}

/* Finds the target of a function. If functions pass time on to each other in a cycle, one of them
 * is taken to keep it. */
static void find_target(struct passing_function *all, uint32_t first)
{
	uint32_t at = first;
	while (all[at].passes && !all[at].on_way && !all[at].is_done) {
		all[at].on_way = true;
		at = all[at].callee;
	}
	if (all[at].on_way)
		all[at].passes = false;
	uint32_t target = all[at].passes ? all[at].target : at;
	for (at = first; all[at].on_way; at = all[at].callee) {
		all[at].on_way = false;
		all[at].is_done = true;
		all[at].target = all[at].passes ? target : NONE;
	}
}

void hists_find_passing(struct hists_private *h)
{
	const struct samples *s = &h->hists.profile->samples;
	struct passing p = { .h = h, .below = h->weight_of };
	sum_stacks(&p);
	find_runs(&p);
	size_t n = h->fkeys.n;
	p.functions = xalloc((n + 1) * sizeof(*p.functions));
	p.innermost = xalloc((s->n_stacks + 1) * sizeof(*p.innermost));
	p.n_callers = xalloc((s->n_stacks + 1) * sizeof(*p.n_callers));
	p.innermost[0] = NONE;
	h->n_callers = xrealloc(NULL, n + 1, sizeof(*h->n_callers));
	memset(h->n_callers, 0xff, (n + 1) * sizeof(*h->n_callers));
	for (size_t i = 0; i < n; i++)
		p.functions[i].callee = p.functions[i].target = NONE;
	for_each_call(&p, vote, true);
	for_each_call(&p, count, false);
	for (uint32_t i = 0; i < n; i++) {
		struct passing_function *f = &p.functions[i];
		f->passes = f->callee != NONE && f->callee != i &&
			    (double)f->to_callee >= NEARLY_ALL * (double)f->weight;
	}
	h->targets = xrealloc(NULL, n + 1, sizeof(*h->targets));
	for (uint32_t i = 0; i < n; i++)
		find_target(p.functions, i);
	for (uint32_t i = 0; i < n; i++)
		h->targets[i] = p.functions[i].passes ? p.functions[i].target : NONE;
	free(p.functions);
	free(p.innermost);
	free(p.n_callers);
	free(p.runs);
	vec_free(&p.fkeys);
}

/* Whether a row is a function, and not a mark for missing callers: "[cut]", "[unknown]". Functions
 * that have only an address, "[0x1234]", count. */
static bool is_function(const struct hists *h, const struct hist_row *row)
{
	if (!hist_is_named(h, row))
		return false;
	const char *name = program_name(h->program, row->place);
	return !(h->profile->samples.frames[row->frame].flags & FRAME_MARK) &&
	       (name[0] != '[' || !strncmp(name, "[0x", 3));
}

uint32_t hists_target(const struct hists *h, size_t row)
{
	const struct hists_private *p = h->priv;
	return p->targets && is_function(h, &h->rows[row]) ? p->targets[h->rows[row].fkey] : NONE;
}

uint32_t hists_n_callers(const struct hists *h, size_t row)
{
	return h->priv->n_callers ? h->priv->n_callers[h->rows[row].fkey] : 0;
}
