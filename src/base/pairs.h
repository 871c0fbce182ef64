/* pairs.h - an index of records that begin with a pair of 32-bit ids, each pair once.
 *
 * The records lie in an array of the owner's; the index takes 11 to 21 bytes for each, half of
 * a map64, and what is not there is seen without a look at the records. */
#ifndef BASE_PAIRS_H
#define BASE_PAIRS_H

#include "base/base.h"

struct pairs {
	struct pairs_slot *slots;
	size_t n, cap;
};

/* The record of the pair (a, b); if there is none, `next` is noted as its index and returned: it is
 * then to be put there before the next call. `at`: the records, of `size` bytes each. */
uint32_t pairs_add(struct pairs *x, const void *at, size_t size, uint32_t a, uint32_t b,
		   uint32_t next);
void pairs_free(struct pairs *x);

#endif
