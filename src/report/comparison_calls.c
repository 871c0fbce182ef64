/* comparison_calls.c - compares the calls of two sides, caller by caller. A change has three parts:
 * the number of calls, the distribution over callers, and the cost of a call. */
#include <math.h>
#include <stdlib.h>

#include "base/search.h"
#include "report/comparison.h"
#include "report/reports.h"

enum { BEFORE = REPEATS_BEFORE, AFTER = REPEATS_AFTER };

/* ---- reading ---- */

struct calls_reader {
	struct comparison *c;
	const struct comparison_recording *of;
	struct comparison_side *side;
	double runs;
	uint32_t *slots; /* [symbols]: the slot of each, once it was looked up */
};

static uint32_t slot_of_symbol(struct calls_reader *r, symid id)
{
	uint32_t *slot = &r->slots[id];
	if (*slot == NONE)
		*slot = comparison_slot_of(r->c, r->of, id);
	return *slot;
}

static void add_call(struct calls_reader *r, symid from, symid to, uint64_t calls,
		     const struct cg_time *time)
{
	struct compared_call call = { .callee = slot_of_symbol(r, to),
				      .caller = from == NONE ? NONE : slot_of_symbol(r, from),
				      .calls = (double)calls / r->runs };
	double ticks = r->c->o.inclusive ? time->self + time->child : time->self;
	call.time = ticks / (r->side->rate * r->runs);
	vec_push(&r->side->calls, call);
}

/* Adds calls along arcs. Within a cycle a sample may pass several arcs, so their times do not add
 * up: these calls are left out. */
static void add_calls(struct calls_reader *r)
{
	const struct callgraph *g = r->of->calls->graph;
	for (size_t i = 0; i < g->n_arcs; i++) {
		const struct cg_arc *a = &g->arcs[i];
		if (a->count && a->from != a->to && !g->nodes[a->to].cycle)
			add_call(r, a->from, a->to, a->count, &g->measured[i].along);
	}
	for (symid i = 0; i < g->n_symbols; i++)
		if (g->nodes[i].outside_calls && !g->nodes[i].cycle)
			add_call(r, NONE, i, g->nodes[i].outside_calls, &g->roots[i]);
}

void comparison_add_calls(struct comparison *c, int side, const struct comparison_recording *r)
{
	struct comparison_side *s = &c->side[side];
	const struct callgraph *g = r->calls && !c->o.by_line ? r->calls->graph : NULL;
	bool traced = g && g->has_arcs && g->measured;
	s->traced = traced && (s->traced || !s->recordings.n);
	if (!s->traced)
		return;
	struct calls_reader reader = { .c = c,
				       .of = r,
				       .side = s,
				       .runs = (double)r->n_runs,
				       .slots = xrealloc(NULL, g->n_symbols + 1,
							 sizeof(*reader.slots)) };
	for (size_t i = 0; i < g->n_symbols; i++)
		reader.slots[i] = NONE;
	add_calls(&reader);
	free(reader.slots);
}

/* ---- kinds of calls ---- */

/* For each symbol the calls from other objects, or from outside the known code; to be freed. */
static uint64_t *outer_calls(const struct report_input *in)
{
	const struct callgraph *g = in->graph;
	uint64_t *outer = xalloc((g->n_symbols + 1) * sizeof(*outer));
	for (symid i = 0; i < g->n_symbols; i++)
		outer[i] = g->nodes[i].outside_calls;
	for (size_t i = 0; in->program && i < g->n_arcs; i++) {
		const struct cg_arc *a = &g->arcs[i];
		if (program_object(in->program, a->from) != program_object(in->program, a->to))
			outer[a->to] += a->count;
	}
	return outer;
}

struct calls_by_kind *comparison_kinds_of_calls(struct comparison *c,
						const struct comparison_recording *r, size_t *n_ret)
{
	const struct callgraph *g = r->calls ? r->calls->graph : NULL;
	size_t n = g ? g->n_symbols : 0;
	uint64_t *outer = n ? outer_calls(r->calls) : NULL;
	uint32_t *slots = xrealloc(NULL, n + 1, sizeof(*slots));
	for (symid i = 0; i < n; i++)
		if (outer[i] || g->nodes[i].self_calls)
			slots[i] = comparison_slot_of(c, r, i);
	struct calls_by_kind *ret = xalloc((c->at.n + 1) * sizeof(*ret));
	for (symid i = 0; i < n; i++) {
		if (!outer[i] && !g->nodes[i].self_calls)
			continue;
		ret[slots[i]].outer += outer[i];
		ret[slots[i]].own += g->nodes[i].self_calls;
	}
	free(slots);
	free(outer);
	*n_ret = c->at.n;
	return ret;
}

/* ---- ordering ---- */

static int by_callee(const void *pa, const void *pb)
{
	const struct compared_call *a = pa, *b = pb;
	if (a->callee != b->callee)
		return a->callee < b->callee ? -1 : 1;
	return a->caller < b->caller ? -1 : a->caller > b->caller;
}

