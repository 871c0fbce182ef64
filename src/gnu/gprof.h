/* gprof.h - the gprof program. */
#ifndef GNU_GPROF_H
#define GNU_GPROF_H

/* All of it, from the command line to the exit status: 0, or 1 if something could not be read, was
 * not there or could not be written. Prints to stdout and stderr. */
int gprof_main(int argc, char **argv);

#endif
