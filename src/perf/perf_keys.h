/* perf_keys.h - keys of rows in perf report's words. */
#ifndef PERF_PERF_KEYS_H
#define PERF_PERF_KEYS_H

#include "report/hists_style.h"

/* perf's text for a key of a row, with its padding. */
const char *perf_key_text(struct arena *a, const struct hists *h, size_t row, enum hist_key key);
/* The width that perf reserves: at least that of the text, except that for names of threads the
 * last name counts. */
size_t perf_key_width(struct arena *a, const struct hists *h, size_t row, enum hist_key key);
/* The least width of the column. */
size_t perf_key_least_width(enum hist_key key);
/* perf's title, with leading blanks. */
const char *perf_key_title(enum hist_key key);
/* Whether trailing blanks are omitted at the end of a line. */
bool perf_key_is_ragged(enum hist_key key);
/* Whether names are truncated to the width of the column. */
bool perf_key_is_cut(enum hist_key key);

/* Whether perf shows its column of instructions per cycle, which is empty. */
bool perf_shows_ipc(const struct hists_ask *a);

#endif
