/* script.h - prints single samples, in perf script's layout or as JSON.
 *
 *	comm TID [CPU] SECONDS.MICROSECONDS: PERIOD EVENT:
 *		         ADDRESS FUNCTION+0xOFFSET (OBJECT)
 *		...
 *
 * Frames are leaf first, inlined functions before the one they are in, followed by an empty line.
 * Events without stacks are one line, with comm 16 columns wide. Missing fields are left out,
 * except the time, which readers of the format expect: it is 0. Addresses are those in the object.
 * Registers, branches and the like follow the frames.
 *
 * Markers (kin record --mark) are lines between samples, "# marker SECONDS.MICROSECONDS: NAME".
 *
 * JSON: {"events": [...], "samples": [...]}, and "markers" where there are some; a sample per line
 * with its frames, leaf first. */
#ifndef EXPORT_SCRIPT_H
#define EXPORT_SCRIPT_H

#include <stdio.h>

#include "export/script_fields.h"
#include "profile/sample_filter.h"
#include "symbolize/program.h"

struct script_opts {
	struct script_fields fields;
	bool json;
	bool nanoseconds;      /* print times with nine digits */
	bool relative, delta;  /* times since the first sample, or since the previous one */
	unsigned max_stack;    /* most frames to print; 0: all */
	bool no_frames;        /* print no frames */
	bool leaves;           /* print only the innermost frame, as if there were no others */
	bool no_inlines;       /* leave out frames that the data marks as inlined */
	bool whole_paths;      /* full paths of sources, not only file names */
	const char *stop_at;   /* "f,g": print frames only up to one of these; NULL: all */
	const char *objects;   /* "libc.so.6": only samples taken in these; NULL: all */
	const char *functions; /* "f,g": only samples taken in these; NULL: all */
	const char *event;     /* only this event; NULL: all */
	const struct sample_filter *filter; /* NULL: all */
	/* Returns a source line, counted from 1, without its line end, valid until the next call;
	 * false if it is not available. NULL: there are no sources. */
	bool (*source)(void *arg, const char *file, uint32_t line, const uint8_t **ret, size_t *n);
	void *arg;
};

/* Fails if `out` cannot be written. */
MUST_CHECK struct kin_error *script_write(FILE *out, const struct profile *p, struct program *g,
					  const struct script_opts *opts);

#endif
