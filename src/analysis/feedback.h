/* feedback.h - the fewest calls to remove so that functions no longer call each other in a cycle: a
 * minimum feedback arc set of one cycle of the call graph. */
#ifndef ANALYSIS_FEEDBACK_H
#define ANALYSIS_FEEDBACK_H

#include "analysis/callgraph.h"

struct feedback {
	arcid *arcs; /* by number of calls, fewest first; to be freed */
	size_t n;
	bool exact; /* there is no smaller set; false: found by a heuristic, and there may be one */
};

/* `cycle` from 1. Direct recursion is ignored. For up to 20 members the answer is exact (O(2^n *
 * n)), and of the smallest sets it is the one with the fewest calls. For more members it takes
 * O(arcs), plus a bounded time to find arcs that need not be removed. */
struct feedback feedback_of(const struct callgraph *g, uint32_t cycle);

#endif
