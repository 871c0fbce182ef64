/* hits.h - the non-empty bins of a histogram, by index. Only few of a large program's millions of
 * bins are not empty. They are filled in passes over ascending bins, one pass per file; equal bins
 * are summed. If many files leave few bins empty, sums are kept in an array of all bins. */
#ifndef PROFILE_HITS_H
#define PROFILE_HITS_H

#include "base/vec.h"
#include "profile/profile.h"

struct hits {
	uint32_t n_bins;
	VEC(struct hit) at;
	size_t settled; /* the first `settled` are from earlier passes, ascending; later ones are
			   from this pass */
	uint32_t *all;  /* [n_bins], and `at` is empty; or NULL */
	uint64_t *wide; /* likewise, once 32 bits are too few: in place of `all` */
	bool saturated;
};

/* Adds counts of n bins from `first` on, first + n <= n_bins; zeros are skipped. A bin that is not
 * above the previous one begins a new pass. */
void hits_add_bins(struct hits *h, uint32_t first, const uint64_t *counts, uint32_t n);
void hits_add(struct hits *h, const struct hit *hits, size_t n); /* ascending */
void hits_add_all(struct hits *h, const uint32_t *all);          /* counts of all bins */
/* Ends adding: the bins are then in h->at, ascending and distinct, or in h->all, whichever is
 * smaller. Returns the number of non-empty bins. */
size_t hits_finish(struct hits *h);
void hits_free(struct hits *h);

#endif
