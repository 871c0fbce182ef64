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

/* Records of one address are summed. Blocks that the code shows and no record is of were executed 0
 * times.
 *
 * `gnu`: as GNU gprof 2.40 keeps them: none unless places are lines; the first ten addresses of a
 * place, in the order they were read, the records of further ones lost; sums that wrap. */
struct blocks *blocks_new(const struct profile *p, const struct symbols *s, bool gnu);
void blocks_free(struct blocks *b); /* NULL is fine */

#endif
