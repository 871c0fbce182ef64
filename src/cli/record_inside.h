/* record_inside.h - kin record where the kernel lets nobody sample: by the runtime, from inside. */
#ifndef CLI_RECORD_INSIDE_H
#define CLI_RECORD_INSIDE_H

#include "record/record.h"

/* Runs the program, to one file as if it had been sampled from outside, and says how far that can
 * be trusted. Returns the exit status. `names`: these are kept. */
int record_inside(const struct record_opts *opts, bool quiet, bool names);

#endif
