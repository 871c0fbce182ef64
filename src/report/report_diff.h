/* report_diff.h - the table of functions that became slower or faster between the sides of a
 * comparison. */
#ifndef REPORT_REPORT_DIFF_H
#define REPORT_REPORT_DIFF_H

#include "report/comparison.h"

struct diff_opts {
	bool all;     /* include differences within chance */
	bool limited; /* the total may grow by at most `limit`, a share of the total before */
	double min_share, limit;
	double detect;   /* size of a change (0.02: 2 %) for which the number of needed runs is
			    computed; 0: none */
	bool by_percent; /* show relative changes of each function with their confidence intervals
			  */
};

/* The columns of the table, without rows. */
struct kin_table *diff_table(const struct comparison *c);

/* The comparison must be finished. It stays the caller's, and may be freed before the table. */
struct kin_table *diff_report(struct comparison *c, const struct diff_opts *o);

#endif
