/* folded.h - stacks as text, one per line with its count: the input of flame graph tools.
 *
 *	prog;_start;main;work 123
 *
 * Lines are distinct and sorted by names from the root on. In names ';' becomes ':', and control
 * characters become '?'; other characters are kept, unless names are to be escaped. */
#ifndef EXPORT_FOLDED_H
#define EXPORT_FOLDED_H

#include <stdio.h>

#include "profile/profile.h"
#include "profile/sample_filter.h"
#include "symbolize/leaf_filter.h"

struct kin_error;

struct folded_name {
	const char *name;
	uint32_t flags; /* FRAME_KERNEL, FRAME_INLINED: for annotations */
};

struct folded_opts {
	/* The names of a frame, outermost first: the function, then those inlined there. The array
	 * is valid until the next call, the texts as long as folded_write() runs. NULL: use names
	 * in the data, or addresses. */
	const struct folded_name *(*names)(void *arg, frameid frame, size_t *n);
	void *arg;
	const char *event;                  /* only this event; NULL: the one by samples_event() */
	const struct sample_filter *filter; /* NULL: all samples */
	struct leaf_filter *leaves;         /* NULL: all */
	bool weights;                       /* weights instead of sample counts */
	bool no_inlines;                    /* leave out frames that the data marks as inlined */
	bool no_comm;                       /* omit the command's name at the start of lines */
	bool pid;                           /* append -PID to it */
	bool tid;                           /* append -PID/TID to it */
	bool annotate;                      /* append _[k], _[i], _[j] to names */
	bool escaped;                       /* escape names for a terminal */
};

/* Fails if `out` cannot be written. */
MUST_CHECK struct kin_error *folded_write(FILE *out, const struct profile *p,
					  const struct folded_opts *opts);

#endif
