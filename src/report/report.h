/* report.h - reports turn analysis results into tables. One file per report. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "analysis/callgraph.h"
#include "table/table.h"

struct kin_error;

struct report_opts {
	const char *const *subjects; /* NULL-terminated function or file names; NULL: all */
	double min_share;	     /* hide rows below this share of the total */
	const char *const *source_dirs; /* NULL-terminated; NULL: none */
	const char *layout;	     /* "order" only */
	bool gnu;		     /* rows and accidents as in GNU gprof 2.40 */
	bool zeroes;		     /* gprof -z: also what was neither sampled nor called */
	const struct selection *selection; /* NULL: everything */
};

struct report_input {
	const struct profile *profile;
	struct symbols *symbols;
	const struct callgraph *graph;
};

struct report {
	const char *name; /* "flat", "graph", "lines", ... */
	const char *help;
	bool by_line; /* wants symbols with a place per source line */
	/* The table borrows from `in`: keep that alive (table_keep). */
	MUST_CHECK struct kin_error *(*run)(const struct report_input *in,
					    const struct report_opts *o, struct kin_table **ret);
};

extern const struct report flat_report, graph_report, index_report, lines_report, annotate_report,
	counts_report, order_report, info_report;

const struct report *report_find(const char *name); /* NULL if none */

#endif
