/* bsd_select.h - which functions the options of BSD's gprof name. */
#ifndef GNU_BSD_SELECT_H
#define GNU_BSD_SELECT_H

#include <stdio.h>

#include "analysis/selection.h"
#include "gnu/bsd_options.h"

/* Fills *ret, which was selection_init()ed for s, from the specs and the profiler's own functions,
 * which get no entry in the graph. A name is that of every symbol that is called so, or so with an
 * underscore before it. Names that are no function's are said on `warnings`. Cost: one pass over
 * the symbols. */
void bsd_select(const struct symbols *s, const struct bsd_spec *specs, size_t n, FILE *warnings,
		struct selection *ret);

#endif
