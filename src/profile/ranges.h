/* ranges.h - a growing set of disjoint address ranges in objects, each with a value.
 *
 * Kept as sorted runs whose sizes double, so that even a million tiny histograms in the worst order
 * take n log n. */
#ifndef PROFILE_RANGES_H
#define PROFILE_RANGES_H

#include "profile/profile.h"

struct range {
	uint64_t low, high; /* [low, high) */
	objid object;
	uint32_t value;
};

struct ranges {
	struct {
		struct range *at;
		size_t n;
	} runs[40]; /* of powers of two, each longer than the next */
	size_t n_runs;
};

void ranges_add(struct ranges *r, struct range range); /* must not overlap any in the set */
/* The value of a range that overlaps [low, high); NONE if there is none. An empty range is found as
 * itself and overlaps nothing. */
uint32_t ranges_find(const struct ranges *r, objid object, uint64_t low, uint64_t high);
uint32_t ranges_find_overlapping(const struct ranges *r, objid object, uint64_t low, uint64_t high);
void ranges_free(struct ranges *r);

#endif
