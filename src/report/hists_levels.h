/* hists_levels.h - rows of hists in the order to be shown, or, for --hierarchy, levels of them: a
 * level for each key, with the sums of those below. */
#ifndef REPORT_HISTS_LEVELS_H
#define REPORT_HISTS_LEVELS_H

#include "report/hists_ask.h"

struct hists_entry {
	uint32_t row;                            /* or one of those it stands for */
	uint32_t level;                          /* 0: uppermost */
	bool is_leaf;                            /* a row, not a sum of some */
	const struct hist_stat *self, *children; /* [event] */
	uint32_t group;                          /* kin_row.group */
	uint32_t n_folded;                       /* rows left out that only lead to it */
};

struct hists_levels {
	struct hists_entry *at;
	size_t n;
	struct hist_stat *sums;
	size_t n_left_out; /* rows of a page, that is limited */
	size_t n_folded;   /* of an overview */
};

void hists_levels_make(const struct hists *h, const struct hists_ask *a, struct hists_levels *ret);
void hists_levels_free(struct hists_levels *l);

#endif
