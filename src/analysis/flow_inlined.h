/* flow_inlined.h - finds the inlined function that code enters or leaves between two addresses. */
#ifndef ANALYSIS_FLOW_INLINED_H
#define ANALYSIS_FLOW_INLINED_H

#include "symbolize/symbols.h"

struct inlined_pair {
	uint64_t inner, outer; /* flat addresses in code */
	/* Result: the function with the code at `inner` that is inlined into the function with the
	 * code at `outer`; if there are several, the outermost; NULL: none. Named as in the debug
	 * information; lives as long as the objects. */
	const char *function;
};

/* Sets the function of all n pairs. Each unit of debug information is decoded once. */
void flow_find_inlined(const struct symbols *s, struct inlined_pair *pairs, size_t n);

#endif
