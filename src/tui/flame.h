/* flame.h - a flame graph as a tree of call paths with their times.
 *
 * The first node is the total. Children of a node are its callees or, in an inverted graph, its
 * callers, sorted by weight. */
#ifndef TUI_FLAME_H
#define TUI_FLAME_H

#include "base/arena.h"
#include "base/base.h"
#include "base/vec.h"
#include "kin/samples.h"

enum { FLAME_ROOT = 0 };

struct flame_node {
	const char *name, *object;    /* escaped; object: the function's; NULL: none */
	enum kin_object_kind kind;    /* of the function's object */
	bool is_main;                 /* the function's object is the executable */
	uint32_t parent, child, next; /* child: the heaviest one; next: the next lighter sibling;
					 NONE: none */
	uint32_t function, depth;     /* depth of the root: 0 */
	uint32_t times;               /* recursion that was folded: how often the function is on a
					 path, at most; else 0 */
	uint64_t weight, self;        /* weight of samples whose path includes the node, and of
					 those that end in it */
};

struct flame {
	struct arena names;
	VEC(struct flame_node) nodes; /* parents before their children */
	uint32_t deepest;
	bool is_time; /* weights are nanoseconds */
};

enum flame_order {
	FLAME_CALLEES,  /* from callers to callees */
	FLAME_FOLDED,   /* the same; a function that is already on the path is the node it has there
			 */
	FLAME_INVERTED, /* from the functions that took the time to their callers, at most 64
			   levels deep */
	N_FLAME_ORDERS
};

/* Makes the graph of the samples of the n-th event that has samples. Truncated stacks begin at
 * "[cut]". */
MUST_CHECK struct kin_error *flame_new(struct kin_profile *p, size_t event, enum flame_order order,
				       struct flame *ret);
/* Makes the graph of samples with the function on their stack: its callees, from its outermost call
 * on, so that recursion counts a sample once. With `callers`: the graph of samples taken in the
 * function, and its callers. The root's only child is the function. comm: only threads of that
 * name; NULL: all; by_process: comm is the name of the process. *total: weight of all samples of
 * the event. */
MUST_CHECK struct kin_error *flame_of_function(struct kin_profile *p, size_t event, bool callers,
					       const char *function, const char *comm,
					       bool by_process, struct flame *ret, uint64_t *total);
void flame_done(struct flame *f);

/* The id of the n-th event that has samples; NONE: none. Rewind the samples afterwards. */
uint32_t flame_event(struct kin_samples *s, size_t n);

/* The weight of all samples with a function on their stack whose name contains `text`; each sample
 * counts once. */
uint64_t flame_weight_of(const struct flame *f, const char *text);

/* The node of `to` with the same path of names as `node`, or the last node on that path that
 * exists. */
uint32_t flame_same(const struct flame *from, uint32_t node, const struct flame *to);

#endif
