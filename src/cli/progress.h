/* progress.h - a word on standard error when something takes long and a person is watching. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "base/base.h"

struct progress;

/* After a second, until progress_end(): "kin: <what> ...". NULL if standard error is no terminal.
 * `what` is borrowed. */
struct progress *progress_begin(const char *what);
void progress_end(struct progress *p); /* wipes the line; NULL is fine */

#endif
