/* markers.h - named moments during a recording (kin record --mark, kin mark).
 *
 *	markers_open(&m);        ... the program's environment then has MARKERS_VARIABLE
 *	while (markers_next(m, now, &x))        ... when markers_fd() is readable
 *
 * They come as datagrams, "NANOSECONDS NAME", through a socket in the abstract namespace. Such a
 * socket leaves no file behind, and sending to a recorder that is gone fails at once. Only
 * processes of the recorder's user and of root are accepted. */
#ifndef RECORD_MARKERS_H
#define RECORD_MARKERS_H

#include <sys/types.h>

#include "base/base.h"

struct kin_error;
struct markers;

/* The variable with the name of the recorder's socket, for the processes that it starts. */
#define MARKERS_VARIABLE "KIN_MARK"

enum { MARKER_NAME = 200 }; /* bytes of a name, with its NUL; longer names are truncated */

struct named_moment {
	uint64_t time_ns; /* on CLOCK_MONOTONIC */
	char name[MARKER_NAME];
};

/* Also sets the variable. */
struct kin_error *markers_open(struct markers **ret) __attribute__((warn_unused_result));
void markers_free(struct markers *m); /* NULL is fine */
int markers_fd(const struct markers *m);
/* False: no more for now. An impossible time is replaced by now_ns. */
bool markers_next(struct markers *m, uint64_t now_ns, struct named_moment *ret);

/* Sends a marker to the recorder that started this process or one of its parents, or to the one
 * with the process id `recorder`, if that is not 0. */
struct kin_error *markers_send(const char *name, pid_t recorder)
	__attribute__((warn_unused_result));

/* Normalises a name: one line, without blanks at its ends. False: nothing is left. */
bool marker_name(const char *text, char ret[MARKER_NAME]);

#endif
