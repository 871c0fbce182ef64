/* interval.h - flattens overlapping intervals: one of them counts at each address. */
#ifndef OBJECT_INTERVAL_H
#define OBJECT_INTERVAL_H

#include "base/vec.h"

struct interval { /* [low, high) */
	uint64_t low, high;
	uint64_t rank;  /* the highest rank counts ... */
	uint32_t order; /* ... and among equals the one with the highest order */
	uint32_t value;
};

struct intervals { /* a VEC */
	struct interval *at;
	size_t n, cap;
};

/* Replaces the intervals by disjoint ones, by address; touching neighbours of the same value are
 * merged. n log n. */
void intervals_flatten(struct intervals *in);

#endif
