/* made_frames.h - call-frame information of one piece of code made at run time, as a jitdump has it
 * in front of the code: .eh_frame, and behind it .eh_frame_hdr. Not trusted, like all of cfi.h. */
#ifndef UNWIND_MADE_FRAMES_H
#define UNWIND_MADE_FRAMES_H

#include "unwind/cfi.h"

struct made_frames {
	uint8_t *at;             /* the owner's */
	uint64_t size, hdr_size; /* of both sections, of the second; in bytes */
};

enum {
	MADE_FRAMES_MAX = 64 << 10,     /* bytes of one piece's that are kept, */
	MADE_FRAMES_ALL_MAX = 64 << 20, /* of all of a process */
};

/* The row for pc, in the code of `size` bytes that lies at `code`; false: it says nothing. */
bool made_frames_row(const struct machine *m, const struct made_frames *f, uint64_t code,
		     uint64_t size, uint64_t pc, struct unwind_row *ret);

#endif
