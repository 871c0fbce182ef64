/* chains.h - greedily places nodes that call each other next to each other.
 *
 * Nodes (functions, files) begin alone. A link ties a node that is still alone to the nearer end of
 * the other node's chain; links between two chains are ignored. */
#ifndef GNU_CHAINS_H
#define GNU_CHAINS_H

#include "base/vec.h"

struct link { /* an arc between two different nodes */
	uint32_t from, to;
	uint32_t rank; /* breaks ties of count */
	uint64_t count;
	bool placed; /* it ties its ends together, or must not do so */
};

typedef VEC(struct link *) link_list;

struct node {
	uint32_t next, prev; /* in the chain; NONE at its ends */
	uint32_t chain;      /* NONE: alone */
	int64_t at;          /* position in the chain, which extends from chains[].first to .last */
	bool placed;         /* placed in the order, or must not be */
};

struct chain {
	uint32_t head, tail;
	int64_t first, last;
};

struct chains {
	struct node *nodes;
	size_t n;
	VEC(struct chain) chains;
	VEC(uint32_t) order; /* the result so far */
};

void chains_init(struct chains *c, size_t n);
void chains_done(struct chains *c); /* also frees the order */

void chains_emit(struct chains *c, uint32_t id); /* appends a node to the order */

/* Makes chains of the links with 99 % of all uses (all: of all links), in the order of the list,
 * and appends them to the order; with `all`, also callers that ended up in no chain. Unused links
 * are pushed to `left`. Placed nodes stay where they are. */
void chains_order(struct chains *c, const link_list *links, bool all, link_list *left);

/* Sorts by count, the largest first, then by rank. */
void links_sort(link_list *list);

#endif
