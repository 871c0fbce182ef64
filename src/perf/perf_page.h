/* perf_page.h - the writer of perf report --stdio's layout. */
#ifndef PERF_PERF_PAGE_H
#define PERF_PERF_PAGE_H

#include "base/sink.h"
#include "base/vec.h"
#include "perf/perf_layout.h"
#include "table/render.h"

enum { PERF_PERCENT_WIDTH = 8, PERF_MAX_DEPTH = 512 };

struct perf_hop { /* a row of a chain */
	char *name;
	uint32_t depth;
	bool joins;
	uint64_t sum, hit, n_sum, n_hit;
	bool last; /* the last of its siblings */
};

struct perf_page {
	struct kin_table *t;
	const struct render_opts *o;
	struct sink s;
	const struct perf_layout *layout;
	const struct hists_ask *ask;
	size_t *cols, n;               /* shown */
	enum hist_key *keys;           /* [column of t]: its key; N_HIST_KEYS: none */
	size_t *widths, *title_widths; /* [shown] */
	size_t tree, level, sum, hit, n_sum, n_hit, children, self;
	uint64_t total;
	enum chain_mode mode;   /* MODE_NONE also if there are no chains */
	size_t group_size, put; /* characters of this figure's column */
	VEC(struct perf_hop) hops;
	bool open[PERF_MAX_DEPTH + 2]; /* [depth]: more siblings follow at that level */
};

/* perf report's layout of the report "hists". */
extern const struct renderer perf_renderer;

/* A name escaped for printing, without the separator of columns; to be freed. */
char *perf_name(const struct perf_page *p, const char *text);
/* A share in percent. */
double perf_percent(double share);
/* Writes "12.34%", coloured, the number right-aligned in `width` columns. Returns the width. */
size_t perf_put_percent(struct perf_page *p, double percent, unsigned width);

/* Keeps a row of a chain, below the row written last. */
void perf_keep_hop(struct perf_page *p, const struct kin_row *row);
/* Writes and drops the rows kept, for a row of this weight. */
void perf_put_chains(struct perf_page *p, uint64_t row_sum);

#endif
