/* gprof.h - the gprof program. */
#ifndef GNU_GPROF_H
#define GNU_GPROF_H

/* Runs gprof from the command line to the exit status: 0, or 1 if something was missing, or could
 * not be read or written. Prints to stdout and stderr. */
int gprof_main(int argc, char **argv);

#endif
