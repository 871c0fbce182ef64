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
#include "unwind/unwind_table.h"

struct unwinder;

/* What is mapped at an address. */
struct unwind_code {
	const struct unwind_table *table; /* NULL: no call-frame information; frames are guessed */
	uint64_t bias;                    /* run-time minus link-time address */
};

struct unwinder_opts {
	/* The executable mapping that holds pc; false if there is none: what lead there was no
	 * return address. Answers are kept until unwinder_flush(). */
	bool (*find)(void *arg, uint64_t pc, struct unwind_code *ret);
	/* The row of an address without a table: what its maker says of code made at run time.
	 * False: nothing. May be NULL. */
	bool (*row)(void *arg, uint64_t pc, struct unwind_row *ret);
	/* Up to `size` bytes of code at addr, for guessing; how many. May be NULL. */
	size_t (*code)(void *arg, uint64_t addr, uint8_t *ret, size_t size);
	/* Memory that is not in the copy. May be NULL: the walk then ends where the copy does. */
	unwind_read *read;
	void *arg; /* for all of them */
	/* No frames by guess: the walk ends where call-frame information does. */
	bool no_guess;
};

enum unwind_end {
	UNWIND_COMPLETE, /* the outermost frame was reached: _start, or a thread's first function */
	UNWIND_TRUNCATED, /* the copy of the stack was too short */
	UNWIND_DEPTH,     /* more frames than there was room for */
	UNWIND_NO_CFI,    /* no (usable) call-frame information, and nothing to guess from */
	UNWIND_DAMAGED,   /* led to something that is no code or no stack */
};

struct unwind_walk {
	/* in */
	struct unwind_regs regs; /* of the innermost frame; .exact is true of a sample */
	const uint8_t *copy;     /* copy_size bytes of memory from copy_addr on, mostly regs.sp */
	uint64_t copy_addr;
	size_t copy_size;
	/* out */
	size_t n; /* frames: pcs[0] is regs.pc, the others are return addresses as they stand */
	size_t guessed; /* how many of them a guessed row has led to */
	size_t certain; /* how many come before the first of those */
	enum unwind_end end;
	uint64_t missing; /* UNWIND_TRUNCATED: the address that could not be read */
	uint64_t top;     /* sp of the outermost frame that was found */
};

struct unwinder *unwinder_new(const struct unwinder_opts *opts);
void unwinder_free(struct unwinder *u); /* NULL is fine */
/* To be called when mappings changed. */
void unwinder_flush(struct unwinder *u);

void unwinder_walk(struct unwinder *u, struct unwind_walk *w, uint64_t *pcs, size_t max);

const char *unwind_end_name(enum unwind_end end); /* "complete" ... */

#endif
