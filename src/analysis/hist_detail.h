/* hist_detail.h - keys for attributes that only some samples have (profile/detail.h). */
#ifndef ANALYSIS_HIST_DETAIL_H
#define ANALYSIS_HIST_DETAIL_H

#include "analysis/hists_private.h"

/* The value of a detail key for a sample. */
uint32_t hist_detail_value(struct hists_private *h, enum hist_key key, const struct sample *s);
const char *hist_detail_text(struct hists_private *h, enum hist_key key, uint32_t value,
			     const struct hist_row *row);
/* hists_subject() and hists_owner() for a detail key. */
const char *hist_detail_subject(struct hists_private *h, enum hist_key key, uint32_t value,
				const struct hist_row *row);
enum hist_owner hist_detail_owner(const struct hists_private *h, enum hist_key key, uint32_t value,
				  const struct hist_row *row);
void hist_detail_done(struct hists_private *h);

#endif
