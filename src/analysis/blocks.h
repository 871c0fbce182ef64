/* blocks.h - executions of basic blocks, by the place of their first instruction. */
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
	struct block_count *at; /* by place, then by address, each address once */
	size_t n;
	uint32_t *first;    /* [n_symbols + 1]: place i has at[first[i]] up to at[first[i + 1]] */
	size_t n_outside;   /* records at addresses without a place */
	struct flow *flow;  /* if the program calls a hook in each block; otherwise NULL */
	bool has_saturated; /* some sum exceeded 64 bits and stayed at the largest value */
};

/* Rules for counts, for programs that differ from kin. */
struct block_rules {
	bool of_lines; /* there are counts only if places are lines */
	bool recorded; /* if blocks were recorded, the code is not searched for blocks that never
			  ran */
	/* Sums the n records of one place, which are in reading order, in place. Returns how many
	 * are left. */
	size_t (*sum)(struct blocks *b, struct block_count *at, size_t n);
};

/* Records of the same address are summed. Blocks that are in the code but have no record were
 * executed 0 times. `rules` NULL: kin's own. */
struct blocks *blocks_new(const struct profile *p, const struct symbols *s,
			  const struct block_rules *rules);
void blocks_free(struct blocks *b); /* NULL is fine */

#endif
