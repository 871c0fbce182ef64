/* place_index.h - which of millions of places holds an address.
 *
 * Buckets of equal size over the places' range, about as many as places. A bucket knows the first
 * place in it and where the first few end, so that mostly nothing else is looked at: it takes less
 * memory than the places do, and waiting for memory is most of what a lookup costs. */
#ifndef SYMBOLIZE_PLACE_INDEX_H
#define SYMBOLIZE_PLACE_INDEX_H

#include "symbolize/symbols.h"

struct place_index {
	const struct symbol *at; /* borrowed: by address, disjoint; some may be empty */
	size_t n;
	struct place_bucket *buckets; /* [n_buckets + 1] */
	size_t n_buckets;             /* 0: no places */
	unsigned shift;               /* a bucket is 1 << shift bytes */
	uint64_t *plain;              /* a bit per place: a function that owns itself */
};

/* Cost: O(n). */
void place_index_init(struct place_index *x, const struct symbol *at, size_t n);
void place_index_done(struct place_index *x); /* also of one that is zero */

/* The place that holds addr, or NONE. */
symid place_index_find(const struct place_index *x, uint64_t addr);

/* The function that it is of, or NONE: the owner of a piece of one, or of the first function before
 * a line or label. */
symid place_index_find_function(const struct place_index *x, uint64_t addr);

/* A hint that one of these will be asked for soon. */
void place_index_prefetch(const struct place_index *x, uint64_t addr);

#endif
