/* stack_order.h - an order of a store's stacks that only depends on their contents, not on the
 * order of answers or of the cache: stacks sort like words, letter by letter from the outermost
 * caller, with the ids of frames as letters.
 *
 * Neighbours in this order share callers, so code that visits stacks in it finds most of its data
 * in the processor's caches. In the order of hashes, in which sums arrive, a report of 200,000
 * stacks takes half as much processor time again. */
#ifndef FLEET_STACK_ORDER_H
#define FLEET_STACK_ORDER_H

#include "fleet/answers.h"

struct stack_order {
	uint32_t *ranks; /* [a->frames]: rank by id; NULL: frames are in order of ids */
	uint32_t *nodes; /* [a->tree]: the nodes in order; NULL: they are in order */
};

/* Adding frames or stacks invalidates the result. O(frames log frames + nodes) for an unordered
 * tree, else O(frames + nodes). */
struct stack_order stack_order_of(const struct answers *a);
void stack_order_free(struct stack_order *o);

static inline uint32_t stack_order_rank(const struct stack_order *o, uint32_t frame)
{
	return o->ranks ? o->ranks[frame] : frame;
}

/* The i-th node; the 0th is the empty stack. Callers come before callees. */
static inline size_t stack_order_node(const struct stack_order *o, size_t i)
{
	return o->nodes ? o->nodes[i] : i;
}

#endif