/* Callers may have been joined with a function of the other side: gives both sides the slot of the
 * joined function. */
static void name_callers(const struct comparison *c, int side, struct comparison_side *s)
{
	uint32_t *known_as = xrealloc(NULL, c->at.n + 1, sizeof(*known_as));
	for (uint32_t i = 0; i < c->at.n; i++)
		known_as[i] = i;
	for (uint32_t i = 0; i < c->at.n; i++)
		if (c->at.at[i].of[side].slot != NONE)
			known_as[c->at.at[i].of[side].slot] = i;
	for (size_t i = 0; i < s->calls.n; i++)
		if (s->calls.at[i].caller != NONE)
			s->calls.at[i].caller = known_as[s->calls.at[i].caller];
	free(known_as);
}

/* Joins the calls of several recordings, and of functions with equal names. */
static void join_calls(struct comparison_side *s)
{
	size_t n = 0;
	for (size_t i = 0; i < s->calls.n; i++) {
		struct compared_call call = s->calls.at[i];
		call.calls /= (double)s->recordings.n;
		call.time /= (double)s->recordings.n;
		if (!n || by_callee(&s->calls.at[n - 1], &call) != 0) {
			s->calls.at[n++] = call;
			continue;
		}
		s->calls.at[n - 1].calls += call.calls;
		s->calls.at[n - 1].time += call.time;
	}
	s->calls.n = n;
}

void comparison_order_calls(struct comparison *c)
{
	for (int i = 0; i < REPEATS_SIDES; i++) {
		struct comparison_side *s = &c->side[i];
		if (!s->calls.n)
			continue;
		name_callers(c, i, s);
		qsort(s->calls.at, s->calls.n, sizeof(*s->calls.at), by_callee);
		join_calls(s);
	}
}

/* ---- causes ---- */

struct callers { /* the callers of a function, on one side */
	const struct compared_call *at;
	size_t n;
	double calls, time;
};

static struct callers callers_of(const struct comparison_side *s, uint32_t callee)
{
	size_t low = COUNT_WHILE(s->calls.n, i, s->calls.at[i].callee < callee);
	struct callers ret = { .at = s->calls.at + low };
	for (size_t i = low; i < s->calls.n && s->calls.at[i].callee == callee; i++) {
		ret.n++;
		ret.calls += s->calls.at[i].calls;
		ret.time += s->calls.at[i].time;
	}
	return ret;
}

/* Adds the part of one caller; NULL: the side has no calls by it. If there were none before, their
 * cost is taken to be the mean. The callers' shares of the calls add up to 1 on either side, so it
 * makes no difference to the sum whether shares are weighted by the cost of a call or by its
 * difference from the mean. */
static void add_caller(const struct comparison *c, const struct callers of[REPEATS_SIDES],
		       const struct compared_call *before, const struct compared_call *after,
		       struct causes *ret)
{
	double mean = of[BEFORE].time / of[BEFORE].calls;
	double cost = before ? before->time / before->calls : mean;
	double more = (after ? after->calls / of[AFTER].calls : 0) -
		      (before ? before->calls / of[BEFORE].calls : 0);
	double part = of[AFTER].calls * more * (cost - mean);
	uint32_t caller = after ? after->caller : before->caller;
	ret->by_callers += part;
	if (caller == NONE || fabs(part) <= fabs(ret->of_caller))
		return;
	ret->caller = c->at.at[caller].name;
	ret->of_caller = part;
	ret->more = more;
}

static void add_callers(const struct comparison *c, const struct callers of[REPEATS_SIDES],
			struct causes *ret)
{
	const struct callers *b = &of[BEFORE], *a = &of[AFTER];
	for (size_t i = 0, k = 0; i < b->n || k < a->n;) {
		bool is_before = i < b->n && (k == a->n || b->at[i].caller <= a->at[k].caller);
		bool is_after = k < a->n && (i == b->n || a->at[k].caller <= b->at[i].caller);
		add_caller(c, of, is_before ? &b->at[i] : NULL, is_after ? &a->at[k] : NULL, ret);
		i += is_before;
		k += is_after;
	}
}

bool comparison_causes(const struct comparison *c, const struct compared_function *f,
		       const struct effect *e, struct causes *ret)
{
	double before = f->of[BEFORE].calls.mean, after = f->of[AFTER].calls.mean;
	*ret = (struct causes){ 0 };
	if (!comparison_is_counted(c) || !(before > 0) || !(after > 0) || c->o.shares)
		return false;
	ret->by_calls = e->before * (after / before - 1);
	if (c->side[BEFORE].traced && c->side[AFTER].traced) {
		const struct callers of[] = {
			[BEFORE] = callers_of(&c->side[BEFORE], f->of[BEFORE].slot),
			[AFTER] = callers_of(&c->side[AFTER], f->of[AFTER].slot),
		};
		ret->traced = of[BEFORE].n && of[AFTER].n;
		if (ret->traced)
			add_callers(c, of, ret);
	}
	ret->by_cost = e->change.value - ret->by_calls - ret->by_callers;
	return true;
}
