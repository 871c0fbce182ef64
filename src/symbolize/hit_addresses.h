/* hit_addresses.h - the addresses in a profile's objects that were sampled, called, called from, or
 * counted as blocks. */
#ifndef SYMBOLIZE_HIT_ADDRESSES_H
#define SYMBOLIZE_HIT_ADDRESSES_H

#include "base/vec.h"
#include "profile/profile.h"

struct hit_addresses { /* a VEC: ascending, each once */
	uint64_t *at;
	size_t n, cap;
};

/* Appends each object's addresses to ret[n_objects]; for a return address also the byte before it,
 * which is in the call. `wanted`: only these objects; NULL: all. Ranges that were sampled as a
 * whole (histograms) are not included. */
void hit_addresses_find(const struct profile *p, const bool *wanted, struct hit_addresses *ret);

#endif
