/* hits.h - the bins of a histogram that are not empty, by index: of a large program's millions few
 * are. Filled in passes of ascending bins, one per file; equal bins are summed. */
#ifndef PROFILE_HITS_H
#define PROFILE_HITS_H

#include "base/vec.h"
#include "profile/profile.h"

struct hits {
	VEC(struct hit) at;
	size_t settled; /* these are of earlier passes, ascending; those behind them of this one */
	bool saturated;
};

/* Counts of n bins from `first` on; zeros are skipped. A bin that is not above the one before begins a
 * new pass. */
void hits_add_bins(struct hits *h, uint32_t first, const uint64_t *counts, uint32_t n);
void hits_add(struct hits *h, const struct hit *hits, size_t n); /* ascending */
void hits_settle(struct hits *h); /* all are ascending and distinct now. Cost: linear in all hits */
void hits_free(struct hits *h);

#endif
