/* canonical_details.h - what samples say beside their stacks, in an order of its own and copied to
 * another profile.
 *
 * Of a detail all is kept that was recorded of the sample itself. The CPU's socket is not, as that
 * is of the machine, nor are the registers that a stack was walked with. */
#ifndef PROFILE_CANONICAL_DETAILS_H
#define PROFILE_CANONICAL_DETAILS_H

#include "profile/detail.h"
#include "profile/profile.h"

struct canonical_details {
	const struct profile *p;
	const frameid *frames; /* ids in the profile that is made; what is not used is 0 */
};

/* Whether there is something to keep, beside the fields of a trace point. */
bool canonical_detail_says(const struct detail *d);
/* Marks the frames that it names with 1. */
void canonical_detail_mark(const struct samples *s, const struct detail *d, frameid *frames);
/* Total, by content alone; 0: what is kept of them is the same. */
int canonical_detail_order(const struct canonical_details *c, const struct detail *a,
			   const struct detail *b);
/* What is kept of it, without the fields of a trace point. */
struct detail canonical_detail_copy(const struct canonical_details *c, const struct detail *d,
				    struct profile_builder *into);

#endif
