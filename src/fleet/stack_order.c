/* stack_order.c - ranks frames by id, and walks through the tree of stacks. */
#include "fleet/stack_order.h"

#include <stdlib.h>

#include "base/sort.h"

static bool frames_ascend(const struct answers *a)
{
	for (size_t i = 1; i < a->frames.n; i++)
		if (a->frames.at[i].row.id < a->frames.at[i - 1].row.id)
			return false;
	return true;
}

static uint32_t *rank_frames(const struct answers *a)
{
	size_t n = a->frames.n;
	struct sort_key *keys = xrealloc(NULL, n + 1, sizeof(*keys));
	uint32_t *ranks = xrealloc(NULL, n + 1, sizeof(*ranks));
	for (size_t i = 0; i < n; i++)
		keys[i] = (struct sort_key){ a->frames.at[i].row.id, (uint32_t)i };
	sort_keys(keys, n);
	for (size_t i = 0; i < n; i++)
		ranks[keys[i].index] = (uint32_t)i;
	free(keys);
	return ranks;
}

/* Whether nodes are in order already, if frames are: each node must follow the previous one as in a
 * depth-first walk. */
static bool nodes_are_in_order(const struct answers *a)
{
	const struct stack *nodes = a->tree.nodes.at;
	for (uint32_t i = 1; i < a->tree.nodes.n; i++) {
		uint32_t at = i - 1, left = 0;
		while (at && at != nodes[i].caller) {
			left = at;
			at = nodes[at].caller;
		}
		if (at != nodes[i].caller || (left && nodes[left].frame > nodes[i].frame))
			return false;
	}
	return true;
}

/* The nodes except the empty stack, largest frame first. */
static uint32_t *by_falling_rank(const struct answers *a, const struct stack_order *o)
{
	const struct stack *nodes = a->tree.nodes.at;
	size_t n = a->tree.nodes.n;
	uint32_t *end = xalloc((a->frames.n + 1) * sizeof(*end)); /* rank -> end of its range in
								     sorted */
	uint32_t *sorted = xrealloc(NULL, n, sizeof(*sorted)), above = 0;
	for (size_t i = 1; i < n; i++)
		end[stack_order_rank(o, nodes[i].frame)]++;
	for (size_t rank = a->frames.n; rank-- > 0;) {
		above += end[rank];
		end[rank] = above;
	}
	for (uint32_t i = 1; i < n; i++)
		sorted[--end[stack_order_rank(o, nodes[i].frame)]] = i;
	free(end);
	return sorted;
}

struct called { /* children of a node, as a list; 0: none */
	uint32_t first, next;
};

static struct called *list_called(const struct answers *a, const struct stack_order *o)
{
	const struct stack *nodes = a->tree.nodes.at;
	struct called *called = xalloc(a->tree.nodes.n * sizeof(*called));
	uint32_t *sorted = by_falling_rank(a, o);
	for (size_t i = 0; i + 1 < a->tree.nodes.n; i++) {
		uint32_t *first = &called[nodes[sorted[i]].caller].first;
		called[sorted[i]].next = *first;
		*first = sorted[i];
	}
	free(sorted);
	return called;
}

static uint32_t *walk(const struct answers *a, const struct stack_order *o)
{
	struct called *called = list_called(a, o);
	uint32_t *order = xrealloc(NULL, a->tree.nodes.n, sizeof(*order)), at = 0;
	for (size_t i = 0; i < a->tree.nodes.n; i++) {
		order[i] = at;
		if (called[at].first) {
			at = called[at].first;
			continue;
		}
		while (at && !called[at].next)
			at = a->tree.nodes.at[at].caller;
		at = called[at].next;
	}
	free(called);
	return order;
}

struct stack_order stack_order_of(const struct answers *a)
{
	struct stack_order o = { 0 };
	if (!frames_ascend(a))
		o.ranks = rank_frames(a);
	if (a->tree.nodes.n && (o.ranks || !nodes_are_in_order(a)))
		o.nodes = walk(a, &o);
	return o;
}

void stack_order_free(struct stack_order *o)
{
	free(o->ranks);
	free(o->nodes);
}
