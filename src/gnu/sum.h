/* sum.h - writes gmon.sum byte for byte like GNU gprof 2.40. */
#ifndef GNU_SUM_H
#define GNU_SUM_H

#include "analysis/callgraph.h"
#include "input/input.h"

/* Calls are written from symbol to symbol, with the symbols' start addresses; bins and counts are
 * truncated to 16 and 32 bits, the limits of the format. The twelve spare bytes of the header,
 * which GNU leaves uninitialised, are zero. `format` as given; BSD is written as 4.4BSD if the
 * profiling rate is not the host's. Write errors after opening are ignored, as by GNU. */
MUST_CHECK struct kin_error *sum_write_gnu(const char *path, const struct profile *p,
					   struct symbols *s, const struct selection *sel,
					   const struct input_target *target,
					   enum input_format format);

/* Whether no count is truncated. */
bool sum_fits_gnu(const struct profile *p);

#endif
