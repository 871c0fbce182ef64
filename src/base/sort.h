/* sort.h - sorting what there may be millions of: by numbers, and by names.
 *
 * The keys are taken out of what is to be sorted, and say where it stands:
 *
 *	keys[i] = (struct sort_key){ thing[i].address, i };
 *	sort_keys(keys, n);
 *	... thing[keys[0].index] is the first ...
 *
 * Both sorts are stable. To sort by several things sort by the least of them first. */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include "base/base.h"

/* -1, 0 or 1: what qsort() wants to know of two numbers. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

struct sort_key {
	uint64_t key;
	uint32_t index;
};

/* Ascending. Cost: O(n) per 8 bits (of thousands of keys: 11) in which keys differ. */
void sort_keys(struct sort_key *keys, size_t n);

/* Sorts numbers, ascending, and leaves each once; how many are left. */
size_t sort_unique(uint64_t *numbers, size_t n);

/* A key by which numbers sort as `<` has it (-0 is 0; NaN: at either end); ~ of it: descending. */
uint64_t sort_key_of_double(double v);

struct sort_name {
	const char *name;
	uint32_t index;
};

/* Ascending, as strcmp() has it. */
void sort_names(struct sort_name *names, size_t n);

#endif
