/* listing.h - source files as tables: a row per line, what was measured beside it.
 *
 * A listing is parts of files, one after the other. Its rows are made as they are read, and the text
 * cells point into the files as they were read, so a large source costs little more than its size. */
#ifndef REPORT_LISTING_H
#define REPORT_LISTING_H

#include "analysis/coverage.h"
#include "object/source.h"
#include "table/table.h"

struct listing_part {
	const struct coverage_file *file;
	uint32_t from, to;   /* lines, both included; `to` may be beyond the last */
	const char *heading; /* of a row before the first; NULL: none. Copied */
};

struct listing_opts {
	double total;	   /* ticks that are 100 % */
	uint64_t min_count; /* fewer executions than this are marked as none; 0: none are */
	/* The text byte by byte, for a layout that copies it. A NUL in it stands as a newline in the
	 * cell, which nothing else can put there. Else tabs are blanks and carriage returns at the end of
	 * lines are gone. */
	bool raw;
};

struct listing;

/* Borrows `c`, which must outlive the table. */
struct listing *listing_new(const struct coverage *c, const struct listing_opts *opts);
/* Consumes `text`, which may be empty (path NULL). Lines with data that the text does not have get rows
 * without it. */
void listing_add(struct listing *l, struct listing_part part, struct source_text *text);
/* The table owns the listing. It has the property "unterminated" if the last line ends without newline. */
struct kin_table *listing_table(struct listing *l, const char *name, const char *title);

/* How many lines a text has. */
uint32_t listing_count_lines(const struct source_text *text);

#endif
