/* stack_tree.h - stacks as a tree of frames: those that begin alike share their callers. */
#ifndef FLEET_STACK_TREE_H
#define FLEET_STACK_TREE_H

#include "base/pairs.h"
#include "base/vec.h"

struct stack_node {
	uint32_t caller; /* smaller than its own index */
	uint32_t frame;
};

struct stack_tree {
	VEC(struct stack_node) nodes; /* [0] is the empty stack; none before the first was added */
	/* [node]; shorter than nodes where some were pushed that nobody looked for yet */
	VEC(struct node_callees) callees;
	struct pairs ids; /* (caller, frame): all but the first callee of each */
};

/* The node of `frame` called by `caller`, a node or 0; made if there is none. */
uint32_t stack_tree_add(struct stack_tree *t, uint32_t caller, uint32_t frame);
/* Puts a node behind the others, without a look at whether there is an equal one. False: there is
 * no such caller. */
MUST_CHECK bool stack_tree_push(struct stack_tree *t, struct stack_node x);
void stack_tree_free(struct stack_tree *t);

#endif
