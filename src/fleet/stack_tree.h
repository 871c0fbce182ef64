/* stack_tree.h - stacks as a tree of frames that share common callers. */
#ifndef FLEET_STACK_TREE_H
#define FLEET_STACK_TREE_H

#include "base/pairs.h"
#include "base/vec.h"

struct stack_node {
	uint32_t caller; /* smaller than its own index */
	uint32_t frame;
};

struct stack_tree {
	VEC(struct stack_node)
	nodes; /* [0] is the empty stack; empty until the first stack is added */
	/* [node]; shorter than nodes if some were pushed that nobody has looked for yet */
	VEC(struct node_callees) callees;
	struct pairs ids; /* (caller, frame): all callees but the first of each */
};

/* The node of `frame` called by `caller`, a node or 0; created if there is none. */
uint32_t stack_tree_add(struct stack_tree *t, uint32_t caller, uint32_t frame);
/* Appends a node without checking for an equal one. False: there is no such caller. */
MUST_CHECK bool stack_tree_push(struct stack_tree *t, struct stack_node x);
void stack_tree_free(struct stack_tree *t);

#endif
