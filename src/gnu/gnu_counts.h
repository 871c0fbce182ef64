/* gnu_counts.h - executions of source lines as GNU gprof 2.40 lists them. */
#ifndef GNU_GNU_COUNTS_H
#define GNU_GNU_COUNTS_H

#include "analysis/coverage.h"

/* List the counts of a file's lines up to last_line (what the source has) of a coverage by
 * gnu_coverage_rules, which has not listed any, as GNU does when it annotates them one after the
 * other. `last` is the count that it passes on from line to line, and from file to file: start with
 * 0 and go through the files in order, leaving out those without source. */
void counts_list(struct coverage *c, struct coverage_file *f, uint32_t last_line, bool carry,
		 uint64_t *last);

#endif
