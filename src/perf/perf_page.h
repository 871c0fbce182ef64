/* perf_page.h - what perf report --stdio's layout is written with. */
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
	bool last; /* of its siblings */
};

struct perf_page {
	struct kin_table *t;
	const struct render_opts *o;
	struct sink s;
	const struct perf_layout *layout;
	const struct hists_ask *ask;
	size_t *cols, n;     /* shown */
	enum hist_key *keys; /* [column of t]: what it shows; N_HIST_KEYS: no key */
	size_t *widths;      /* [shown] */
	size_t tree, level, sum, hit, n_sum, n_hit, children, self;
	uint64_t total;
	enum chain_mode mode;   /* MODE_NONE, too, where there are no chains */
	size_t group_size, put; /* characters of this figure's column */
	VEC(struct perf_hop) hops;
	bool open[PERF_MAX_DEPTH + 2]; /* [depth]: more siblings follow at that level */
};

/* perf report's layout of the report "hists". */
extern const struct renderer perf_renderer;

/* A name safe to print; to be freed. The separator of columns is not left in it. */
char *perf_name(const struct perf_page *p, const char *text);
/* Of a share. */
double perf_percent(double share);
/* "12.34%", the number right-aligned in so many columns, coloured. Returns how wide it is. */
size_t perf_put_percent(struct perf_page *p, double percent, unsigned width);

/* A row of a chain, below the row that was written last. */
void perf_keep_hop(struct perf_page *p, const struct kin_row *row);
/* All that were kept, of a row of this weight; they are gone then. */
void perf_put_chains(struct perf_page *p, uint64_t row_sum);

#endif
