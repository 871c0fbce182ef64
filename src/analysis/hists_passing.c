/* hists_passing.c - finds functions that only pass time on: nearly all samples with such a function
 * on their stack are in the same callee or, if it is an address in a library without names, in any.
 * Also finds how many callers functions have. Functions are identified by frame keys; the data is
 * the tree of stacks. */
#include <stdlib.h>
#include <string.h>

#include "analysis/hists_private.h"

/* A function only passes time on if at least this share of its weight is in one callee. */
static const double NEARLY_ALL = 0.99;

struct passing_vote { /* for the callee that has more than half of a function's weight */
	uint64_t lead;
	uint32_t callee;  /* if one has more than half, it is this one; NONE: there is no callee */
	bool is_nameless; /* code of a library without names: passes time on to any callees */
};

struct passing_function { /* a function, by fkey */
	uint32_t target;  /* the first function on the way down that does more than pass time on */
	bool passes, on_way, is_done;
};

struct passing_end {          /* of a stack */
	uint32_t function;    /* fkey of the innermost one; NONE: it has none */
	uint32_t n_functions; /* on the whole stack */
};

static const uint32_t SEVERAL = NONE - 1; /* no fkey */

struct passing {
	struct hists_private *h;
	/* [frame]: fkey of its only function; NONE: it has none, or is on no stack with samples;
	 * SEVERAL: hists_hops() has them */
	uint32_t *fkeys;
	/* [fkey]. Arrays of their own: the passes over all stacks touch them at random. */
	uint64_t *weights; /* sum over the function's occurrences on stacks */
	struct passing_vote *votes;
	uint64_t *to_callee; /* the part of the weight that is in the vote's callee */
	struct passing_function *functions;
	struct passing_end *ends; /* [stack] */
	uint64_t *below;          /* [stack]: weight of its samples and those below */
};

static void sum_stacks(struct passing *p)
{
	const struct samples *s = &p->h->hists.profile->samples;
	for (size_t i = s->n_stacks; i-- > 1;) /* a caller's number is smaller */
		p->below[s->stacks[i].caller] += p->below[i];
}

/* Finds the functions at frames on stacks with samples. Frames that are left out have none. */
static void find_functions(struct passing *p)
{
	struct hists_private *h = p->h;
	const struct samples *s = &h->hists.profile->samples;
	bool *used = xalloc(s->n_frames + 1);
	p->fkeys = xrealloc(NULL, s->n_frames + 1, sizeof(*p->fkeys));
	for (size_t i = 1; i < s->n_stacks; i++)
		used[s->stacks[i].frame] |= p->below[i] > 0;
	for (frameid f = 0; f < s->n_frames; f++) {
		p->fkeys[f] = NONE;
		if (!used[f] || hists_leaves_out(h, f))
			continue;
		const struct frame_hops hops = *hists_hops(h, f);
		p->fkeys[f] = hops.n == 1 ? h->hops.at[h->hop_lists.at[hops.first]].fkey : SEVERAL;
	}
	free(used);
}

/* The callee with more than half of the weight remains in the end (majority vote, Boyer and
 * Moore). */
static void vote(struct passing_vote *v, uint32_t callee, uint64_t weight)
{
	if (v->callee == callee) {
		v->lead += weight;
	} else if (v->lead >= weight) {
		v->lead -= weight;
	} else {
		v->callee = callee;
		v->lead = weight - v->lead;
	}
}

/* A function on a stack with that weight, called by `caller`. */
static void see_call(struct passing *p, struct passing_end caller, uint32_t f, uint64_t weight)
{
	uint32_t *n_callers = &p->h->n_callers[f];

	p->weights[f] += weight;
	*n_callers = caller.n_functions < *n_callers ? caller.n_functions : *n_callers;
	if (caller.function != NONE)
		vote(&p->votes[caller.function], f, weight);
}

static void count_call(struct passing *p, struct passing_end caller, uint32_t f, uint64_t weight)
{
	const struct passing_vote *v = caller.function == NONE ? NULL : &p->votes[caller.function];
	if (v && (v->callee == f || v->is_nameless))
		p->to_callee[caller.function] += weight;
}

static inline struct passing_end called_by(struct passing_end caller, uint32_t f)
{
	return (struct passing_end){ f, caller.n_functions + 1 };
}

typedef void passing_call(struct passing *p, struct passing_end caller, uint32_t f,
			  uint64_t weight);

/* The functions at a frame with several, outermost first. Returns the end of its stack. */
static struct passing_end each_of_several(struct passing *p, frameid frame,
					  struct passing_end caller, uint64_t weight,
					  passing_call *call)
{
	const struct frame_hops hops = *hists_hops(p->h, frame);
	for (uint32_t k = 0; k < hops.n; k++) {
		uint32_t f = p->h->hops.at[p->h->hop_lists.at[hops.first + k]].fkey;
		call(p, caller, f, weight);
		caller = called_by(caller, f);
	}
	return caller;
}

