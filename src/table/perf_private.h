/* perf_private.h - what perf report --stdio's layout is written with. */
#ifndef TABLE_PERF_PRIVATE_H
#define TABLE_PERF_PRIVATE_H

#include "base/sink.h"
#include "base/vec.h"
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
	size_t *cols, n; /* shown */
	size_t *widths;  /* [shown] */
	size_t tree, level, sum, hit, n_sum, n_hit, children, self;
	const char *mode, *value;
	uint64_t total, limit;
	bool skip_first, no_children, hierarchy;
	size_t group_size, put; /* characters of this figure's column */
	VEC(struct perf_hop) hops;
	bool open[PERF_MAX_DEPTH + 2]; /* [depth]: more siblings follow at that level */
};

/* A name safe to print; to be freed. The separator of columns is not left in it. */
char *perf_name(const struct perf_page *p, const char *text);
/* Of a share. */
double perf_percent(double share);
/* Right-aligned in so many columns, coloured. */
void perf_put_percent(struct perf_page *p, double percent, int width);

/* A row of a chain, below the row that was written last. */
void perf_keep_hop(struct perf_page *p, const struct kin_row *row);
/* All that were kept, of a row of this weight; they are gone then. */
void perf_put_chains(struct perf_page *p, uint64_t row_sum);

#endif
