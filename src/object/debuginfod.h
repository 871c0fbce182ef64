/* debuginfod.h - what debuginfod servers have: programs, debug information and sources by build id.
 *
 * The servers are those that $DEBUGINFOD_URLS names; elfutils' client library asks them, and keeps
 * in its own cache what they sent. It is opened when something is first asked for: where it is not
 * installed nothing is there. What was asked for once is not asked for again, found or not, and
 * after a server was silent for too long, or several requests failed, none is asked any more. */
#ifndef OBJECT_DEBUGINFOD_H
#define OBJECT_DEBUGINFOD_H

#include "base/base.h"

struct debuginfod;

struct debuginfod_opts {
	/* Called while waiting, several times a second: bytes that came, of `total`, 0 if that is
	 * not known; and with `what` NULL at the end. May be NULL. */
	void (*progress)(void *arg, const char *what, uint64_t bytes, uint64_t total);
	void *arg;
};

/* NULL: no servers are named. */
struct debuginfod *debuginfod_new(const struct debuginfod_opts *opts);
void debuginfod_free(struct debuginfod *d); /* NULL is fine */

enum debuginfod_kind { DEBUGINFOD_DEBUG, DEBUGINFOD_EXECUTABLE, DEBUGINFOD_SOURCE };

/* The file of that build (hex, lower case); `source`: the path of the source, as debug information
 * has it, NULL for the other kinds. `for_what` says it to people. NULL: there is none. What comes
 * is what somebody sent: the caller checks it. Lives as long as d. d may be NULL. */
const char *debuginfod_find(struct debuginfod *d, enum debuginfod_kind kind, const char *build_id,
			    const char *source, const char *for_what);

/* Why no server is asked any more; NULL: they are asked. Lives as long as d. */
const char *debuginfod_trouble(const struct debuginfod *d);

#endif
