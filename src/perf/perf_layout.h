/* perf_layout.h - what perf report --stdio's layout knows of the report "hists" that rows and
 * columns do not say. Made with the table, read by the renderer. */
#ifndef PERF_PERF_LAYOUT_H
#define PERF_PERF_LAYOUT_H

#include "report/hists_state.h"

struct perf_layout {
	const struct hists_state *state;
	size_t widths[N_HIST_KEYS]; /* of keys that are shown: what perf makes room for */
	bool unmapped;              /* a sample was in no function that is known */
	const char *const *elided;  /* [n_elided]: "dso: libc.so.6": keys of one value only */
	size_t n_elided;
	bool last_elided;       /* the last column is one of them */
	const char *sort_order; /* said above accesses; NULL: not */
	bool skip_first_hop;    /* of chains: it is the row */
};

/* Takes it down; hists_style.describe. */
void perf_layout_describe(struct hists_state *s);

/* NULL: the table is no report "hists", or not as perf has it. */
const struct perf_layout *perf_layout_of(const struct kin_table *t);

#endif
