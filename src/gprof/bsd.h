/* bsd.h - gprof as FreeBSD and OpenBSD have it: their options, their files, their layout. */
#ifndef GPROF_BSD_H
#define GPROF_BSD_H

#include "gprof/options.h"

/* From the command line to the exit status, as gprof_main(). `dialect` is not DIALECT_GNU. */
int bsd_gprof_main(int argc, char **argv, enum gprof_dialect dialect);

#endif
