/* bsd_select.h - finds the functions named by options of BSD's gprof. */
#ifndef GNU_BSD_SELECT_H
#define GNU_BSD_SELECT_H

#include <stdio.h>

#include "analysis/selection.h"
#include "gnu/bsd_options.h"

/* Fills *ret, initialised by selection_init() for s, from the specs and the profiler's own
 * functions, which get no entry in the graph. A name matches all symbols of that name, with or
 * without a leading underscore. Names without a match are reported on `warnings`. Cost: one pass
 * over the symbols. */
void bsd_select(const struct symbols *s, const struct bsd_spec *specs, size_t n, FILE *warnings,
		struct selection *ret);

#endif
