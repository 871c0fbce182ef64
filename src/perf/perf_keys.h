/* perf_keys.h - keys of rows in perf report's words. */
#ifndef PERF_PERF_KEYS_H
#define PERF_PERF_KEYS_H

#include "report/hists_style.h"

/* What perf writes for a key of a row, its padding included. */
const char *perf_key_text(struct arena *a, const struct hists *h, size_t row, enum hist_key key);
/* Columns that perf makes room for: at least as many as the text has, but for names of threads, of
 * which it is the last one that counts. */
size_t perf_key_width(struct arena *a, const struct hists *h, size_t row, enum hist_key key);
/* The column is no narrower than this. */
size_t perf_key_least_width(enum hist_key key);
/* The title as perf writes it, blanks in front included. */
const char *perf_key_title(enum hist_key key);
/* Blanks behind it are left out at the end of a line. */
bool perf_key_is_ragged(enum hist_key key);
/* Names in it are cut where the column is narrower. */
bool perf_key_is_cut(enum hist_key key);

/* Whether perf shows its column of instructions per cycle, which is empty. */
bool perf_shows_ipc(const struct hists_ask *a);

#endif
