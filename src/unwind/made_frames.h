/* made_frames.h - call-frame information of one piece of JIT code, as a jitdump has it before the
 * code: .eh_frame, followed by .eh_frame_hdr. Not trusted, like all of cfi.h. */
#ifndef UNWIND_MADE_FRAMES_H
#define UNWIND_MADE_FRAMES_H

#include "unwind/cfi.h"

struct made_frames {
	uint8_t *at;             /* owned by the caller */
	uint64_t size, hdr_size; /* bytes of both sections together, and of the second */
};

enum {
	MADE_FRAMES_MAX = 64 << 10,     /* most bytes that are kept of one piece of code, */
	MADE_FRAMES_ALL_MAX = 64 << 20, /* and of all pieces of a process */
};

/* The row for pc, in the code of `size` bytes at `code`; false if there is none. */
bool made_frames_row(const struct machine *m, const struct made_frames *f, uint64_t code,
		     uint64_t size, uint64_t pc, struct unwind_row *ret);

#endif