/* For all calls on stacks that have samples at or below them, callers first. Inlined, because it is
 * the inner loop of tables, with millions of stacks. */
static inline __attribute__((always_inline)) void for_each_call(struct passing *p,
								passing_call *call)
{
	const struct stack *stacks = p->h->hists.profile->samples.stacks;
	size_t n = p->h->hists.profile->samples.n_stacks;

	for (size_t i = 1; i < n; i++) {
		struct passing_end end = p->ends[stacks[i].caller];
		uint32_t f = p->below[i] ? p->fkeys[stacks[i].frame] : NONE;
		if (f == SEVERAL) {
			end = each_of_several(p, stacks[i].frame, end, p->below[i], call);
		} else if (f != NONE) {
			call(p, end, f, p->below[i]);
			end = called_by(end, f);
		}
		p->ends[i] = end;
	}
}

/* Whether nearly all of the function's weight is in one callee. */
static bool passes(const struct passing *p, uint32_t f)
{
	uint32_t callee = p->votes[f].callee;

	return callee != NONE && callee != f &&
	       (double)p->to_callee[f] >= NEARLY_ALL * (double)p->weights[f];
}

/* Finds the target of a function. If functions pass time on to each other in a cycle, one of them
 * is taken to keep it. */
static void find_target(struct passing *p, uint32_t first)
{
	struct passing_function *all = p->functions;
	uint32_t at = first;
	while (all[at].passes && !all[at].on_way && !all[at].is_done) {
		all[at].on_way = true;
		at = p->votes[at].callee;
	}
	if (all[at].on_way)
		all[at].passes = false;
	uint32_t target = all[at].passes ? all[at].target : at;
	for (at = first; all[at].on_way; at = p->votes[at].callee) {
		all[at].on_way = false;
		all[at].is_done = true;
		all[at].target = all[at].passes ? target : NONE;
	}
}

static void make_arrays(struct passing *p, size_t n, size_t n_stacks)
{
	p->weights = xalloc((n + 1) * sizeof(*p->weights));
	p->votes = xalloc((n + 1) * sizeof(*p->votes));
	p->to_callee = xalloc((n + 1) * sizeof(*p->to_callee));
	p->functions = xalloc((n + 1) * sizeof(*p->functions));
	p->ends = xrealloc(NULL, n_stacks + 1, sizeof(*p->ends));
	p->ends[0] = (struct passing_end){ .function = NONE };
	for (size_t i = 0; i < n; i++) {
		p->votes[i].callee = NONE;
		p->functions[i].target = NONE;
	}
}

static bool is_nameless(const struct hists *h, symid place)
{
	enum place_kind kind = place == NONE ? PLACE_NAMED : program_kind(h->program, place);
	bool has_name = kind != PLACE_UNKNOWN && kind != PLACE_SYMBOL;
	if (kind == PLACE_SYMBOL)
		has_name = !program_symbols(h->program)->at[place].is_nameless;
	const struct object *o =
		has_name ? NULL : &h->profile->objects[program_object(h->program, place)];
	return o && o->kind == OBJECT_ELF && !o->is_main;
}

/* A reader learns nothing from an address in a library. */
static void find_nameless(struct passing *p)
{
	for (size_t i = 0; i < p->h->hops.n; i++) {
		const struct hop *o = &p->h->hops.at[i];
		p->votes[o->fkey].is_nameless |= is_nameless(&p->h->hists, o->place);
	}
}

void hists_find_passing(struct hists_private *h)
{
	struct passing p = { .h = h, .below = h->weight_of };
	sum_stacks(&p);
	find_functions(&p);
	size_t n = h->fkeys.n;
	make_arrays(&p, n, h->hists.profile->samples.n_stacks);
	h->n_callers = xrealloc(NULL, n + 1, sizeof(*h->n_callers));
	memset(h->n_callers, 0xff, (n + 1) * sizeof(*h->n_callers));
	find_nameless(&p);
	for_each_call(&p, see_call);
	for_each_call(&p, count_call);
	for (uint32_t i = 0; i < n; i++)
		p.functions[i].passes = passes(&p, i);
	h->targets = xrealloc(NULL, n + 1, sizeof(*h->targets));
	for (uint32_t i = 0; i < n; i++)
		find_target(&p, i);
	for (uint32_t i = 0; i < n; i++)
		h->targets[i] = p.functions[i].passes ? p.functions[i].target : NONE;
	free(p.weights);
	free(p.votes);
	free(p.to_callee);
	free(p.functions);
	free(p.ends);
	free(p.fkeys);
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
