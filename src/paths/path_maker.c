/* path_maker.c - makes paths of stacks. */
#include "paths/path_maker.h"

#include <stdlib.h>

/* In place_of[]: the frame has several places. Any number but a place's. */
static const uint32_t SEVERAL = UINT32_MAX;

void path_maker_init(struct path_maker *m, const struct samples *s,
		     struct path_places (*places)(void *arg, frameid frame), void *arg)
{
	*m = (struct path_maker){ .stacks = s->stacks, .places = places, .arg = arg };
	stack_numbers_init(&m->paths, s->n_stacks);
	vec_reserve(&m->nodes, s->n_stacks); /* about as many as stacks */
	vec_push(&m->nodes, ((struct path_node){ .place = NONE }));
	m->place_of = xalloc((s->n_frames + 1) * sizeof(*m->place_of));
}

static struct callee_fields fields(const struct path_maker *m)
{
	struct path_node *root = m->nodes.at;
	return (struct callee_fields){ &root->first, &root->next, sizeof(*root), &root->place,
				       sizeof(*root) };
}

static pathid push_node(struct path_maker *m, pathid caller, uint32_t place)
{
	pathid id = (pathid)m->nodes.n;
	vec_push(&m->nodes, ((struct path_node){ .caller = caller, .place = place }));
	return id;
}

static __attribute__((noinline)) pathid find_or_add(struct path_maker *m, pathid caller,
						    uint32_t place)
{
	struct callee_fields f = fields(m);
	pathid next = (pathid)m->nodes.n, id = callees_find(&m->index, &f, caller, place, next);
	if (id == next) {
		push_node(m, caller, place);
		f = fields(m);
		callees_list(&m->index, &f, caller, id);
	}
	return id;
}

/* Most paths go on as the last one below that caller did, or are the first there. */
static inline pathid below(struct path_maker *m, pathid caller, uint32_t place)
{
	pathid first = m->nodes.at[caller].first;
	if (!first) {
		first = push_node(m, caller, place);
		m->nodes.at[caller].first = first;
		return first;
	}
	if (m->nodes.at[first].place == place)
		return first;
	return find_or_add(m, caller, place);
}

pathid path_maker_below(struct path_maker *m, pathid caller, uint32_t place)
{
	return below(m, caller, place);
}

pathid path_maker_root(struct path_maker *m, uint32_t root, uint32_t place)
{
	while (m->roots.n <= root)
		vec_push(&m->roots, 0);
	if (!m->roots.at[root])
		m->roots.at[root] = path_maker_below(m, 0, place);
	return m->roots.at[root];
}

pathid path_maker_frame(struct path_maker *m, pathid caller, frameid frame)
{
	struct path_places places = m->places(m->arg, frame);
	m->place_of[frame] = places.n == 1 ? places.at[0] + 1 : SEVERAL;
	for (size_t i = 0; i < places.n; i++)
		caller = path_maker_below(m, caller, places.at[i]);
	return caller;
}

/* Most frames have one place. */
static inline pathid below_frame(struct path_maker *m, pathid caller, frameid frame)
{
	uint32_t place = m->place_of[frame];
	if (!place || place == SEVERAL)
		return path_maker_frame(m, caller, frame);
	return below(m, caller, place - 1);
}

/* Goes up the stack to the first caller with a known path, then down again. */
pathid path_maker_stack(struct path_maker *m, uint32_t root, stackid stack)
{
	const struct stack *stacks = m->stacks;
	pathid at = m->roots.at[root];
	m->todo.n = 0;
	for (; stack; stack = stacks[stack].caller) {
		pathid known = *stack_numbers_at(&m->paths, root, stack);
		if (known) {
			at = known;
			break;
		}
		vec_push(&m->todo, stack);
	}
	for (size_t i = m->todo.n; i--;) {
		stack = m->todo.at[i];
		at = below_frame(m, at, stacks[stack].frame);
		*stack_numbers_at(&m->paths, root, stack) = at;
	}
	return at;
}

static void link_nodes(struct path_node *nodes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		nodes[i].first = 0;
	for (size_t i = n; i-- > 1;) {
		struct path_node *caller = &nodes[nodes[i].caller];
		nodes[i].next = caller->first;
		caller->first = (pathid)i;
	}
	nodes[0].next = 0;
}

static void forget_stacks(struct path_maker *m)
{
	pairs_free(&m->index);
	free(m->place_of);
	vec_free(&m->roots);
	vec_free(&m->todo);
	stack_numbers_done(&m->paths);
}

struct path_tree *path_maker_end(struct path_maker *m)
{
	struct path_tree *p = xalloc(sizeof(*p));
	forget_stacks(m);
	link_nodes(m->nodes.at, m->nodes.n);
	p->nodes = m->nodes.at;
	p->n = m->nodes.n;
	*m = (struct path_maker){ 0 };
	return p;
}

/* Sets `next` of each node to its number and `first` to its end. Until a node's turn `first` is the
 * size of its subtree; then it is the number of the next node below it. */
static void number_nodes(struct path_node *nodes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		nodes[i].first = 1;
	for (size_t i = n; i-- > 1;)
		nodes[nodes[i].caller].first += nodes[i].first;
	nodes[0].first = 1;
	nodes[0].next = 0;
	for (size_t i = 1; i < n; i++) {
		struct path_node *node = &nodes[i], *caller = &nodes[node->caller];
		node->next = caller->first;
		caller->first += node->first;
		node->first = node->next + 1;
	}
}

pathid *path_maker_list(struct path_maker *m, struct listed_paths *ret)
{
	struct path_node *nodes = m->nodes.at;
	size_t n = m->nodes.n;
	forget_stacks(m);
	number_nodes(nodes, n);
	*ret = (struct listed_paths){ xrealloc(NULL, n, sizeof(*ret->at)), n };
	for (size_t i = 0; i < n; i++)
		ret->at[nodes[i].next] = (struct listed_path){ nodes[nodes[i].caller].next,
							       nodes[i].place, nodes[i].first };
	pathid *numbers = (pathid *)nodes; /* reuses the memory of the nodes */
	for (size_t i = 0; i < n; i++)
		numbers[i] = nodes[i].next;
	*m = (struct path_maker){ 0 };
	return xrealloc(numbers, n, sizeof(*numbers));
}
