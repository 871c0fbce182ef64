/* sum.h - gmon.sum, byte for byte as GNU gprof 2.40 writes it. */
#ifndef GNU_SUM_H
#define GNU_SUM_H

#include "analysis/callgraph.h"
#include "input/input.h"

/* Not the calls themselves but those from symbol to symbol, addressed by where these start; bins
 * and counts cut to 16 and 32 bits, where the format ends. The twelve spare bytes of the header,
 * which GNU fills with what happens to be in memory, are zero. `format` as given; BSD is written
 * as 4.4BSD if the profiling rate is not the host's. Write errors after opening go unnoticed there
 * and here. */
MUST_CHECK struct kin_error *sum_write_gnu(const char *path, const struct profile *p,
					   struct symbols *s, const struct selection *sel,
					   const struct input_target *target,
					   enum input_format format);

#endif
