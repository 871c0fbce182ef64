/* search.h - binary search: the number of elements that come before the one sought.
 *
 *	size_t i = COUNT_WHILE(n, k, maps[k].end <= addr);
 *	if (i < n && maps[i].start <= addr) ... maps[i] holds addr ... */
#ifndef BASE_SEARCH_H
#define BASE_SEARCH_H

#include <stddef.h>

/* The number of leading elements, of `count`, for which `holds` is true: a condition on the element
 * `k` that must be false for all later elements. Cost: O(log count). */
#define COUNT_WHILE(count, k, holds)                                                               \
	({                                                                                         \
		size_t count_low = 0, count_high = (count);                                        \
		while (count_low < count_high) {                                                   \
			size_t k = count_low + (count_high - count_low) / 2;                       \
			if (holds)                                                                 \
				count_low = k + 1;                                                 \
			else                                                                       \
				count_high = k;                                                    \
		}                                                                                  \
		count_low;                                                                         \
	})

#endif
