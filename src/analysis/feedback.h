/* feedback.h - the fewest calls that would have to go for functions not to call each other in a
 * circle any more: a minimum feedback arc set of one cycle of the call graph. */
#ifndef ANALYSIS_FEEDBACK_H
#define ANALYSIS_FEEDBACK_H

#include "analysis/callgraph.h"

struct feedback {
	arcid *arcs; /* to be freed; by number of calls, fewest first */
	size_t n;
	bool exact; /* no smaller set does it; false: found by a heuristic, a smaller one may do */
};

/* `cycle` from 1. Direct recursion is not part of it. Up to 20 members the answer is exact (O(2^n *
 * n)), and of the smallest sets it is the one with fewest calls; for more it takes O(arcs), and a
 * bounded time to see which arcs are needed. */
struct feedback feedback_of(const struct callgraph *g, uint32_t cycle);

#endif
