/* unwinding.h - turns samples into call stacks, while recording.
 *
 * The kernel part of a stack comes from the kernel. The user part is walked by call-frame
 * information over the stack copy in the sample, and by frame pointers where that information ends.
 * Or it is the kernel's walk by frame pointers, with the caller of the leaf corrected by call-frame
 * information: leaf functions may have no frame of their own.
 *
 * Memory beyond the copy is not known: when the sample is read, the thread may have other callers
 * already. Such a stack is cut; or, if the callers seen there were always the same (beyond.h), they
 * are added as a guess, after a mark. */
#ifndef RECORD_UNWINDING_H
#define RECORD_UNWINDING_H

#include "formats/perfdata/perf_sample.h"
#include "record/jit.h"
#include "record/spaces.h"

enum unwinding_mode {
	UNWINDING_AUTO,  /* call-frame information first, frame pointers where it ends */
	UNWINDING_DWARF, /* only call-frame information */
	UNWINDING_FP,    /* frame pointers */
};

struct stack_frame {
	uint64_t pc;           /* run-time address */
	uint64_t addr;         /* link-time address in the module; the pc if there is none */
	struct module *module; /* NULL: no known mapping, or the kernel */
	uint32_t flags;        /* KINF_FRAME_*; with KINF_FRAME_MARK there is only a name */
};
const char *stack_mark_name(uint32_t flags); /* "[cut]"; with KINF_FRAME_GUESSED "[guessed]" */

enum { UNWINDING_DEPTH = 1024 };

enum stack_end {
	STACK_END_UNKNOWN,
	STACK_COMPLETE, /* walked to the start of the thread */
	STACK_GUESSED,  /* to the start, with a guessed caller */
	STACK_CUT,
	STACK_BEYOND, /* cut where the copy of it ended */
};

struct unwound {
	struct stack_frame frames[UNWINDING_DEPTH + 256]; /* leaf first */
	size_t n, n_kernel;
	enum stack_end end;
	/* Unique number of the stack; 0: later stacks cannot refer to it. */
	uint64_t serial;
	/* The n_same outermost frames equal those of the stack with this number. */
	uint64_t same_as;
	size_t n_same;
};

struct unwinding_copies { /* sizes of stack copies, in bytes */
	uint32_t small, large;
};

struct unwinding;
/* `jit`, which must outlive it, knows JIT code. `check`: some of the stacks that are walked by
 * call-frame information are walked by frame pointers, too, and compared (two_ways.h). */
struct unwinding *unwinding_new(enum unwinding_mode mode, struct unwinding_copies copies,
				struct jit *jit, bool check);
void unwinding_free(struct unwinding *u); /* NULL is fine */
/* Frees its data for a space; for spaces_new(). */
void unwinding_release(struct space *s);

void unwinding_sample(struct unwinding *u, struct space *s, const struct perf_sample *sample,
		      struct unwound *ret);

/* The frame of an address in a process: of data, or of a branch's end. */
struct stack_frame unwinding_place(const struct space *s, uint64_t addr);

struct unwinding_stats {
	uint64_t stacks, complete, guesses, cut; /* user stacks */
	uint64_t beyond;                         /* those of `cut` that ended where the copy did */
	uint64_t deep;                           /* stacks that would not fit a small copy */
	uint64_t ends[5];                        /* by enum unwind_end */
	uint64_t guessed;                        /* frames found by frame pointers */
	uint64_t frames;
	uint64_t checked,
		contradicted; /* stacks walked in two ways, and those of them that differ */
};
const struct unwinding_stats *unwinding_stats(const struct unwinding *u);

#endif
