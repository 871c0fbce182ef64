/* hists_private.h - representation of paths and rows; only for hists*.c and callchain.c. */
#ifndef ANALYSIS_HISTS_PRIVATE_H
#define ANALYSIS_HISTS_PRIVATE_H

#include "analysis/hists.h"
#include "base/arena.h"
#include "base/map64.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "paths/path_maker.h"
#include "paths/stack_groups.h"
#include "profile/detail.h"

enum { NO_CALL = UINT32_MAX }; /* the innermost function at a frame: its line is the frame's */

struct hop { /* a frame, or a function inlined there, reduced to what distinguishes rows and chains
	      */
	uint32_t fkey, ckey;
	frameid frame; /* the first frame with this hop */
	symid place;
	bool inlined;
	uint32_t call;      /* which of program_inlines() is called on its line, or NO_CALL */
	uint32_t skey, row; /* the row that was looked up last, and the sample keys it was for;
			       NONE: none yet */
};

struct path { /* an entry of the list of paths. Its place there is a hop; the place of a root is a
		 skey */
	uint32_t row;   /* NONE: it has no row */
	uint32_t depth; /* number of hops; 0 for roots (one per skey) and for path 0 */
	pathid above; /* the next path towards the root with the same row; 0: this is the outermost
		       */
	uint32_t first_end; /* index of the first of ends[] at or below this path; they go up to
			       first_end of the path that follows all those below */
};

struct path_end { /* samples end at the path */
	pathid path;
	uint32_t own; /* number of the path's sums in own[] */
};

struct row_end {           /* samples of the first event whose Self goes to one row */
	pathid path;       /* the path at which they end */
	bool is_elsewhere; /* the path belongs to another row */
	struct path_sum sum;
};

/* Interns tuples of values as ids. */
struct tuples {
	size_t width;
	struct map64 *ids; /* [width]: (id of the tuple's prefix, value) */
	uint32_t *n_prefixes;
	VEC(uint32_t) values; /* [id * width + i] */
	uint32_t n;
};

struct leaf { /* samples whose Self goes to another row than that of their path */
	pathid path;
	uint32_t row;
};

struct visit { /* samples with one stack and skey; used instead of a path if only rows are needed */
	stackid stack;
	uint32_t skey;
	taskid task; /* task of the first of these samples */
};

/* A stack in combination with one skey. */
struct stack_path {
	pathid path;
	uint32_t row; /* the row that its Self goes to */
};

struct frame_hops { /* hops of one frame: the physical function first, then those inlined into it */
	uint32_t first, n;
	uint32_t self; /* the hop that Self goes to if this is the innermost frame */
};

struct hists_private {
	struct hists hists; /* the public part */
	const struct hists_rules *rules;
	struct arena arena;
	struct strtab *strings; /* interned for this analysis: base names, lines */
	enum hist_key sample_keys[N_HIST_KEYS], frame_keys[N_HIST_KEYS];
	struct tuples skeys, fkeys;
	uint8_t column[N_HIST_KEYS]; /* index of a key in its tuples */

	VEC(struct hop) hops;
	struct map64 hop_ids;       /* (fkey, ckey) */
	struct frame_hops *hops_of; /* [frame]; n 0: not resolved yet */
	VEC(uint32_t) hop_lists;
	struct map64 address_ids, chain_ids, offset_ids, line_ids;
	uint32_t *dso_names; /* [object]: strid + 1 */

	/* owned by hist_detail.c */
	struct map64 wide_ids, detail_ids;
	VEC(uint64_t) wide;
	struct symbol_table **variables; /* [object]; NULL: not needed yet */
	bool by_time;                    /* HIST_TIME is a key */
	VEC(detailid) skey_details;      /* [skey]: detail of its first sample */

	struct path_maker maker;   /* roots are skeys */
	VEC(uint32_t) own_at;      /* [node]: the path's sums in own[]; 0: no sample ends there */
	VEC(uint32_t) own_rows;    /* [own]: the path's row; NONE: none */
	VEC(frameid) end;          /* scratch of path_end() */
	struct listed_paths list;  /* the finished paths */
	struct path *paths;        /* [list.n + 1]; the last one marks the end */
	VEC(struct path_end) ends; /* in the order of paths */

	VEC(struct hist_row) rows;
	struct map64 row_ids; /* (skey, fkey) */

	struct stack_sums *stack_sums; /* owned by hists_stacks.c */
	VEC(struct visit) visits;
	struct stack_numbers visit_of; /* by skey; index of the visit + 1 */
	/* [(own_at or visit) * n_events + event]: sum of the samples that end there. For paths [0]
	 * is unused. */
	VEC(struct hist_stat) own;
	VEC(struct leaf) leaves;
	VEC(struct hist_stat) leaf_own;
	struct map64 parent_ids; /* by name */
	struct map64 leaf_ids;   /* (path, row) */

	bool has_latency;      /* some sample's latency is not its weight */
	struct path_sum *sums; /* [end + 1]: samples of the first event that end before it */
	struct hist_stat *self, *children, *total, *unfiltered;
	VEC(uint64_t) levels; /* [(row * n_events + event) * HIST_LEVELS + level] */

