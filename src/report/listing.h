/* listing.h - source files as tables: a row per line, what was measured beside it.
 *
 * A listing is parts of files, one after the other. Its rows are made as they are read, and the
 * text cells point into the files as they were read, so a large source costs little more than its
 * size. */
#ifndef REPORT_LISTING_H
#define REPORT_LISTING_H

#include "analysis/coverage.h"
#include "object/source.h"
#include "table/table_build.h"

struct listing_part {
	const struct coverage *coverage;  /* borrowed: must outlive the table */
	const struct coverage_file *file; /* one of its files */
	uint32_t from, to;                /* lines, both included; `to` may be beyond the last */
	const char *heading;              /* of a row before the first; NULL: none. Copied */
	double whole;                     /* ticks of the function, or the file, that it is of */
};

struct listing_source { /* parts of a file are to be taken in ascending order: then it is gone
			   through once */
	struct source_text text; /* owned by whoever opened it; empty if it could not be read */
	uint32_t line;           /* what `at` is the start of, less 1 */
	size_t at;
};

struct listing_opts {
	double total; /* ticks that are 100 % */
	const struct line_counts
		*line_counts; /* of lines without code of their own, too; or NULL */
	uint64_t min_count;   /* fewer executions than this are marked as none; 0: none are */
	/* The text byte by byte, for a layout that copies it. A NUL in it stands as a newline in
	 * the cell, which nothing else can put there. Else tabs are blanks and carriage returns at
	 * the end of lines are gone. */
	bool raw;
};

struct listing;

struct listing *listing_new(const struct listing_opts *opts);
/* Lines with data that the text does not have get rows without it. With `raw` the part is the whole
 * file, and the text is taken over. */
void listing_add(struct listing *l, struct listing_part part, struct listing_source *source);
/* The table owns the listing. It has the property "unterminated" if the last line ends without
 * newline. */
struct kin_table *listing_table(struct listing *l, const char *name, const char *title);

/* How many lines a text has. */
uint32_t listing_count_lines(const struct source_text *text);

#endif
