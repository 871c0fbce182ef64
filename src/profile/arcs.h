/* arcs.h - distinct arcs with summed counts, in order of first appearance.
 *
 * Made for the files of one program, which list nearly the same arcs in nearly the same order: the
 * first file is only appended, and each arc of a later one is looked for where the one before it
 * was found. A hash is built when that fails. */
#ifndef PROFILE_ARCS_H
#define PROFILE_ARCS_H

#include "base/vec.h"
#include "profile/profile.h"

struct arcs {
	VEC(struct arc) at;
	size_t settled; /* these are distinct; those behind them have not been looked at */
	size_t run;     /* of the first file: where the arcs of the last call site begin ... */
	bool unordered; /* ... unless call sites did not ascend */
	size_t cursor;  /* where the next arc is expected among the settled ones */
	size_t other; /* where it is expected else: what a file has more than the first stands apart
		       */
	uint32_t *slots; /* hash over the settled ones: index, or NONE; NULL: not needed yet */
	size_t cap;      /* a power of two, at least twice `settled`; 0 without slots */
	bool saturated;
	bool ascend; /* once a file has ended: by from, and those are of one object */
};

void arcs_add(struct arcs *a, const struct arc *arcs, size_t n);
void arcs_expect(struct arcs *a, size_t n); /* a hint, before the first: so many will follow */
void arcs_end_file(struct arcs *a);         /* all are distinct now, and the next file begins */
void arcs_drop_index(struct arcs *a);       /* nothing more will be looked for, for now */
void arcs_free(struct arcs *a);

#endif
