/* hists_levels.h - the rows of hists in display order or, for --hierarchy, as a tree: one level per
 * key, with sums of the rows below. */
#ifndef REPORT_HISTS_LEVELS_H
#define REPORT_HISTS_LEVELS_H

#include "report/hists_ask.h"

struct hists_entry {
	uint32_t row;                            /* the row; of a sum, one of its rows */
	uint32_t level;                          /* 0: top level */
	bool is_leaf;                            /* a single row, not a sum */
	const struct hist_stat *self, *children; /* [event] */
	uint32_t group;                          /* kin_row.group */
	uint32_t n_folded; /* number of rows that were folded into this one: their functions only
			      lead to it */
};

struct hists_levels {
	struct hists_entry *at;
	size_t n;
	struct hist_stat *sums;
	size_t n_left_out; /* rows beyond the limit of a page */
	size_t n_folded;   /* rows folded in an overview */
};

void hists_levels_make(const struct hists *h, const struct hists_ask *a, struct hists_levels *ret);
void hists_levels_free(struct hists_levels *l);

#endif
