/* line_counts.h - executions of source lines, as coverage tools count them: by file and line, with
 * no addresses. So they may be of another build of the same sources than the one that was profiled.
 */
#ifndef PROFILE_LINE_COUNTS_H
#define PROFILE_LINE_COUNTS_H

#include "base/base.h"

struct line_counts;

struct line_counts *line_counts_new(void);
void line_counts_free(struct line_counts *l); /* NULL is fine */

/* `folder` is what a relative path is relative to; "" if that is not known. Counts of one line add
 * up: of the instances of a template, say. */
void line_counts_add(struct line_counts *l, const char *folder, const char *path, uint32_t line,
		     uint64_t count);

/* The file that a path means, or NONE: the same path, or one that ends with the relative one that
 * was added. To be asked once all is added. */
uint32_t line_counts_file(const struct line_counts *l, const char *path);
/* False if nothing is known of the line. */
bool line_counts_find(const struct line_counts *l, uint32_t file, uint32_t line, uint64_t *count);

#endif
