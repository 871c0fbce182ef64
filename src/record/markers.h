/* markers.h - moments that somebody names while a recording goes on (kin record --mark, kin mark).
 *
 *	markers_open(&m);        ... the program's environment then has MARKERS_VARIABLE
 *	while (markers_next(m, now, &x))        ... when markers_fd() is readable
 *
 * They come as datagrams, "NANOSECONDS NAME", through a socket of the kernel's abstract names: it
 * leaves nothing behind, and who sends to a recorder that is gone is told so and does not wait.
 * Only processes of the recorder's user, and of root, are heard. */
#ifndef RECORD_MARKERS_H
#define RECORD_MARKERS_H

#include <sys/types.h>

#include "base/base.h"

struct kin_error;
struct markers;

/* The name of the recorder's socket, for the processes that it starts. */
#define MARKERS_VARIABLE "KIN_MARK"

enum { MARKER_NAME = 200 }; /* bytes of a name, with its end; the rest is cut */

struct named_moment {
	uint64_t time_ns; /* on CLOCK_MONOTONIC */
	char name[MARKER_NAME];
};

/* Sets the variable, too. */
struct kin_error *markers_open(struct markers **ret) __attribute__((warn_unused_result));
void markers_free(struct markers *m); /* NULL is fine */
int markers_fd(const struct markers *m);
/* False: there are no more now. A time that cannot be is taken for now_ns. */
bool markers_next(struct markers *m, uint64_t now_ns, struct named_moment *ret);

/* Names the moment, for the recorder that started this process or one of its parents; or, if it is
 * not 0, the one with that process id. */
struct kin_error *markers_send(const char *name, pid_t recorder)
	__attribute__((warn_unused_result));

/* A name as it is kept: one line, without blanks at its ends. False: nothing is left. */
bool marker_name(const char *text, char ret[MARKER_NAME]);

#endif
