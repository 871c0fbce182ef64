/* unwinding.h - samples into call stacks, while recording.
 *
 * The kernel's part comes from the kernel. The user's part is walked by call-frame information over
 * the copy of the stack that the kernel took with the sample, and, where that information ends, by
 * frame pointers; or it is the kernel's walk by frame pointers, in which the caller of the leaf is
 * put right by call-frame information: functions that call nothing have no frame of their own.
 *
 * A stack that is larger than the copy is read on from the thread's memory, if the innermost part
 * of what is still there is word for word what was copied: the thread has not come back to the
 * callers beyond it since. */
#ifndef RECORD_UNWINDING_H
#define RECORD_UNWINDING_H

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
	uint32_t flags;        /* KINF_FRAME_* */
};

enum { UNWINDING_DEPTH = 1024 };

struct unwound {
	struct stack_frame frames[UNWINDING_DEPTH + 256]; /* leaf first */
	size_t n, n_kernel;
	bool cut, complete; /* neither: not known */
};

struct unwinding;
struct unwinding *unwinding_new(enum unwinding_mode mode, uint32_t stack_bytes);
void unwinding_free(struct unwinding *u); /* NULL is fine */
/* What it made for a space; for spaces_new(). */
void unwinding_release(struct space *s);

void unwinding_sample(struct unwinding *u, struct space *s, const struct ring_record *r,
		      struct unwound *ret);

struct unwinding_stats {
	uint64_t stacks, complete, cut, continued; /* of user stacks; read on beyond the copy */
	uint64_t deep;                             /* went beyond it, read on or not */
	uint64_t ends[5];                          /* by enum unwind_end */
	uint64_t guessed;                          /* frames found by frame pointers */
	uint64_t frames;
};
const struct unwinding_stats *unwinding_stats(const struct unwinding *u);

#endif
