/* trail.h - what the last walk of a thread went through, so that the next one need not do it again.
 *
 * Most of a stack is as it was at the last sample. The trail has the registers of each frame and
 * the row by which its caller was found. A walk that comes to the same registers, in the same code,
 * and finds the same words where that row reads them, goes the same way: comparing them is all it
 * does. One per thread, as others' stacks lie elsewhere; a trail of another thread does no harm. */
#ifndef UNWIND_TRAIL_H
#define UNWIND_TRAIL_H

#include "base/vec.h"
#include "unwind/row.h"

struct trail_step {
	uint64_t pc, sp, fp, bx;
	struct unwind_row row;
	bool is_plain;  /* these registers are all that is known of the frame */
	bool is_simple; /* the row depends on them and on words of the stack alone */
	bool bx_unknown;
};

struct unwind_trail {
	/* The frames of the last walk, outermost last: at[first] is the leaf. */
	struct trail_step *at;
	size_t first, end;
	uint64_t code;               /* unwinder's number at the last walk; 0: nothing is kept */
	VEC(struct trail_step) made; /* frames of the current walk, leaf first */
};

void unwind_trail_free(struct unwind_trail *t); /* leaves it empty and usable */

/* The first frame from `from` on that may be the one with these registers; t->end: none. */
static inline size_t trail_find(const struct unwind_trail *t, size_t from, uint64_t sp)
{
	while (from < t->end && t->at[from].sp < sp)
		from++;
	return from;
}

/* Keeps the frames of the current walk, and behind them those of the last one from `same` on. */
void unwind_trail_keep(struct unwind_trail *t, size_t same, uint64_t code);

#endif
