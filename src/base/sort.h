/* sort.h - sorting millions of things by number or by name.
 *
 * Keys are copied out of the things to be sorted, each with the index of its thing:
 *
 *	keys[i] = (struct sort_key){ thing[i].address, i };
 *	sort_keys(keys, n);
 *	... thing[keys[0].index] is the first ...
 *
 * Both sorts are stable. To sort by several keys, sort by the least significant one first. */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include "base/base.h"

/* -1, 0 or 1: what qsort() wants to know of two numbers. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

struct sort_key {
	uint64_t key;
	uint32_t index;
};

/* Ascending. Cost: O(n) per 8 bits in which keys differ (11 bits if there are thousands of keys).
 */
void sort_keys(struct sort_key *keys, size_t n);

/* Sorts numbers, ascending, and removes duplicates; returns how many are left. */
size_t sort_unique(uint64_t *numbers, size_t n);

/* A key that sorts numbers as `<` does (-0 is 0; NaN: at either end); ~ of it sorts descending. */
uint64_t sort_key_of_double(double v);

struct sort_name {
	const char *name;
	uint32_t index;
};

/* Ascending by strcmp(). */
void sort_names(struct sort_name *names, size_t n);

#endif
