/* listing.h - source files as tables: a row per line, with measurements next to it.
 *
 * A listing consists of parts of files, one after the other. Rows are made as they are read. Text
 * cells point into the text of the files, so a large source takes little more memory than its
 * size. */
#ifndef REPORT_LISTING_H
#define REPORT_LISTING_H

#include "analysis/coverage.h"
#include "object/source.h"
#include "table/table_build.h"

struct listing_part {
	const struct coverage *coverage;  /* borrowed; must outlive the table */
	const struct coverage_file *file; /* one of the files in `coverage` */
	uint32_t from, to;   /* lines, both included; `to` may be beyond the last line */
	const char *heading; /* text of a row before the part; NULL: none. Copied */
	double whole;        /* ticks of the function or file that the part belongs to */
};

struct listing_source { /* parts of a file must be added in ascending order, so that it is read once
			 */
	struct source_text text; /* owned by the caller; empty if it could not be read */
	uint32_t line;           /* number of the line at `at`, less 1 */
	size_t at;
};

struct listing_opts {
	double total; /* the ticks that are 100 % */
	const struct line_counts
		*line_counts;      /* counts, also for lines without code of their own; or NULL */
	bool counts_of_other_runs; /* as in report_input */
	uint64_t
		min_count; /* lines executed less often are marked as not executed; 0: no line is */
	/* Gives the text byte by byte, for a layout that copies it. A NUL in the file becomes a
	 * newline in the cell, which is unambiguous there. If false, tabs become blanks, and
	 * carriage returns at line ends are removed. */
	bool raw;
};

struct listing;

struct listing *listing_new(const struct listing_opts *opts);
/* Adds a part. Lines with data beyond the end of the text get rows without text. With `raw` the
 * part is the whole file, and the listing takes over its text. */
void listing_add(struct listing *l, struct listing_part part, struct listing_source *source);
/* The table owns the listing. Property "unterminated": the last line ends without newline. */
struct kin_table *listing_table(struct listing *l, const char *name, const char *title);

/* The number of lines in a text. */
uint32_t listing_count_lines(const struct source_text *text);

#endif
