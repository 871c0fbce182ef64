/* flow_graph.h - the basic blocks of a function and the jumps between them: from the jumps that
 * were counted follow the counts of all, and of the lines that blocks belong to.
 *
 * Block 0 is the function's entry, block 1 its exit; whatever enters any other block leaves it.
 * Fill in n_blocks and arcs, then call flow_graph_solve(). Counts wrap at 64 bits, as in the
 * program. */
#ifndef INPUT_FLOW_GRAPH_H
#define INPUT_FLOW_GRAPH_H

#include "base/base.h"
#include "base/vec.h"

enum { FLOW_ENTRY = 0, FLOW_EXIT = 1 };

struct flow_arc {
	uint32_t from, to; /* blocks, below n_blocks */
	uint64_t count;
	bool is_known;
};

struct flow_block {
	uint64_t count;
	uint64_t in, out;                 /* sums of the known arcs */
	uint32_t unknown_in, unknown_out; /* numbers of the others */
	uint32_t first_in, first_out; /* ranges of arcs_in[] and of arcs, up to the next block's */
	uint32_t mark;                /* number of the line that it was last counted for */
	uint32_t first_loop, n_loop;  /* its arcs among those of the line's loops */
	uint32_t seen;                /* number of the search that last came here */
	bool is_known;
};

struct flow_graph {
	uint32_t n_blocks;
	VEC(struct flow_arc) arcs;
	struct flow_block *blocks; /* [n_blocks] once solved */
	uint32_t *arcs_in;         /* arcs by the block they lead to */
	uint32_t n_marks, n_searches;
};

/* Orders arcs by `from` and `to`. False: some counts do not follow from the known ones. O(n log n)
 */
MUST_CHECK bool flow_graph_solve(struct flow_graph *g);
/* How often control came to one of the n blocks from another one, plus the rounds of the loops
 * among them, as gcov takes them apart. False: there are too many loops. */
MUST_CHECK bool flow_graph_visits(struct flow_graph *g, const uint32_t *blocks, size_t n,
				  uint64_t *ret);
void flow_graph_done(struct flow_graph *g);

#endif
