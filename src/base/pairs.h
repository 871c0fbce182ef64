/* pairs.h - a hash index from distinct pairs of 32-bit ids to an id.
 *
 * It takes 16 to 24 bytes per pair, and a lookup touches one place in memory. */
#ifndef BASE_PAIRS_H
#define BASE_PAIRS_H

#include "base/base.h"

struct pairs {
	struct pairs_slot *slots;
	size_t n, cap;
};

/* The id of the pair (a, b). A new pair gets the id `next`, which must not be NONE. */
uint32_t pairs_add(struct pairs *x, uint32_t a, uint32_t b, uint32_t next);
/* A hint that this pair is looked up soon: most of the time goes into waiting for memory. */
void pairs_prefetch(const struct pairs *x, uint32_t a, uint32_t b);
void pairs_free(struct pairs *x);

#endif
