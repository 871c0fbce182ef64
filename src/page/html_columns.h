/* html_columns.h - paths and samples of a page as columns of numbers, and what is left out of them
 * so that the file becomes no larger than it may.
 *
 * Each column is one number after the other as LEB128, seven bits to a byte, least first. Nodes are
 * in the order of a walk: a caller, then all below it. Where narrow nodes are left out one stands
 * for those right below the same caller, with their samples: its function is the one behind all
 * functions. What functions lose by that is in columns of its own, so that the sums of the whole
 * recording stay exact. */
#ifndef PAGE_HTML_COLUMNS_H
#define PAGE_HTML_COLUMNS_H

#include "page/html_paths.h"

enum html_column_key {
	COLUMN_NODE_UP,       /* levels from the node before it up to its caller; [nodes - 1] */
	COLUMN_NODE_FUNCTION, /* [nodes - 1]: all but the root */
	COLUMN_SAMPLE_TIME,   /* units since the sample before; [samples] as all of these */
	COLUMN_SAMPLE_THREAD,
	COLUMN_SAMPLE_EVENT, /* event * 2 + side */
	COLUMN_SAMPLE_NODE,  /* difference to the sample before: 2 * d, or -2 * d - 1 */
	COLUMN_SAMPLE_WEIGHT,
	COLUMN_SAMPLE_COUNT,
	COLUMN_SAMPLE_OBJECT, /* of "objects", + 1, where its function was left out; else 0 */
	COLUMN_SAMPLE_PLACE,  /* number of its place + 1; 0: none */
	COLUMN_PLACE_OBJECT,  /* [places] as the next three: of "objects" */
	COLUMN_PLACE_ADDRESS, /* as linked */
	COLUMN_PLACE_FILE,    /* of "files", + 1; 0: its line is not known */
	COLUMN_PLACE_LINE,
	COLUMN_LOST_EVENT, /* event * 2 + side: of what functions lose; [lost] as the next three */
	COLUMN_LOST_FUNCTION,
	COLUMN_LOST_SELF,
	COLUMN_LOST_TOTAL,
	N_HTML_COLUMNS
};

struct html_column {
	size_t n;
	VEC(uint8_t) bytes;
};

struct html_columns {
	struct html_column at[N_HTML_COLUMNS];
	uint64_t first_ns; /* time 0 of the column, on the clock of the samples */
	uint64_t unit_ns;  /* of times; 0: there are none */
	size_t n_left_out; /* nodes */
};

extern const char *const html_column_keys[N_HTML_COLUMNS];

/* The time between the first sample and the last; 0: times are not known. */
uint64_t html_duration(const struct html_paths *t, uint64_t *first_ns);

struct html_limits {
	size_t max_nodes; /* the widest ones */
	uint64_t unit_ns; /* of times; 0: none are kept */
	bool places;      /* are kept */
};

struct html_columns html_columns_of(const struct html_paths *t, const struct html_limits *limits);
void html_columns_done(struct html_columns *c);

#endif
