/* private.h - the steps that make a call graph, in the order callgraph_new() takes them. */
#ifndef ANALYSIS_PRIVATE_H
#define ANALYSIS_PRIVATE_H

#include "analysis/callgraph.h"

/* histogram.c: nodes[].self, total, outside, rate, dimension. */
void callgraph_credit_histograms(struct callgraph *g, const struct profile *p,
				 const struct callgraph_opts *o);

/* arcs.c: arcs, seq, in, nodes[].calls, self_calls and outside_calls. After it the profile's arcs are
 * not looked at again, and released if the options say so. */
void callgraph_add_arcs(struct callgraph *g, const struct profile *p, struct symbols *s,
			const struct callgraph_opts *o);

/* cycles.c: top_order and cycle of every symbol; the cycle nodes and their members. */
void callgraph_find_cycles(struct callgraph *g);

/* break_cycles.c: is_cut, cut. Before callgraph_find_cycles(). */
void callgraph_break_cycles(struct callgraph *g, uint32_t max_members);

/* propagate.c: fractions, shown, child times, share, shown_total. */
void callgraph_propagate(struct callgraph *g, const struct callgraph_opts *o);

#endif
