/* report_diff.h - the table of what became slower, and what faster, between the sides of a
 * comparison. */
#ifndef REPORT_REPORT_DIFF_H
#define REPORT_REPORT_DIFF_H

#include "report/comparison.h"

struct diff_opts {
	bool all;     /* also what differs by less than chance */
	bool limited; /* the total may grow by `limit` of what it was, and no more */
	double min_share, limit;
	double detect;   /* how many runs it takes to find such a change, 0.02: 2 %; 0: not asked */
	bool by_percent; /* the change of each function by itself, with its interval */
};

/* The comparison is finished, and stays the caller's; it may be freed before the table. */
struct kin_table *diff_report(struct comparison *c, const struct diff_opts *o);

#endif
