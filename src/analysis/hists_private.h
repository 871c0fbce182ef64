/* hists_private.h - how paths and rows are kept; for hists*.c and callchain.c only. */
#ifndef ANALYSIS_HISTS_PRIVATE_H
#define ANALYSIS_HISTS_PRIVATE_H

#include "analysis/hists.h"
#include "base/arena.h"
#include "base/map64.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "paths/path_maker.h"
#include "profile/detail.h"

struct hop { /* a frame, or a function inlined there, as far as rows and chains tell it apart */
	uint32_t fkey, ckey;
	frameid frame; /* the first such */
	symid place;
	bool inlined;
};

struct path { /* a node of the tree: what it is to rows. Its place is a hop, of a root a skey */
	uint32_t row;   /* NONE: none */
	uint32_t depth; /* hops; 0 for roots, of which there is one per skey, and for node 0 */
	pathid above;   /* the next path towards the root with the same row; 0: this is the
			 * outermost */
};

/* Tuples of values as ids. */
struct tuples {
	size_t width;
	struct map64 *ids; /* [width]: (id of the tuple up to there, value) */
	uint32_t *n_prefixes;
	VEC(uint32_t) values; /* [id * width + i] */
	uint32_t n;
};

struct leaf { /* samples whose Self goes elsewhere than to the row of their path */
	pathid path;
	uint32_t row;
};

struct visit { /* samples of one stack and skey; where rows suffice it takes the place of a path */
	stackid stack;
	uint32_t skey;
	taskid task; /* of the first of them */
};

/* What a stack is to one skey. */
struct stack_path {
	pathid path;
	uint32_t row; /* of its Self */
};

struct frame_hops { /* of one frame, the physical function first, then what is inlined into it */
	uint32_t first, n;
};

struct hists_private {
	struct hists hists; /* what is public of this */
	const struct hists_rules *rules;
	struct arena arena;
	struct strtab *strings; /* of this analysis: base names, lines */
	enum hist_key sample_keys[N_HIST_KEYS], frame_keys[N_HIST_KEYS];
	struct tuples skeys, fkeys;
	uint8_t column[N_HIST_KEYS]; /* of a key in its tuples */

	VEC(struct hop) hops;
	struct map64 hop_ids;       /* (fkey, ckey) */
	struct frame_hops *hops_of; /* [frame]; n 0: not yet looked at */
	VEC(uint32_t) hop_lists;
	struct map64 address_ids, chain_ids, offset_ids, line_ids, inlined_ids;
	uint32_t *dso_names; /* [object]: strid + 1 */

	/* hist_detail.c's */
	struct map64 wide_ids, detail_ids;
	VEC(uint64_t) wide;
	struct symbol_table **variables; /* [object]; NULL: not asked for */
	bool by_time;                    /* HIST_TIME is a key */
	VEC(detailid) skey_details;      /* [skey]: of the first such sample */

	struct path_maker maker; /* roots are skeys */
	struct path_tree *tree;  /* what was made; NULL: none */
	VEC(struct path) paths;  /* [node] */
	VEC(frameid) end;        /* of path_end() */

	VEC(struct hist_row) rows;
	struct map64 row_ids; /* (skey, fkey) */

	struct row_sums *row_sums; /* hists_rows.c's */
	VEC(struct visit) visits;
	struct stack_numbers visit_of; /* by skey; + 1 */
	VEC(struct hist_stat) own; /* [path or visit * n_events + event]: samples that end there */
	VEC(struct leaf) leaves;
	VEC(struct hist_stat) leaf_own;
	struct map64 parent_ids; /* by name */
	struct map64 leaf_ids;   /* (path, row) */

	struct hist_stat *below; /* [path * n_events + event]: own, and all below */
	struct hist_stat *self, *children, *total, *unfiltered;
	VEC(uint64_t) levels; /* [(row * n_events + event) * HIST_LEVELS + level] */

	uint8_t *parent_matches, *ignore_matches; /* [place]: 0 not known, 1 no, 2 yes */
	symid *parents;                           /* [stack]; NULL: not asked for */
	stackid *parent_at;                       /* [stack]: where that is */
	stackid *ignored;    /* [stack]: the one that matched; NULL: not asked for */
	uint32_t *depths;    /* [stack]; NULL: none is deeper than max_stack */
	uint64_t *weight_of; /* [stack]: of samples of the first event; NULL: not asked for */
	uint32_t *targets;   /* [fkey]: hists_target(); NULL: not asked for */
	strid *commands;     /* [task]: of its process; NULL: not asked for */

