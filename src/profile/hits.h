/* hits.h - the bins of a histogram that are not empty, by index: of a large program's millions few
 * are. Filled in passes of ascending bins, one per file; equal bins are summed. Where many files
 * leave few bins empty, sums are kept in an array of all bins until hits_finish(). */
#ifndef PROFILE_HITS_H
#define PROFILE_HITS_H

#include "base/vec.h"
#include "profile/profile.h"

struct hits {
	uint32_t n_bins;
	VEC(struct hit) at;
	size_t settled; /* these are of earlier passes, ascending; those behind them of this one */
	uint32_t *all;  /* [n_bins], and `at` is empty; or NULL */
	uint64_t *wide; /* likewise, once 32 bits are too few: in place of `all` */
	bool saturated;
};

/* Counts of n bins from `first` on, first + n <= n_bins; zeros are skipped. A bin that is not above
 * the one before begins a new pass. */
void hits_add_bins(struct hits *h, uint32_t first, const uint64_t *counts, uint32_t n);
void hits_add(struct hits *h, const struct hit *hits, size_t n); /* ascending */
void hits_finish(
	struct hits *h); /* h->at holds all, ascending and distinct; nothing more is added */
void hits_free(struct hits *h);

#endif
