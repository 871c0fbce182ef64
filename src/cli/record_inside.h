/* record_inside.h - kin record where the kernel lets nobody sample: by the runtime, from inside. */
#ifndef CLI_RECORD_INSIDE_H
#define CLI_RECORD_INSIDE_H

#include "cli/record_end.h"
#include "record/record.h"

/* Runs the program, to one file as if it had been sampled from outside, and says how far that can
 * be trusted. Returns the exit status. */
int record_inside(const struct record_opts *opts, const struct record_ending *e);

#endif
