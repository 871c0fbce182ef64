/* interval.h - which of many overlapping intervals counts at each address. */
#ifndef OBJECT_INTERVAL_H
#define OBJECT_INTERVAL_H

#include "base/vec.h"

struct interval { /* [low, high) */
	uint64_t low, high;
	uint64_t rank;  /* the highest counts ... */
	uint32_t order; /* ... and among equals the one with the highest order */
	uint32_t value;
};

struct intervals { /* a VEC */
	struct interval *at;
	size_t n, cap;
};

/* Replaces what is in *in by intervals that do not overlap, by address; neighbours of the same
 * value are one. n log n. */
void intervals_flatten(struct intervals *in);

#endif
