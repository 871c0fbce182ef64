/* ranges.h - a growing set of disjoint address ranges in objects, each with a value.
 *
 * The ranges are kept in sorted runs whose sizes double, so that even a million tiny histograms in
 * the worst order take n log n. */
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
	} runs[40]; /* lengths are powers of two, descending */
	size_t n_runs;
};

void ranges_add(struct ranges *r, struct range range); /* must not overlap any in the set */
/* ranges_find(): the value of exactly the range [low, high). ranges_find_overlapping(): the value
 * of a range that overlaps it; empty ranges overlap nothing. NONE: there is none. */
uint32_t ranges_find(const struct ranges *r, objid object, uint64_t low, uint64_t high);
uint32_t ranges_find_overlapping(const struct ranges *r, objid object, uint64_t low, uint64_t high);
void ranges_free(struct ranges *r);

#endif
