/* unwinding.h - samples into call stacks, while recording.
 *
 * The kernel's part comes from the kernel. The user's part is walked by call-frame information over
 * the copy of the stack that the kernel took with the sample, and, where that information ends, by
 * frame pointers; or it is the kernel's walk by frame pointers, in which the caller of the leaf is
 * put right by call-frame information: functions that call nothing have no frame of their own.
 *
 * What lies beyond the copy is not known: by the time that the sample is read, the thread may have
 * come back to other callers, which nothing of the copy would tell. Such a stack is cut; or, where
 * the callers that were ever seen there are the same (beyond.h), they are a guess, behind a mark.
 */
#ifndef RECORD_UNWINDING_H
#define RECORD_UNWINDING_H

#include "record/jit.h"
#include "record/rings.h"
#include "record/spaces.h"

enum unwinding_mode {
	UNWINDING_AUTO,  /* call-frame information first, frame pointers where it ends */
	UNWINDING_DWARF, /* nothing but call-frame information */
	UNWINDING_FP,    /* frame pointers */
};

struct stack_frame {
	uint64_t pc;           /* as in the process */
	uint64_t addr;         /* link-time address in the module; the pc if there is none */
	struct module *module; /* NULL: nothing known to be mapped there; or the kernel */
	uint32_t flags;        /* KINF_FRAME_*; with KINF_FRAME_MARK there is nothing but a name */
};
const char *stack_mark_name(uint32_t flags); /* "[cut]"; with KINF_FRAME_GUESSED "[guessed]" */

enum { UNWINDING_DEPTH = 1024 };

enum stack_end {
	STACK_END_UNKNOWN,
	STACK_COMPLETE, /* where the thread began */
	STACK_GUESSED,  /* there, too, but for a caller that is a guess */
	STACK_CUT,
};

struct unwound {
	struct stack_frame frames[UNWINDING_DEPTH + 256]; /* leaf first */
	size_t n, n_kernel;
	enum stack_end end;
};

struct unwinding_copies { /* of stacks, as the kernel takes them, in bytes */
	uint32_t small, large;
};

struct unwinding;
/* `jit`, which outlives it, knows code made at run time. */
struct unwinding *unwinding_new(enum unwinding_mode mode, struct unwinding_copies copies,
				struct jit *jit);
void unwinding_free(struct unwinding *u); /* NULL is fine */
/* What it made for a space; for spaces_new(). */
void unwinding_release(struct space *s);

void unwinding_sample(struct unwinding *u, struct space *s, const struct ring_record *r,
		      struct unwound *ret);

/* What is at an address of a process: of data, or of a branch. */
struct stack_frame unwinding_place(const struct space *s, uint64_t addr);

struct unwinding_stats {
	uint64_t stacks, complete, guesses, cut; /* of user stacks */
	uint64_t deep;                           /* that do not fit a small copy */
	uint64_t ends[5];                        /* by enum unwind_end */
	uint64_t guessed;                        /* frames found by frame pointers */
	uint64_t frames;
};
const struct unwinding_stats *unwinding_stats(const struct unwinding *u);

#endif
