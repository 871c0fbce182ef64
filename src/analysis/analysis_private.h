/* analysis_private.h - the steps that make a call graph, in the order callgraph_new() takes them.
 */
#ifndef ANALYSIS_ANALYSIS_PRIVATE_H
#define ANALYSIS_ANALYSIS_PRIVATE_H

#include "analysis/callgraph.h"

static inline const struct callgraph_rules *callgraph_rules_of(const struct callgraph_opts *o)
{
	return o->rules ? o->rules : &callgraph_rules;
}

/* histogram.c: nodes[].self, total, outside, rate, dimension. */
void callgraph_credit_histograms(struct callgraph *g, const struct profile *p,
				 const struct callgraph_opts *o);

/* measure.c. Whether there are samples, and whether they know callers: then stacks say where time
 * went, and nothing is propagated. */
bool callgraph_has_samples(const struct callgraph_opts *o);
bool callgraph_has_stacks(const struct callgraph_opts *o);
/* The samples' stacks as paths of what time is charged to; to be freed. */
struct stack_paths;
struct stack_paths *callgraph_paths_new(const struct symbols *s, const struct callgraph_opts *o);
void callgraph_paths_free(struct stack_paths *p); /* NULL is fine */
/* As callgraph_credit_histograms(), from the samples' leaves. */
void callgraph_credit_samples(struct callgraph *g, const struct callgraph_opts *o,
			      const struct stack_paths *p);
/* All calls that are on stacks, each once: add()'s n-th is number n, from 0. */
void callgraph_stack_arcs(struct stack_paths *p, size_t n_places,
			  void (*add)(symid from, symid to, void *arg), void *arg);
/* What they became: of call n arcs[n]. */
void callgraph_stack_arcs_are(struct stack_paths *p, const arcid *arcs);
/* In place of callgraph_propagate(): measured, roots, cycles as well. */
void callgraph_measure(struct callgraph *g, const struct callgraph_opts *o,
		       const struct stack_paths *p);

/* callgraph_arcs.c: arcs, seq, in, nodes[].calls, self_calls and outside_calls. After it the
 * profile's arcs are not looked at again, and released if the options say so. `stacks`: NULL
 * without samples. */
void callgraph_add_arcs(struct callgraph *g, const struct profile *p, struct symbols *s,
			const struct callgraph_opts *o, struct stack_paths *stacks);

/* cycles.c: top_order and cycle of every symbol; the cycle nodes and their members. */
void callgraph_find_cycles(struct callgraph *g);

/* break_cycles.c: is_cut, cut. Before callgraph_find_cycles(). */
void callgraph_break_cycles(struct callgraph *g, uint32_t max_members);

/* halve_cycle.c: calls cut() for arcs after which no way leads from one part of the members, a
 * quarter of them at least, to the others. Cost: O(members + their arcs). */
struct cycle_part {
	const symid *members; /* [n], n > 1 */
	size_t n;
	const uint32_t *part; /* [symbols]: equal for the members, and for no others */
	uint32_t *place;      /* [symbols]: scratch */
};
void callgraph_halve_cycle(const struct callgraph *g, const struct cycle_part *p,
			   void (*cut)(arcid arc, void *arg), void *arg);

/* Whether callers of symbols are looked for: in, nodes[].first_in and n_in. */
bool callgraph_wants_callers(const struct callgraph_opts *o);

/* propagate.c: fractions, shown, child times, share, shown_total. */
void callgraph_propagate(struct callgraph *g, const struct callgraph_opts *o);

#endif
