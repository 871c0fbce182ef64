/* capped.h - sums of numbers from files, which stay at the largest number instead of
 * overflowing. */
#ifndef BASE_CAPPED_H
#define BASE_CAPPED_H

#include "base/base.h"

static inline uint64_t capped_sum(uint64_t a, uint64_t b)
{
	uint64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline void capped_add(uint64_t *sum, uint64_t n) { *sum = capped_sum(*sum, n); }

#endif
