/* chains.h - putting things that call each other next to each other, greedily.
 *
 * Nodes (functions, files) begin alone. A link from one node to another ties the one that is still
 * alone to the nearer end of the other's chain; links between two chains are of no use any more. */
#ifndef GNU_CHAINS_H
#define GNU_CHAINS_H

#include "base/vec.h"

struct link { /* an arc between two different nodes */
	uint32_t from, to;
	uint32_t rank; /* breaks ties of count */
	uint64_t count;
	bool placed; /* it ties its ends together, or is not to */
};

typedef VEC(struct link *) link_list;

struct node {
	uint32_t next, prev; /* in the chain; NONE at its ends */
	uint32_t chain;      /* NONE: alone */
	int64_t at;          /* position in the chain: its ends are chains[].first and .last */
	bool placed;         /* written to the order, or not to be */
};

struct chain {
	uint32_t head, tail;
	int64_t first, last;
};

struct chains {
	struct node *nodes;
	size_t n;
	VEC(struct chain) chains;
	VEC(uint32_t) order; /* the result, as far as it is known */
};

void chains_init(struct chains *c, size_t n);
void chains_done(struct chains *c); /* also frees the order */

void chains_emit(struct chains *c, uint32_t id); /* next in the order */

/* Make chains of the links that are 99 % of all use (all: of all), in the order of the list, and
 * append them to the order; with `all`, also callers that came to be in no chain. Links that could
 * not be used are pushed to `left`. Nodes already placed stay where they are. */
void chains_order(struct chains *c, const link_list *links, bool all, link_list *left);

/* By count, the largest first, then by rank. */
void links_sort(link_list *list);

#endif
