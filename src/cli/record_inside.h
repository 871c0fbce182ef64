/* record_inside.h - kin record without the kernel's sampling: the runtime records inside the
 * program. */
#ifndef CLI_RECORD_INSIDE_H
#define CLI_RECORD_INSIDE_H

#include "cli/record_end.h"
#include "record/record.h"

/* Runs the program with output to one file, like a recording from outside, and prints its quality.
 * Returns the exit status. */
int record_inside(const struct record_opts *opts, const struct record_ending *e);

#endif
