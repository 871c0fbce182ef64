/* path_maker.h - builds a tree of paths, one stack at a time.
 *
 *	struct path_maker m;
 *	path_maker_init(&m, samples, places, arg);
 *	pathid root = path_maker_root(&m, key, place);
 *	... pathid end = path_maker_stack(&m, key, sample->stack); count it there ...
 *	struct path_tree *tree = path_maker_end(&m);
 *
 * Paths are below roots: nodes right below node 0, which the caller numbers (a command, a thread
 * ...), densely from 0. Nodes are in the order of creation, so those of one call are the last ones.
 */
#ifndef PATHS_PATH_MAKER_H
#define PATHS_PATH_MAKER_H

#include "base/callees.h"
#include "base/vec.h"
#include "paths/path_tree.h"
#include "paths/stack_numbers.h"

struct path_places { /* outermost first */
	const uint32_t *at;
	size_t n;
};

struct path_maker {
	const struct stack *stacks;
	/* Valid until the next call; always the same. */
	struct path_places (*places)(void *arg, frameid frame);
	void *arg;
	VEC(struct path_node) nodes; /* with links as in callees.h */
	struct pairs index;
	uint32_t *place_of;         /* [frame]: its only place + 1; 0: not known yet */
	VEC(pathid) roots;          /* [number]; 0: none yet */
	struct stack_numbers paths; /* by root and stack */
	VEC(stackid) todo;          /* scratch of path_maker_stack() */
};

/* `places` may be NULL if no stacks are added. */
void path_maker_init(struct path_maker *m, const struct samples *s,
		     struct path_places (*places)(void *arg, frameid frame), void *arg);
/* The root with that number; created with that place if there is none. */
pathid path_maker_root(struct path_maker *m, uint32_t root, uint32_t place);
/* The path one step below another one; created if there is none. */
pathid path_maker_below(struct path_maker *m, pathid caller, uint32_t place);
pathid path_maker_frame(struct path_maker *m, pathid caller, frameid frame);
/* The path of a stack below an existing root: the root itself if no frame has places. */
pathid path_maker_stack(struct path_maker *m, uint32_t root, stackid stack);
/* The tree, without `ends`; nodes below one caller are in the order of creation. */
struct path_tree *path_maker_end(struct path_maker *m);
/* The same as a list. Returns the number of each node in the list, [n], to be freed. */
pathid *path_maker_list(struct path_maker *m, struct listed_paths *ret);

#endif
