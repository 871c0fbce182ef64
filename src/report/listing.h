/* listing.h - source files as tables: a row per line, with measurements beside it.
 *
 * A listing consists of parts of files, one after the other. Rows are made as they are read, and
 * text cells point into the files' text, so a large source takes little more memory than its size.
 */
#ifndef REPORT_LISTING_H
#define REPORT_LISTING_H

#include "analysis/coverage.h"
#include "object/source.h"
#include "table/table_build.h"

struct listing_part {
	const struct coverage *coverage;  /* borrowed: must outlive the table */
	const struct coverage_file *file; /* one of its files */
	uint32_t from, to;   /* lines, both included; `to` may be beyond the last line */
	const char *heading; /* text of a row before the part; NULL: none. Copied */
	double whole;        /* ticks of the function or file that the part belongs to */
};

struct listing_source { /* parts of a file must be added in ascending order, so that it is read once
			 */
	struct source_text text; /* owned by whoever opened it; empty if it could not be read */
	uint32_t line;           /* number of the line at `at`, less 1 */
	size_t at;
};

struct listing_opts {
	double total; /* ticks of 100 % */
	const struct line_counts
		*line_counts; /* counts, also for lines without code of their own; or NULL */
	uint64_t
		min_count; /* lines with fewer executions are marked as not executed; 0: none are */
	/* The text byte by byte, for a layout that copies it. A NUL in it becomes a newline in the
	 * cell, which is unambiguous there. Otherwise tabs become blanks, and carriage returns at
	 * line ends are removed. */
	bool raw;
};

struct listing;

struct listing *listing_new(const struct listing_opts *opts);
/* Lines with data beyond the text get rows without text. With `raw` the part is the whole file, and
 * the text is taken over. */
void listing_add(struct listing *l, struct listing_part part, struct listing_source *source);
/* The table owns the listing. Property "unterminated": the last line ends without newline. */
struct kin_table *listing_table(struct listing *l, const char *name, const char *title);

/* The number of lines in a text. */
uint32_t listing_count_lines(const struct source_text *text);

#endif
