/* stack_tree.c - most nodes are the only callee of their caller, or that which was looked up last:
 * the others are in an index. */
#include "fleet/stack_tree.h"

struct node_callees {
	uint32_t first, latest; /* nodes; 0: none yet */
};

static void begin(struct stack_tree *t)
{
	if (!t->nodes.n)
		vec_push(&t->nodes, ((struct stack_node){ 0, NONE }));
}

/* A node that is there, or `next`, which is then noted as one and is to be put there. */
static uint32_t find(struct stack_tree *t, uint32_t caller, uint32_t frame, uint32_t next)
{
	const struct stack_node *nodes = t->nodes.at;
	struct node_callees *c = &t->callees.at[caller];
	if (c->latest && nodes[c->latest].frame == frame)
		return c->latest;
	if (!c->first)
		c->latest = c->first = next;
	else if (nodes[c->first].frame == frame)
		c->latest = c->first;
	else
		c->latest = pairs_add(&t->ids, caller, frame, next);
	return c->latest;
}

/* Those that were pushed; of equal ones the first is the one to be found. */
static void index_pushed(struct stack_tree *t)
{
	while (t->callees.n < t->nodes.n) {
		uint32_t id = (uint32_t)t->callees.n;
		struct stack_node x = t->nodes.at[id];
		vec_push(&t->callees, ((struct node_callees){ 0 }));
		if (id)
			find(t, x.caller, x.frame, id);
	}
}

uint32_t stack_tree_add(struct stack_tree *t, uint32_t caller, uint32_t frame)
{
	begin(t);
	index_pushed(t);
	uint32_t id = find(t, caller, frame, (uint32_t)t->nodes.n);
	if (id == t->nodes.n) {
		vec_push(&t->nodes, ((struct stack_node){ caller, frame }));
		vec_push(&t->callees, ((struct node_callees){ 0 }));
	}
	return id;
}

bool stack_tree_push(struct stack_tree *t, struct stack_node x)
{
	begin(t);
	if (x.caller >= t->nodes.n || t->nodes.n == NONE)
		return false;
	vec_push(&t->nodes, x);
	return true;
}

void stack_tree_free(struct stack_tree *t)
{
	vec_free(&t->nodes);
	vec_free(&t->callees);
	pairs_free(&t->ids);
}
