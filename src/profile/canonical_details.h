/* canonical_details.h - sample attributes in canonical order, copied to another profile.
 *
 * All recorded attributes of the sample itself are kept. Dropped are the CPU's socket, which is a
 * property of the machine, and the registers that a stack was walked with. */
#ifndef PROFILE_CANONICAL_DETAILS_H
#define PROFILE_CANONICAL_DETAILS_H

#include "profile/detail.h"
#include "profile/profile.h"

struct canonical_details {
	const struct profile *p;
	const frameid *frames; /* frame ids in the new profile; unused frames are 0 */
};

/* Whether the detail has anything to keep besides the fields of a trace point. */
bool canonical_detail_says(const struct detail *d);
/* Marks the frames that the detail refers to with 1. */
void canonical_detail_mark(const struct samples *s, const struct detail *d, frameid *frames);
/* A total order by the kept content alone; 0: the kept content is equal. */
int canonical_detail_order(const struct canonical_details *c, const struct detail *a,
			   const struct detail *b);
/* A copy of the kept attributes, without the fields of a trace point. */
struct detail canonical_detail_copy(const struct canonical_details *c, const struct detail *d,
				    struct profile_builder *into);

#endif
