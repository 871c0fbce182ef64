/* jitdump.h - records of jitdump files, in which programs say what code they make, and when.
 *
 *	uint64_t at = jitdump_header(&b);
 *	... the bytes from `at` on ...
 *	while (jitdump_next(b, &r)) ... bytes_skip(&b, r.size) ...
 *
 * Of either byte order. perf's Documentation/jitdump-specification.txt. */
#ifndef INPUT_JITDUMP_H
#define INPUT_JITDUMP_H

#include "base/bytes.h"

enum {
	JITDUMP_HEADER = 40,        /* bytes of it that must be there */
	JITDUMP_BEFORE_NAME = 56,   /* bytes of a record of code, before its name */
	JITDUMP_BEFORE_FRAMES = 40, /* of one of call-frame information, before that */
};

enum jitdump_kind {
	JITDUMP_LOAD,   /* code was made */
	JITDUMP_MOVE,   /* code that was at `from` moved */
	JITDUMP_FRAMES, /* call-frame information of the code that the next LOAD tells of */
	JITDUMP_OTHER,
};

struct jitdump_record {
	enum jitdump_kind kind; /* OTHER, too, if it is cut or makes no sense */
	uint32_t size;          /* of the whole record, in bytes: at least 16 */
	uint64_t time_ns;       /* by the clock of the program's choice, mostly CLOCK_MONOTONIC */
	uint64_t addr, code_size, from;
	/* FRAMES: .eh_frame and behind it .eh_frame_hdr, JITDUMP_BEFORE_FRAMES behind the start of
	 * the record. Their addresses are those of the code's end, rounded up to 8, and what
	 * follows. */
	uint64_t frames_size, frames_hdr_size;
	const char *name; /* LOAD: points into the bytes; not terminated if it is cut */
	size_t name_size;
};

/* Size of the header; 0: it is none. Sets b->swap. */
uint32_t jitdump_header(struct bytes *b);
/* The record that b begins with, of which the first bytes are enough; false: there is none. */
bool jitdump_next(struct bytes b, struct jitdump_record *ret);

#endif
