/* counters.h - executions of lines, by the counters of programs compiled with --coverage.
 *
 * gcc and clang count some of the jumps between basic blocks. The compiler writes the blocks of a
 * unit, their jumps and their lines to X.gcno. Programs add their counters to those in X.gcda when
 * they end. Counts of lines follow by gcov's rules.
 *
 * Format: gcc's gcov-io.h, in the versions of gcc 9 and later; and the old one of clang. */
#ifndef INPUT_COUNTERS_H
#define INPUT_COUNTERS_H

#include "base/bytes.h"
#include "profile/line_counts.h"

struct kin_error;

/* Adds the counts of a unit's X.gcda, and sets *runs to how many processes added their counters to
 * it. X.gcno is beside X.gcda or where that was to be written, at `built`. On failure what came
 * before the damage may be in `into`. */
MUST_CHECK struct kin_error *counters_read(const char *path, const char *built,
					   struct line_counts *into, uint32_t *runs);
/* The same for the contents of both files. */
MUST_CHECK struct kin_error *counters_parse(struct bytes notes, struct bytes counts,
					    struct line_counts *into, uint32_t *runs);

#endif
