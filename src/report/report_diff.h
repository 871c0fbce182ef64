/* report_diff.h - the table of functions that became slower or faster between the sides of a
 * comparison. */
#ifndef REPORT_REPORT_DIFF_H
#define REPORT_REPORT_DIFF_H

#include "report/comparison.h"

struct diff_opts {
	bool all;     /* also differences within chance */
	bool limited; /* the total may grow by at most `limit`, a share of the total before */
	double min_share, limit;
	double detect;   /* how many runs it takes to detect a change of this size, 0.02: 2 %; 0: do
			    not compute it */
	bool by_percent; /* show relative changes of each function with their confidence intervals
			  */
};

/* Its columns, without rows. */
struct kin_table *diff_table(const struct comparison *c);

/* The comparison must be finished, and stays the caller's; it may be freed before the table. */
struct kin_table *diff_report(struct comparison *c, const struct diff_opts *o);

#endif
