/* gnu_counts.h - executions of source lines, as listed by GNU gprof 2.40. */
#ifndef GNU_GNU_COUNTS_H
#define GNU_GNU_COUNTS_H

#include "analysis/coverage.h"

/* Lists the counts of a file's lines up to last_line (the source's last), as GNU does when it
 * annotates lines one after another. The coverage must be made by gnu_coverage_rules, with no
 * counts of the file listed yet. `last` is the count that GNU carries from line to line and from
 * file to file: start with 0 and go through the files in order, skipping those without source. */
void counts_list(struct coverage *c, struct coverage_file *f, uint32_t last_line, bool carry,
		 uint64_t *last);

#endif
