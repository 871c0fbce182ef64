/* html_columns.h - encodes paths and samples of a page as columns of numbers, and drops some to
 * limit the size of the file.
 *
 * A column is a sequence of LEB128 numbers. Nodes are in preorder: a caller, then all below it.
 * Narrow nodes that are dropped are replaced by one node below the same caller, with their samples:
 * its function number is one more than the last function's. The amounts that functions lose that
 * way are in separate columns, so that sums of the whole recording stay exact. */
#ifndef PAGE_HTML_COLUMNS_H
#define PAGE_HTML_COLUMNS_H

#include "page/html_paths.h"

enum html_column_key {
	COLUMN_NODE_UP,       /* levels from the previous node up to its caller; [nodes - 1] */
	COLUMN_NODE_FUNCTION, /* [nodes - 1]: all but the root */
	COLUMN_SAMPLE_TIME,   /* units since the previous sample; [samples], as for the next
				 seven */
	COLUMN_SAMPLE_THREAD,
	COLUMN_SAMPLE_EVENT, /* event * 2 + side */
	COLUMN_SAMPLE_NODE,  /* difference to the previous sample: 2 * d, or -2 * d - 1 */
	COLUMN_SAMPLE_WEIGHT,
	COLUMN_SAMPLE_COUNT,
	COLUMN_SAMPLE_OBJECT, /* index in "objects" + 1, if the sample's node was dropped; else 0 */
	COLUMN_SAMPLE_PLACE,  /* index of its place + 1; 0: none */
	COLUMN_PLACE_OBJECT,  /* [places], like the next three: index in "objects" */
	COLUMN_PLACE_ADDRESS, /* link-time address */
	COLUMN_PLACE_FILE,    /* index in "files" + 1; 0: its line is not known */
	COLUMN_PLACE_LINE,
	COLUMN_LOST_EVENT, /* event * 2 + side of amounts that functions lose; [lost], like the next
			      four */
	COLUMN_LOST_FUNCTION,
	COLUMN_LOST_SELF,
	COLUMN_LOST_TOTAL,
	COLUMN_LOST_OWN, /* the same of Self with the code of others folded, as its difference to
			    LOST_SELF: 2 * d, or -2 * d - 1 */
	N_HTML_COLUMNS
};

struct html_column {
	size_t n;
	VEC(uint8_t) bytes;
};

struct html_columns {
	struct html_column at[N_HTML_COLUMNS];
	uint64_t first_ns; /* time 0 of the column, on the clock of the samples */
	uint64_t unit_ns;  /* unit of times; 0: the file has no times */
	size_t n_left_out; /* number of dropped nodes */
};

extern const char *const html_column_keys[N_HTML_COLUMNS];

/* The time from the first sample to the last; 0: times are not known. */
uint64_t html_duration(const struct html_paths *t, uint64_t *first_ns);

struct html_limits {
	size_t max_nodes; /* keep the widest ones */
	double min_width; /* of these, keep those with at least this share of any event */
	uint64_t unit_ns; /* unit of times; 0: drop times */
	bool places;      /* keep places */
	size_t enough; /* more bytes than these are of no use: samples may end then; 0: all are */
};

struct html_columns html_columns_of(const struct html_paths *t, const struct html_limits *limits);
/* Bytes of all columns. */
size_t html_columns_size(const struct html_columns *c);
void html_columns_done(struct html_columns *c);

#endif
