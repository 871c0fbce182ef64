/* gcov.h - what gcov --json-format writes: X.gcov.json.gz, or the same unpacked.
 *
 * Format: gcc's manual, "gcov", "JSON"; from gcc 9 on. Of the files and lines in it the counts are
 * taken; branches, blocks and functions are not looked at. */
#ifndef INPUT_GCOV_H
#define INPUT_GCOV_H

#include "profile/line_counts.h"

struct kin_error;

/* Adds what is in a file, or in memory. On failure what was read before it is in `into`. */
MUST_CHECK struct kin_error *gcov_read(const char *path, struct line_counts *into);
MUST_CHECK struct kin_error *gcov_parse(const char *name, const uint8_t *data, size_t size,
					struct line_counts *into);

#endif
