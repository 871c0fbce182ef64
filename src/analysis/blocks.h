/* blocks.h - executions of basic blocks, by the place of their first instruction. */
#ifndef ANALYSIS_BLOCKS_H
#define ANALYSIS_BLOCKS_H

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
	bool has_saturated; /* some sum exceeded 64 bits and stayed at the largest value */
};

/* Rules for counts, for programs that differ from kin. */
struct block_rules {
	bool of_lines; /* there are counts only if places are lines */
	/* Sums the n records of one place, which are in reading order, in place. Returns how many
	 * are left. */
	size_t (*sum)(struct blocks *b, struct block_count *at, size_t n);
};

/* Records of the same address are summed. `rules` NULL: kin's own. */
struct blocks *blocks_new(const struct profile *p, const struct symbols *s,
			  const struct block_rules *rules);
void blocks_free(struct blocks *b); /* NULL is fine */

#endif
