/* debuginfod.h - programs, debug information and sources from debuginfod servers, by build id.
 *
 * $DEBUGINFOD_URLS names the servers. elfutils' client library sends the requests and has a cache
 * of its own; it is loaded at the first request, and without it nothing is found. No request is
 * repeated, whether it succeeded or not. After a server was silent for too long, sent too much, or
 * several requests failed, there are no more requests. */
#ifndef OBJECT_DEBUGINFOD_H
#define OBJECT_DEBUGINFOD_H

#include "base/base.h"

struct debuginfod;

struct debuginfod_opts {
	/* Called several times a second during a download: `bytes` of `total` have arrived (`total`
	 * 0: unknown); called with `what` NULL at the end. May be NULL. */
	void (*progress)(void *arg, const char *what, uint64_t bytes, uint64_t total);
	void *arg;
};

/* NULL: $DEBUGINFOD_URLS names no servers. */
struct debuginfod *debuginfod_new(const struct debuginfod_opts *opts);
void debuginfod_free(struct debuginfod *d); /* NULL is fine */

enum debuginfod_kind { DEBUGINFOD_DEBUG, DEBUGINFOD_EXECUTABLE, DEBUGINFOD_SOURCE };

/* The path of the file of that build (hex, lower case). `source`: path of the source as in debug
 * information; NULL for the other kinds. `for_what` describes the request to the user. NULL: there
 * is none. The file is untrusted: the caller must check it. The path lives as long as d. d may be
 * NULL. */
const char *debuginfod_find(struct debuginfod *d, enum debuginfod_kind kind, const char *build_id,
			    const char *source, const char *for_what);

/* Why servers could not be asked, from the first time on; NULL if they could. Lives as long as d.
 */
const char *debuginfod_trouble(const struct debuginfod *d);
/* Whether servers said that they do not have a file, and none failed. */
bool debuginfod_said_no(const struct debuginfod *d);

#endif
