/* flame.h - a flame graph as a tree: what was on the stack, with the time of each path.
 *
 * The first node is everything. Children of a node are called by it, or, in a graph that is turned
 * round, call it; they are in the order of their weights. */
#ifndef TUI_FLAME_H
#define TUI_FLAME_H

#include "base/arena.h"
#include "base/base.h"
#include "base/vec.h"
#include "kin/samples.h"

enum { FLAME_ROOT = 0 };

struct flame_node {
	const char *name;             /* escaped */
	enum kin_object_kind kind;    /* of the object that it is in */
	bool is_main;                 /* that is the executable */
	uint32_t parent, child, next; /* NONE: none; child: the heaviest one */
	uint32_t function, depth;     /* depth of the root: 0 */
	uint64_t weight, self;        /* of the samples through it, and of those that end there */
};

struct flame {
	struct arena names;
	VEC(struct flame_node) nodes; /* parents before their children */
	uint32_t deepest;
	bool is_time; /* weights are nanoseconds */
};

/* Of the samples of the n-th event that has any; callers: from the functions where time was spent
 * to their callers, of which each way has 64. Stacks that were cut begin at "[cut]". */
MUST_CHECK struct kin_error *flame_new(struct kin_profile *p, size_t event, bool callers,
				       struct flame *ret);
/* Of the samples that have the function on their stack: what it calls, from its outermost call on
 * (however deep a recursion, a sample counts once); or, with `callers`, of those that were taken in
 * it, who called it. The root's one child is the function. comm: of threads of that name alone;
 * NULL: of all. *total: of all samples of the event. */
MUST_CHECK struct kin_error *flame_of_function(struct kin_profile *p, size_t event, bool callers,
					       const char *function, const char *comm,
					       struct flame *ret, uint64_t *total);
void flame_done(struct flame *f);

/* Which event is the n-th that has samples; NONE: none. The samples are to be gone through anew. */
uint32_t flame_event(struct kin_samples *s, size_t n);

/* The time of all samples with such a function on their stack, each counted once: a text in its
 * name. */
uint64_t flame_weight_of(const struct flame *f, const char *text);

/* The node that is reached in `to` by the names on the way to `node`, or the last one of them that
 * is there. */
uint32_t flame_same(const struct flame *from, uint32_t node, const struct flame *to);

#endif