	/* For chains, by row: first[row] .. first[row + 1] */
	uint32_t *first_path, *paths_of; /* paths of the row: in caller order the outermost ones */
	uint32_t *first_leaf,
		*leaves_of; /* in caller order paths with samples, by the row of their Self */
	struct hist_stat *regular;   /* [path]: samples of the first event that end there and whose
				      * Self is   the path's row's */
	struct hist_stat *innermost; /* [path]: samples of the first event in whose stacks this is
				      * the last path of its row; in caller order NULL */
};

uint32_t tuples_add(struct tuples *t, const uint32_t *values);

/* hist_key.c */
uint32_t map64_number(struct map64 *ids, uint64_t key);            /* keys numbered as they come */
uint64_t hist_wide(const struct hists_private *h, uint32_t value); /* hist_detail.c */
uint32_t hist_dso_of(struct hists_private *h, objid object);       /* strid of its base name */
uint32_t hist_key_of_frame(struct hists_private *h, enum hist_key key, frameid frame, symid place,
			   bool inlined);
/* How far into its function a frame's address is; false if that is not known. */
bool hist_offset(const struct hists_private *h, frameid frame, symid place, uint64_t *ret);
/* What the thread of its first sample was called in the end. */
const char *hist_last_comm(const struct hists_private *h, const struct hist_row *row);
/* NULL: it is a key of details. */
const char *hist_key_text(const struct hists_private *h, enum hist_key key, uint32_t value,
			  const struct hist_row *row);
uint32_t hist_line_id(struct hists_private *h,
		      frameid frame); /* strid of "file.c:12", 0: not known */

static inline void hist_stat_add_one(struct hist_stat *to, const struct hist_stat *from)
{
	to->weight += from->weight;
	to->count += from->count;
	to->latency += from->latency;
}

/* Most recordings have one event, and what compilers make of a loop begins slowly. */
static inline void hist_stat_add(struct hist_stat *to, const struct hist_stat *from, size_t n)
{
	if (n == 1) {
		hist_stat_add_one(to, from);
		return;
	}
	for (size_t i = 0; i < n; i++)
		hist_stat_add_one(&to[i], &from[i]);
}

static inline void hist_stat_take(struct hist_stat *to, const struct hist_stat *from)
{
	to->weight -= from->weight;
	to->count -= from->count;
	to->latency -= from->latency;
}

/* hists_sums.c: what samples add up to along the paths; for chains, what of them is whose. */
void hists_sum_paths(struct hists_private *h);

/* hists_rows.c: all that is asked for without chains; what the samples of one stack add up to, and
 * in the end self and children of all rows. */
bool hists_rows_suffice(const struct hists_private *h);
void hists_rows_add(struct hists_private *h, const struct visit *visit, size_t event,
		    const struct hist_stat *stat);
void hists_rows_sum(struct hists_private *h);

/* hists_passing.c: fills targets; uses up weight_of. */
void hists_find_passing(struct hists_private *h);

/* hists_paths.c: the path of a stack, and the row that its Self goes to. */
void hists_begin_paths(struct hists_private *h);
struct stack_path hists_path(struct hists_private *h, stackid stack, uint32_t skey, taskid task);
const struct frame_hops *hists_hops(struct hists_private *h, frameid frame);
uint32_t hists_row(struct hists_private *h, uint32_t skey, uint32_t hop, taskid task);
/* Callers there are none, as far as the options go. */
bool hists_leaves_out(const struct hists_private *h, frameid frame);
uint32_t hists_leaf_hop(struct hists_private *h, stackid stack); /* that Self goes to */
bool hists_match(uint8_t *memo, struct hists_private *h, const regex_t *re, symid place);
/* The stack whose leaf counts: without what --ignore-callees cuts off. */
stackid hists_leaf_of(const struct hists_private *h, stackid stack);
/* The function that the Self of a stack goes to, and its frame. */
symid hists_leaf(struct hists_private *h, stackid stack, frameid *frame);

#endif
