/* diff.h - two profiles side by side, function by function. */
#ifndef REPORT_DIFF_H
#define REPORT_DIFF_H

#include "base/base.h"
#include "kin/table.h"

struct kin_error;

/* One of the two. The tables are the report "flat" with the columns of diff_columns. */
struct diff_side {
	struct kin_table *flat;
	struct kin_table *by_run; /* the same by run; NULL if there is one run only */
	size_t n_runs;            /* >= 1 */
	/* What a sample stands for, in ticks. */
	double per_sample;
	bool sampled; /* it is of a program that ran, and took a time that another run may not */
};

struct diff_opts {
	bool inclusive; /* times with callees */
	bool shares;    /* of each side's total, instead of times */
	bool all;       /* also what differs by less than chance */
	bool limited;   /* the total may grow by `limit` of what it was, and no more */
	double min_share, limit;
};

/* NULL-terminated keys of what the tables must have. */
extern const char *const diff_columns[];

/* The sides may be freed before the table. KIN_ERROR_MISMATCH if they do not count the same. */
MUST_CHECK struct kin_error *diff_report(const struct diff_side *before,
					 const struct diff_side *after, const struct diff_opts *o,
					 struct kin_table **ret);

#endif
