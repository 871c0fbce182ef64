/* progress.h - a progress message on standard error for long operations on a terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "base/base.h"

struct fetching;
struct progress;

/* Prints after a second, until progress_end(): "kin: <what> ...", or the message of `fetching`, if
 * that is not NULL. NULL if standard error is no terminal. Both are borrowed. */
struct progress *progress_begin(const char *what, struct fetching *fetching);
void progress_end(struct progress *p); /* removes the line; NULL is fine */

#endif
