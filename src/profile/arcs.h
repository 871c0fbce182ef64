/* arcs.h - distinct arcs with summed counts, in order of first appearance.
 *
 * Files of one program list nearly the same arcs in nearly the same order. So the first file is
 * just appended, and an arc of a later file is first looked up next to the previous one. A hash
 * table is built when that fails. Arcs take half the memory until one comes that is too far from
 * the others. */
#ifndef PROFILE_ARCS_H
#define PROFILE_ARCS_H

#include "base/vec.h"
#include "profile/profile.h"

struct arcs {
	VEC(struct near_arc) near;
	VEC(struct arc) any; /* all arcs, once `is_far` */
	bool is_far;
	/* Of `near`: its base address and the object of its arcs, set by the first arc. */
	uint64_t base;
	objid object;
	size_t n;
	size_t settled;  /* the first `settled` arcs are distinct; later ones have not been compared
			    yet */
	size_t run;      /* first file: start of the arcs of the last call site ... */
	bool unordered;  /* ... unless call sites did not ascend */
	size_t cursor;   /* where the next arc is expected among the settled ones */
	size_t other;    /* second guess: arcs that only later files have are stored apart from the
			    first file's */
	uint32_t *slots; /* hash over the settled arcs: index, or NONE; NULL: not needed yet */
	size_t cap;      /* a power of two, at least twice `settled`; 0 without slots */
	bool saturated;
	bool ascend; /* once a file has ended: arcs ascend by `from`, in one object */
};

void arcs_add(struct arcs *a, const struct arc *arcs, size_t n);
void arcs_expect(struct arcs *a, size_t n); /* a hint, before the first: this many will follow */
void arcs_end_file(
	struct arcs *a); /* all arcs are distinct from here on, and the next file begins */
void arcs_drop_index(struct arcs *a);            /* nothing will be looked up for now */
struct arc_list arcs_list(const struct arcs *a); /* valid until something is added */
/* Hands over the memory of the arcs, to be freed with free(). No arcs remain. */
void *arcs_take(struct arcs *a);
void arcs_free(struct arcs *a);

#endif
