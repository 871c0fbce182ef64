/* feedback.h - the fewest calls to remove so that functions no longer call each other in a cycle: a
 * minimum feedback arc set of one cycle of the call graph. */
#ifndef ANALYSIS_FEEDBACK_H
#define ANALYSIS_FEEDBACK_H

#include "analysis/callgraph.h"

struct feedback {
	arcid *arcs; /* to be freed; by number of calls, fewest first */
	size_t n;
	bool exact; /* there is no smaller set; false: found by a heuristic, there may be one */
};

/* `cycle` from 1. Direct recursion is ignored. For up to 20 members the answer is exact (O(2^n *
 * n)), and among the smallest sets it is the one with the fewest calls. For more it takes O(arcs),
 * and a bounded time to find which arcs are needed. */
struct feedback feedback_of(const struct callgraph *g, uint32_t cycle);

#endif