	uint8_t *parent_matches, *ignore_matches; /* [place]: 0 not known, 1 no, 2 yes */
	symid *parents;                           /* [stack]; NULL: not needed */
	stackid *parent_at;  /* [stack]: the stack that ends at that function */
	stackid *ignored;    /* [stack]: the stack whose function matched; NULL: not needed */
	uint32_t *depths;    /* [stack]; NULL: no stack is deeper than max_stack */
	uint64_t *weight_of; /* [stack]: weight of samples of the first event; NULL: not needed */
	uint32_t *targets;   /* [fkey]: hists_target(); NULL: not needed */
	uint32_t *n_callers; /* [fkey]: hists_n_callers(); NULL: not needed */
	strid *commands;     /* [task]: name of its process; NULL: not needed */

	/* For chains, by row: entries first[row] .. first[row + 1] */
	uint32_t *first_path, *paths_of; /* paths of the row: in caller order the outermost ones */
	uint32_t *first_row_end;
	struct row_end *row_ends;   /* by the row that Self goes to, in the order of paths */
	struct path_sum *innermost; /* [path]: samples of the first event for whose stacks this is
				       the innermost path of its row; NULL in caller order */
};

uint32_t tuples_add(struct tuples *t, const uint32_t *values);

/* hist_key.c */
uint32_t map64_number(struct map64 *ids, uint64_t key); /* numbers keys in order of appearance */
uint64_t hist_wide(const struct hists_private *h, uint32_t value); /* hist_detail.c */
uint32_t hist_dso_of(struct hists_private *h, objid object);       /* strid of its base name */
/* `call`: see struct hop. */
uint32_t hist_key_of_frame(struct hists_private *h, enum hist_key key, frameid frame, symid place,
			   bool inlined, uint32_t call);
/* The offset of a frame's address in its function; false if that is not known. */
bool hist_offset(const struct hists_private *h, frameid frame, symid place, uint64_t *ret);
/* The last name of the thread of the row's first sample. */
const char *hist_last_comm(const struct hists_private *h, const struct hist_row *row);
/* NULL: it is a key of details. */
const char *hist_key_text(const struct hists_private *h, enum hist_key key, uint32_t value,
			  const struct hist_row *row);
/* strid of "file.c:12", 0: not known. */
uint32_t hist_line_id(struct hists_private *h, frameid frame, uint32_t call);

static inline void hist_stat_add_one(struct hist_stat *to, const struct hist_stat *from)
{
	to->weight += from->weight;
	to->count += from->count;
	to->latency += from->latency;
}

/* Most recordings have one event, and vectorised loops are slow to start. */
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

/* hists_sums.c: sums samples along the paths. For chains it also finds which samples belong to
 * which row. */
void hists_sum_paths(struct hists_private *h);
/* Sum of the samples of the first event that end at a path or below it. */
static inline struct path_sum hists_sum_below(const struct hists_private *h, pathid path)
{
	const struct path_sum *from = &h->sums[h->paths[path].first_end];
	const struct path_sum *to = &h->sums[h->paths[h->list.at[path].end].first_end];
	return (struct path_sum){ to->weight - from->weight, to->count - from->count };
}

/* hists_stacks.c: all that is needed if there are no chains: sums over the samples of each stack,
 * and finally Self and Children of all rows. */
bool hists_stacks_suffice(const struct hists_private *h);
void hists_stacks_add(struct hists_private *h, const struct visit *visit, size_t event,
		      const struct hist_stat *stat);
void hists_stacks_sum(struct hists_private *h);

/* hists_passing.c: sets targets and n_callers; consumes weight_of. */
void hists_find_passing(struct hists_private *h);

/* hists_paths.c: the path of a stack, and the row that its Self goes to. */
void hists_begin_paths(struct hists_private *h);
/* Appends a sum for each event to own[]. Returns the number of such groups before. */
uint32_t hists_new_own(struct hists_private *h);
/* The number of the path's sums in own[]. `row`: the row that the Self of the first sample that
 * ends there goes to. */
uint32_t hists_own_at(struct hists_private *h, pathid path, uint32_t skey, uint32_t row,
		      taskid task);
struct stack_path hists_path(struct hists_private *h, stackid stack, uint32_t skey, taskid task);
const struct frame_hops *hists_hops(struct hists_private *h, frameid frame);
uint32_t hists_row(struct hists_private *h, uint32_t skey, uint32_t hop, taskid task);
/* Whether the options leave out the frame. */
bool hists_leaves_out(const struct hists_private *h, frameid frame);
uint32_t hists_leaf_hop(struct hists_private *h, stackid stack); /* the hop that Self goes to */
bool hists_match(uint8_t *memo, struct hists_private *h, const regex_t *re, symid place);
/* The stack whose leaf counts: --ignore-callees may cut off the innermost part. */
stackid hists_leaf_of(const struct hists_private *h, stackid stack);
/* The function that the Self of a stack goes to; *frame: the frame it is in. */
symid hists_leaf(struct hists_private *h, stackid stack, frameid *frame);

#endif
