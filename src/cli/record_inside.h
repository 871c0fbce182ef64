/* record_inside.h - kin record without the kernel's sampling: by the runtime, from inside. */
#ifndef CLI_RECORD_INSIDE_H
#define CLI_RECORD_INSIDE_H

#include "cli/record_end.h"
#include "record/record.h"

/* Runs the program with output to one file, as if sampled from outside, and prints its quality.
 * Returns the exit status. */
int record_inside(const struct record_opts *opts, const struct record_ending *e);

#endif
