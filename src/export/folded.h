/* folded.h - stacks as text, one to a line with how often it was seen: what flame graph tools read.
 *
 *	prog;_start;main;work 123
 *
 * Lines are distinct and in order of their names from the root on. A ';' in a name becomes ':', and
 * a control character '?'. Otherwise names are as they
 * are, unless they are to be escaped. */
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
	/* The names of a frame, outermost first: the function, then what was inlined into it there.
	 * Valid until the next call. NULL: what the data says, or the address. */
	const struct folded_name *(*names)(void *arg, frameid frame, size_t *n);
	void *arg;
	const char *event; /* of that name only; NULL: all of the kind and unit of the first */
	const struct sample_filter *filter; /* NULL: all samples */
	struct leaf_filter *leaves;         /* NULL: all */
	bool weights;                       /* what samples stand for, else their number */
	bool no_inlines;                    /* frames that the data calls inlined are left out */
	bool no_comm;                       /* lines do not begin with the command's name */
	bool pid;                           /* it is followed by -PID */
	bool tid;                           /* it is followed by -PID/TID */
	bool annotate;                      /* _[k], _[i], _[j] behind names */
	bool escaped;                       /* names may be shown on a terminal */
};

/* Fails if `out` cannot be written. */
MUST_CHECK struct kin_error *folded_write(FILE *out, const struct profile *p,
					  const struct folded_opts *opts);

#endif
