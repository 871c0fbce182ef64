/* script.h - the samples themselves, one after the other: as perf script prints them, or as JSON.
 *
 *	comm TID [CPU] SECONDS.MICROSECONDS: PERIOD EVENT:
 *		         ADDRESS FUNCTION+0xOFFSET (OBJECT)
 *		...
 *
 * leaf first, functions that were inlined before the one they are in, an empty line behind. Of
 * events without stacks it is one line, and comm 16 wide. What
 * the data does not say is left out, but for the time, which readers of the format expect: 0.
 * Addresses are those in the object. Registers, branches and the like follow the frames.
 *
 * Markers (kin record --mark) are lines between samples, "# marker SECONDS.MICROSECONDS: NAME".
 *
 * JSON: {"events": [...], "samples": [...]}, and "markers" where there are some; a sample per line
 *with its frames, leaf first. */
#ifndef EXPORT_SCRIPT_H
#define EXPORT_SCRIPT_H

#include <stdio.h>

#include "export/script_fields.h"
#include "profile/sample_filter.h"
#include "symbolize/program.h"

struct script_opts {
	struct script_fields fields;
	bool json;
	bool nanoseconds;      /* nine digits of the time */
	bool relative, delta;  /* times since the first sample, or the one before */
	unsigned max_stack;    /* frames; 0: all */
	bool no_frames;        /* not one of them */
	bool leaves;           /* one, and as if there were no others */
	bool no_inlines;       /* frames that the data calls inlined are left out */
	bool whole_paths;      /* of sources, not only the name of the file */
	const char *stop_at;   /* "f,g": no frames behind one of these; NULL: all */
	const char *objects;   /* "libc.so.6": only samples taken in these; NULL: all */
	const char *functions; /* "f,g": likewise */
	const char *event;     /* of that name only; NULL: all */
	const struct sample_filter *filter; /* NULL: all */
	/* A line of a source, from 1, without what ends it, and valid until the next call; false if
	 * it is not at hand. NULL: none is. */
	bool (*source)(void *arg, const char *file, uint32_t line, const uint8_t **ret, size_t *n);
	void *arg;
};

/* Fails if `out` cannot be written. */
MUST_CHECK struct kin_error *script_write(FILE *out, const struct profile *p, struct program *g,
					  const struct script_opts *opts);

#endif
