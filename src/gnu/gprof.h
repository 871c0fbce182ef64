/* gprof.h - the gprof program. */
#ifndef GNU_GPROF_H
#define GNU_GPROF_H

#include <stdbool.h>

/* Runs gprof from the command line to the exit status: 0, or 1 if something was missing, or could
 * not be read or written. Prints to stdout and stderr. `is_gprof`: the user called it gprof, so the
 * output is GNU's; otherwise it is kin's, unless --compat requests GNU's. */
int gprof_main(int argc, char **argv, bool is_gprof);

#endif
