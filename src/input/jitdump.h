/* jitdump.h - records of jitdump files, in which programs describe their JIT code and when it was
 * made.
 *
 *	uint64_t at = jitdump_header(&b);
 *	... the bytes from `at` on ...
 *	while (jitdump_next(b, &r)) ... bytes_skip(&b, r.size) ...
 *
 * Both byte orders are supported. perf's Documentation/jitdump-specification.txt. */
#ifndef INPUT_JITDUMP_H
#define INPUT_JITDUMP_H

#include "base/bytes.h"

enum {
	JITDUMP_HEADER = 40,        /* least bytes of the header */
	JITDUMP_BEFORE_NAME = 56,   /* bytes of a code record before its name */
	JITDUMP_BEFORE_FRAMES = 40, /* bytes of a call-frame record before its data */
};

enum jitdump_kind {
	JITDUMP_LOAD,   /* code was made */
	JITDUMP_MOVE,   /* code that was at `from` moved */
	JITDUMP_FRAMES, /* call-frame information for the code of the next LOAD */
	JITDUMP_OTHER,
};

struct jitdump_record {
	enum jitdump_kind kind; /* OTHER also for a truncated or implausible record */
	uint32_t size;          /* size of the whole record in bytes: at least 16 */
	uint64_t time_ns;       /* by a clock that the program chose, mostly CLOCK_MONOTONIC */
	uint64_t addr, code_size, from;
	/* FRAMES: .eh_frame followed by .eh_frame_hdr, JITDUMP_BEFORE_FRAMES after the start of the
	 * record. Their addresses begin at the end of the code, rounded up to 8. */
	uint64_t frames_size, frames_hdr_size;
	const char
		*name; /* LOAD: points into the bytes; not terminated if the record is truncated */
	size_t name_size;
};

/* Size of the header; 0: it is no jitdump. Sets b->swap. */
uint32_t jitdump_header(struct bytes *b);
/* The record at the start of b, of which the first bytes suffice; false: there is none. */
bool jitdump_next(struct bytes b, struct jitdump_record *ret);

#endif
