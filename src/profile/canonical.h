/* canonical.h - the parts of profile_canonical(). */
#ifndef PROFILE_CANONICAL_H
#define PROFILE_CANONICAL_H

#include "profile/profile.h"

/* Adds the samples of p and all that belongs to them to b, in an order that depends only on their
 * contents. objects[] maps p's object ids to b's. Stacks without samples are left out; equal
 * samples are merged. `sums`: see profile_canonical(). */
void canonical_add_samples(struct profile_builder *b, const struct profile *p, const objid *objects,
			   bool sums);

#endif
