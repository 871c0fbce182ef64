/* flow_inlined.h - what is inlined where code runs on from one place to another. */
#ifndef ANALYSIS_FLOW_INLINED_H
#define ANALYSIS_FLOW_INLINED_H

#include "symbolize/symbols.h"

struct inlined_pair {
	uint64_t inner, outer; /* flat addresses in code */
	/* Set: the function that the code at `inner` is of, inlined into what the code at `outer`
	 * is of, of several the outermost; NULL: none. As in the debug information, as long as the
	 * objects live. */
	const char *function;
};

/* Of all n pairs. Each unit of debug information is decoded once. */
void flow_find_inlined(const struct symbols *s, struct inlined_pair *pairs, size_t n);

#endif
