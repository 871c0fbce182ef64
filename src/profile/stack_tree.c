/* stack_tree.c - a tree of stacks, each of which is there once. */
#include "profile/stack_tree.h"

void stack_tree_begin(struct stack_tree *t)
{
	if (!t->nodes.n)
		vec_push(&t->nodes, ((struct stack){ 0, 0 }));
}

static struct callee_fields fields(const struct stack_tree *t)
{
	return (struct callee_fields){ &t->links.at->first, &t->links.at->next,
				       sizeof(*t->links.at), &t->nodes.at->frame,
				       sizeof(*t->nodes.at) };
}

static stackid find(struct stack_tree *t, stackid caller, frameid frame, stackid next)
{
	struct callee_fields f = fields(t);
	return callees_find(&t->index, &f, caller, frame, next);
}

/* Links the first node that is not linked yet. */
static void list_next(struct stack_tree *t)
{
	stackid id = (stackid)t->links.n;
	vec_push(&t->links, ((struct stack_links){ 0 }));
	struct callee_fields f = fields(t);
	callees_list(&t->index, &f, t->nodes.at[id].caller, id);
}

/* Indexes the pushed nodes. If several are equal, the first one is found. */
static void index_pushed(struct stack_tree *t)
{
	if (!t->links.n)
		vec_push(&t->links, ((struct stack_links){ 0 }));
	while (t->links.n < t->nodes.n) {
		stackid id = (stackid)t->links.n;
		struct stack x = t->nodes.at[id];
		if (find(t, x.caller, x.frame, id) == id)
			list_next(t);
		else
			vec_push(&t->links, ((struct stack_links){ 0 }));
	}
}

stackid stack_tree_add(struct stack_tree *t, stackid caller, frameid frame)
{
	stack_tree_begin(t);
	index_pushed(t);
	stackid next = (stackid)t->nodes.n, id = find(t, caller, frame, next);
	if (id == next) {
		vec_push(&t->nodes, ((struct stack){ caller, frame }));
		list_next(t);
	}
	return id;
}

bool stack_tree_push(struct stack_tree *t, struct stack x)
{
	stack_tree_begin(t);
	if (x.caller >= t->nodes.n || t->nodes.n == NONE)
		return false;
	vec_push(&t->nodes, x);
	return true;
}

void stack_tree_seal(struct stack_tree *t)
{
	vec_free(&t->links);
	pairs_free(&t->index);
}

void stack_tree_free(struct stack_tree *t)
{
	stack_tree_seal(t);
	vec_free(&t->nodes);
}
