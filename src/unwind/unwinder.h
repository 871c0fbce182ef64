/* unwinder.h - walks captured stacks: registers and a copy of stack memory become a list of pcs.
 *
 *	struct unwinder *u = unwinder_new(&(struct unwinder_opts){ .find = find, .arg = maps });
 *	struct unwind_walk w = { .regs = .., .copy = bytes, .copy_addr = sp, .copy_size = n };
 *	unwinder_walk(u, &w, pcs, max);
 *	... w.n, w.end ...
 *
 * One unwinder per thread and address space. Cost: 30-100 ns per frame, of which a lookup in the
 * cache of pcs met before is the larger part. */
#ifndef UNWIND_UNWINDER_H
#define UNWIND_UNWINDER_H

#include "unwind/step.h"
#include "unwind/trail.h"
#include "unwind/unwind_table.h"

struct unwinder;

/* The code mapped at an address. */
struct unwind_code {
	const struct unwind_table *table; /* NULL: no call-frame information; frames are guessed */
	uint64_t bias;                    /* run-time minus link-time address */
	/* It is code of a file. Other code is taken to keep frame pointers, as JIT code does. */
	bool is_file;
};

struct unwinder_opts {
	/* Finds the executable mapping that holds pc; false if there is none, so that pc is no
	 * return address. Answers are cached until unwinder_flush(). */
	bool (*find)(void *arg, uint64_t pc, struct unwind_code *ret);
	/* The row of an address without a table: for JIT code, what its compiler recorded. False:
	 * there is none. May be NULL. */
	bool (*row)(void *arg, uint64_t pc, struct unwind_row *ret);
	/* Copies up to `size` bytes of code at addr, for guessing, and to see that calls stand
	 * before return addresses; returns how many. May be NULL. */
	size_t (*code)(void *arg, uint64_t addr, uint8_t *ret, size_t size);
	/* Reads memory that is not in the copy. May be NULL: the walk then ends at the end of the
	 * copy. */
	unwind_read *read;
	void *arg; /* passed to all of them */
	/* Do not guess frames: the walk ends where call-frame information does. */
	bool no_guess;
};

enum unwind_end {
	/* The outermost frame was reached, and a row says that it is: by call-frame information, or
	 * as outermost.h knows the function, or because the stack was made up to begin there. */
	UNWIND_COMPLETE,
	UNWIND_TRUNCATED, /* the copy of the stack was too short */
	UNWIND_DEPTH,     /* more frames than fit */
	UNWIND_NO_CFI,    /* no usable call-frame information, and nothing to guess from */
	UNWIND_DAMAGED,   /* a step led to an address that is no code or no stack, or 0, or is
			   * behind no call */
};

enum { UNWIND_SIGNALS = 4 };

struct unwind_walk {
	/* in */
	struct unwind_regs regs; /* of the innermost frame; .exact is true for a sample */
	const uint8_t *copy;     /* copy_size bytes of memory from copy_addr on, usually regs.sp */
	uint64_t copy_addr;
	size_t copy_size;
	/* The trail of the thread's last walk, and then of this one; NULL: none. */
	struct unwind_trail *trail;
	/* out */
	size_t n; /* number of frames: pcs[0] is regs.pc, the others are return addresses, but */
	/* for those that a signal interrupted, exactly there; inner ones first, at most these */
	size_t interrupted[UNWIND_SIGNALS], n_interrupted;
	size_t guessed; /* number of frames found by guessed rows */
	size_t certain; /* number of frames before the first guessed one */
	enum unwind_end end;
	uint64_t missing; /* UNWIND_TRUNCATED: the address that could not be read */
	uint64_t top;     /* sp of the outermost frame found */
	size_t n_same;    /* with a trail: outermost frames as in its last walk, memory unchanged */
};

/* Whether frame i, not the first, was interrupted by a signal. */
static inline bool unwind_was_interrupted(const struct unwind_walk *w, size_t i)
{
	size_t k = 0;
	while (k < w->n_interrupted && w->interrupted[k] != i)
		k++;
	return k < w->n_interrupted;
}

struct unwinder *unwinder_new(const struct unwinder_opts *opts);
void unwinder_free(struct unwinder *u); /* NULL is fine */
/* Call it when mappings changed. */
void unwinder_flush(struct unwinder *u);

void unwinder_walk(struct unwinder *u, struct unwind_walk *w, uint64_t *pcs, size_t max);

/* Another way to the callers, which takes nothing from tables: by frame pointers alone, over the
 * copy, as long as each address found has a call before it. The callers are in pcs, innermost
 * first; a function without a frame pointer of its own hides its caller. Returns how many. */
size_t unwinder_by_pointers(struct unwinder *u, const struct unwind_walk *w, uint64_t *pcs,
			    size_t max);

const char *unwind_end_name(enum unwind_end end); /* "complete" ... */

#endif
