/* hit_addresses.h - the addresses of a profile's objects that were hit: sampled, called, or called
 * from. */
#ifndef SYMBOLIZE_HIT_ADDRESSES_H
#define SYMBOLIZE_HIT_ADDRESSES_H

#include "base/vec.h"
#include "profile/profile.h"

struct hit_addresses { /* a VEC: ascending, each once */
	uint64_t *at;
	size_t n, cap;
};

/* Of each object, appended to ret[n_objects]; of a return address also the byte before it, which is
 * the call. `wanted`: of these objects only; NULL: of all. Ranges that were sampled as a whole
 * (histograms) are not among them. */
void hit_addresses_find(const struct profile *p, const bool *wanted, struct hit_addresses *ret);

#endif
