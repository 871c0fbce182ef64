/* stack_tree.h - stacks as a tree of frames that share common callers. */
#ifndef PROFILE_STACK_TREE_H
#define PROFILE_STACK_TREE_H

#include "base/callees.h"
#include "base/vec.h"
#include "profile/profile_samples.h"

struct stack_links { /* links of one node: callees.h */
	stackid first, next;
};

struct stack_tree {
	VEC(struct stack) nodes; /* [0] is the empty stack; empty before stack_tree_begin() */
	/* [node]; shorter than nodes if some were pushed and nothing was looked up since */
	VEC(struct stack_links) links;
	struct pairs index; /* by caller and frame */
};

/* Adds the empty stack. Adding any other stack does this as well. */
void stack_tree_begin(struct stack_tree *t);
/* The node of `frame` called by `caller`, a node or 0; created if there is none. */
stackid stack_tree_add(struct stack_tree *t, stackid caller, frameid frame);
/* Appends a node without checking for an equal one. False: there is no such caller. */
MUST_CHECK bool stack_tree_push(struct stack_tree *t, struct stack x);
/* Frees the data that is only needed for adding stacks. */
void stack_tree_seal(struct stack_tree *t);
void stack_tree_free(struct stack_tree *t);

#endif
