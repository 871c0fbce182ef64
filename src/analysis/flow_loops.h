/* flow_loops.h - rounds of the loops within a line's blocks. */
#ifndef ANALYSIS_FLOW_LOOPS_H
#define ANALYSIS_FLOW_LOOPS_H

#include "analysis/flow.h"
#include "base/base.h"

/* Sets *ret to the rounds of all loops among n edges; edges[] are indices in all[], by `from`.
 * False: there are too many loops, or a loop has edges with unknown counts. */
MUST_CHECK bool flow_count_loops(const struct flow_edge *all, const uint32_t *edges, uint32_t n,
				 uint64_t *ret);

#endif
