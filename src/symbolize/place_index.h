/* place_index.h - finds the place that contains an address, among millions.
 *
 * Buckets of equal size over the places' range, about as many as places. A bucket holds its first
 * place and the ends of the first few, so that most lookups read nothing else. Buckets take less
 * memory than places, and waiting for memory is most of the cost of a lookup. */
#ifndef SYMBOLIZE_PLACE_INDEX_H
#define SYMBOLIZE_PLACE_INDEX_H

#include "symbolize/symbols.h"

struct place_index {
	const struct symbol *at; /* borrowed: by address, disjoint; some may be empty */
	size_t n;
	struct place_bucket *buckets; /* [n_buckets + 1] */
	size_t n_buckets;             /* 0: no places */
	unsigned shift;               /* a bucket is 1 << shift bytes */
	uint64_t *plain; /* one bit per place: it is a function that is its own owner */
};

/* Cost: O(n). */
void place_index_init(struct place_index *x, const struct symbol *at, size_t n);
void place_index_done(struct place_index *x); /* also for one that is all zero */

/* The place that contains addr, or NONE. */
symid place_index_find(const struct place_index *x, uint64_t addr);

/* The function at addr, or NONE: the owner of a split part, or the first function before a line or
 * label. */
symid place_index_find_function(const struct place_index *x, uint64_t addr);

/* A hint that this address will be looked up soon. */
void place_index_prefetch(const struct place_index *x, uint64_t addr);

#endif
