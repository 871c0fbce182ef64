/* analysis_private.h - the steps that make a call graph, in the order in which callgraph_new()
 * calls them. */
#ifndef ANALYSIS_ANALYSIS_PRIVATE_H
#define ANALYSIS_ANALYSIS_PRIVATE_H

#include "analysis/callgraph.h"
#include "base/beside.h"

static inline const struct callgraph_rules *callgraph_rules_of(const struct callgraph_opts *o)
{
	return o->rules ? o->rules : &callgraph_rules;
}

/* Runs both, on two threads if the graph is so large that each takes milliseconds. */
static inline void callgraph_run_both(size_t n_arcs, struct workload a, struct workload b)
{
	enum { WORTH_A_THREAD = 1 << 15 };
	if (n_arcs >= WORTH_A_THREAD) {
		run_beside(a, b);
	} else {
		a.run(a.arg);
		b.run(b.arg);
	}
}

/* histogram.c: sets nodes[].self, total, outside, rate, dimension. */
void callgraph_credit_histograms(struct callgraph *g, const struct profile *p,
				 const struct callgraph_opts *o);

/* measure.c: the samples' stacks as paths of places; NULL without samples. To be freed. */
struct stack_paths;
struct stack_paths *callgraph_paths_new(const struct symbols *s, const struct callgraph_opts *o);
void callgraph_paths_free(struct stack_paths *p); /* NULL is fine */
/* Whether some samples have callers: time is measured along stacks then, and nothing is propagated.
 */
bool callgraph_has_stacks(const struct stack_paths *p);
/* Sets rate and dimension from the event whose times are shown; there must be one. */
void callgraph_set_unit(struct callgraph *g, const struct samples *s);
/* As callgraph_credit_histograms(), from the samples' leaves. */
void callgraph_credit_samples(struct callgraph *g, const struct callgraph_opts *o,
			      const struct stack_paths *p);
/* The path nodes that have a caller, grouped by the place of that caller, and within a group in
 * order of nodes. */
struct stack_call {
	uint32_t node;
	union {
		symid to;  /* place of the node */
		arcid arc; /* the arc that leads to the node, once it was made */
	};
};
struct stack_calls {
	struct stack_call *at; /* [n] */
	size_t n;
	uint32_t *end; /* [n_places]: end of a caller's group in at[] */
};
/* Lists the calls; the paths own them. */
struct stack_calls *callgraph_stack_calls(struct stack_paths *p, size_t n_places);
/* To be called once all calls, if any were listed, have their arcs. Keeps the nodes of each arc,
 * and frees the calls. */
void callgraph_sort_stack_calls(struct stack_paths *p, size_t n_arcs);
/* In place of callgraph_propagate(): sets measured, roots and cycles as well. Uses up the paths. */
void callgraph_measure(struct callgraph *g, const struct callgraph_opts *o, struct stack_paths *p);

/* callgraph_arcs.c: sets arcs, seq, nodes[].calls, self_calls, outside_calls and n_in, and, unless
 * time is measured, callers. Afterwards the profile's arcs are not needed; they are released if the
 * options say so. `stacks`: NULL without samples. */
void callgraph_add_arcs(struct callgraph *g, const struct profile *p, struct symbols *s,
			const struct callgraph_opts *o, struct stack_paths *stacks);
/* Sets in and nodes[].first_in for measured arcs. */
void callgraph_add_callers(struct callgraph *g);

/* cycles.c: sets top_order and cycle of every symbol, the cycle nodes and their members. */
void callgraph_find_cycles(struct callgraph *g);

/* break_cycles.c: sets is_cut, cut. Before callgraph_find_cycles(). */
void callgraph_break_cycles(struct callgraph *g, uint32_t max_members);

/* halve_cycle.c: calls cut() for arcs. Without these no path leads from one part of the members
 * back to the others; both parts have at least a quarter of the members. Cost: O(members + their
 * arcs). */
struct cycle_part {
	const symid *members; /* [n], n > 1 */
	size_t n;
	const uint32_t *part; /* [symbols]: one value for all members, and other values for all
				 other symbols */
	uint32_t *place;      /* [symbols]: scratch */
};
void callgraph_halve_cycle(const struct callgraph *g, const struct cycle_part *p,
			   void (*cut)(arcid arc, void *arg), void *arg);

/* Whether callers of symbols are needed: in, nodes[].first_in and n_in. */
bool callgraph_wants_callers(const struct callgraph_opts *o);

/* propagate.c: sets fractions, shown, child times, share, shown_total. */
void callgraph_propagate(struct callgraph *g, const struct callgraph_opts *o);

/* The callee's whole time along an arc that is not inner, before it is multiplied by the caller's
 * fraction. */
static inline struct cg_time callgraph_whole_time(const struct cg_share *callee, uint64_t count)
{
	if (!count || callee->calls == 0 || !callee->wanted)
		return (struct cg_time){ 0, 0 };
	double part = (double)count / callee->calls;
	return (struct cg_time){ callee->self * part, callee->child * part };
}

/* callgraph_arc_time() for an arc that is not inner. */
static inline struct cg_time callgraph_outer_time(const struct callgraph *g, const struct cg_arc *a)
{
	double fraction = g->part[a->from].fraction;
	if (fraction == 0)
		return (struct cg_time){ 0, 0 };
	struct cg_time t = callgraph_whole_time(&g->share[a->to], a->count);
	return (struct cg_time){ t.self * fraction, t.child * fraction };
}

#endif
