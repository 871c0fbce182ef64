/* perf_layout.h - data of perf report --stdio's layout of the report "hists" that is in neither
 * rows nor columns. Made with the table, read by the renderer. */
#ifndef PERF_PERF_LAYOUT_H
#define PERF_PERF_LAYOUT_H

#include "report/hists_state.h"

struct perf_layout {
	const struct hists_state *state;
	size_t widths[N_HIST_KEYS]; /* widths that perf reserves for the keys shown */
	bool unmapped;              /* a sample was in no known function */
	const char *const *elided;  /* [n_elided]: "dso: libc.so.6": keys with a single value */
	size_t n_elided;
	bool last_elided;       /* the last column is elided */
	const char *sort_order; /* printed above accesses; NULL: not printed */
	bool skip_first_hop;    /* omit the first hop of chains: it is the row */
};

/* Sets the layout's data; for hists_style.describe. */
void perf_layout_describe(struct hists_state *s);

/* NULL: the table is not the report "hists" in perf's style. */
const struct perf_layout *perf_layout_of(const struct kin_table *t);

#endif
