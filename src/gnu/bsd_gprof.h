/* bsd_gprof.h - FreeBSD's and OpenBSD's gprof: their options, files and layouts. */
#ifndef GNU_BSD_GPROF_H
#define GNU_BSD_GPROF_H

#include "gnu/gnu_options.h"

/* From the command line to the exit status, like gprof_main(). `dialect` is not DIALECT_GNU. */
int bsd_gprof_main(int argc, char **argv, enum gprof_dialect dialect);

#endif
