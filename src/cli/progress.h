/* progress.h - a progress message on standard error for long operations on a terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "base/base.h"

struct fetching;
struct progress;

/* After a second, shows "kin: <what> ..." until progress_end(); or the text of `fetching`, if that
 * is not NULL. Both are borrowed. Returns NULL if standard error is no terminal. */
struct progress *progress_begin(const char *what, struct fetching *fetching);
void progress_end(struct progress *p); /* removes the line; NULL is fine */

#endif
