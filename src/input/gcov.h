/* gcov.h - reads the output of gcov --json-format: X.gcov.json.gz, or the same unpacked.
 *
 * Format: gcc's manual, "gcov", "JSON"; from gcc 9 on. Line counts are read; branches, blocks and
 * functions are ignored. */
#ifndef INPUT_GCOV_H
#define INPUT_GCOV_H

#include "profile/line_counts.h"

struct kin_error;

/* Adds the counts of a file. On failure what came before the damage is in `into`. */
MUST_CHECK struct kin_error *gcov_read(const char *path, struct line_counts *into);
MUST_CHECK struct kin_error *gcov_parse(const char *name, const uint8_t *data, size_t size,
					struct line_counts *into);

#endif
