/* blocks.h - executions of basic blocks, by the place that their first instruction belongs to. */
#ifndef ANALYSIS_BLOCKS_H
#define ANALYSIS_BLOCKS_H

#include "analysis/flow.h"
#include "profile/profile.h"
#include "symbolize/symbols.h"

struct block_count {
	uint64_t addr;
	uint64_t count;
};

struct blocks {
	struct block_count *at; /* by place; within one by address, each address once */
	size_t n;
	uint32_t *first;    /* [n_symbols + 1]: those of place i are at[first[i]] up to at[first[i +
			       1]] */
	size_t n_outside;   /* records at addresses of no place */
	struct flow *flow;  /* of programs that call a hook in each block; else NULL */
	bool has_saturated; /* some sum did not fit 64 bits and stayed at the largest value */
};

/* How records become counts, for programs that have it otherwise. */
struct block_rules {
	bool of_lines; /* there are none unless places are lines */
	bool recorded; /* those that were recorded are all, where they were recorded: the code is
			* not asked for blocks that never ran */
	/* Sums the n records of one place, in the order they were read, in place; returns how many
	 * are left. */
	size_t (*sum)(struct blocks *b, struct block_count *at, size_t n);
};

/* Records of one address are summed. Blocks that the code shows and no record is of were executed 0
 * times. `rules`: NULL: ours. */
struct blocks *blocks_new(const struct profile *p, const struct symbols *s,
			  const struct block_rules *rules);
void blocks_free(struct blocks *b); /* NULL is fine */

#endif
