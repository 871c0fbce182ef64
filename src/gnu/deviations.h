/* deviations.h - where the figures of GNU's gprof are wrong for the data that they were made of. */
#ifndef GNU_DEVIATIONS_H
#define GNU_DEVIATIONS_H

#include "analysis/callgraph.h"

/* Compares functions' times and calls by GNU's rules with those by kin's, for the same program and
 * data. Returns one line, to be freed; NULL: they agree. `entries`: the graph's entries were
 * printed. */
char *deviations_describe(const struct callgraph *gnu, const struct callgraph *right, bool entries);

#endif
