/* line_counts.h - executions of source lines from coverage tools, by file and line, without
 * addresses. The tools may have measured another build of the same sources than the profiled
 * one. */
#ifndef PROFILE_LINE_COUNTS_H
#define PROFILE_LINE_COUNTS_H

#include "base/base.h"

struct line_counts;

struct line_counts *line_counts_new(void);
void line_counts_free(struct line_counts *l); /* NULL is fine */

/* `folder` is the base of relative paths; "" if it is not known. Counts of the same line add up,
 * like those of a template's instances. */
void line_counts_add(struct line_counts *l, const char *folder, const char *path, uint32_t line,
		     uint64_t count);

/* Adds all counts of `from`. */
void line_counts_add_all(struct line_counts *l, const struct line_counts *from);

/* Finds a file by its path, or the file whose given relative path is the end of `path`; NONE: no
 * file. Call this after everything is added. */
uint32_t line_counts_file(const struct line_counts *l, const char *path);
/* False if the line has no count. */
bool line_counts_find(const struct line_counts *l, uint32_t file, uint32_t line, uint64_t *count);

#endif
