/* bsd_gprof.h - gprof as FreeBSD and OpenBSD have it: their options, their files, their layout. */
#ifndef GNU_BSD_GPROF_H
#define GNU_BSD_GPROF_H

#include "gnu/gnu_options.h"

/* From the command line to the exit status, as gprof_main(). `dialect` is not DIALECT_GNU. */
int bsd_gprof_main(int argc, char **argv, enum gprof_dialect dialect);

#endif
