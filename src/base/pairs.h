/* pairs.h - an index of pairs of 32-bit ids, each pair once: the id of what has it.
 *
 * The index takes 16 to 24 bytes for each, and a question looks at one place in memory. */
#ifndef BASE_PAIRS_H
#define BASE_PAIRS_H

#include "base/base.h"

struct pairs {
	struct pairs_slot *slots;
	size_t n, cap;
};

/* The id of the pair (a, b); if it is new, `next`, which is not NONE, is noted as that. */
uint32_t pairs_add(struct pairs *x, uint32_t a, uint32_t b, uint32_t next);
/* A hint that this pair is asked for soon: most of the time goes into waiting for memory. */
void pairs_prefetch(const struct pairs *x, uint32_t a, uint32_t b);
void pairs_free(struct pairs *x);

#endif
