/* hits.h - the addresses of a profile's objects that were hit: sampled, called, or called from. */
#ifndef SYMBOLIZE_HITS_H
#define SYMBOLIZE_HITS_H

#include "base/vec.h"
#include "profile/profile.h"

struct hits { /* a VEC: ascending, each once */
	uint64_t *at;
	size_t n, cap;
};

/* Of each object, appended to ret[n_objects]; of a return address also the byte before it, which is
 * the call. `wanted`: of these objects only; NULL: of all. Ranges that were sampled as a whole
 * (histograms) are not among them. */
void hits_find(const struct profile *p, const bool *wanted, struct hits *ret);

#endif
