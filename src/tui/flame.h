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
	const char *name;             /* escaped */
	enum kin_object_kind kind;    /* of its object */
	bool is_main;                 /* its object is the executable */
	uint32_t parent, child, next; /* NONE: none; child: the heaviest one */
	uint32_t function, depth;     /* depth: 0 for the root */
	uint64_t weight, self;        /* of the samples through it, and of those that end there */
};

struct flame {
	struct arena names;
	VEC(struct flame_node) nodes; /* parents before their children */
	uint32_t deepest;
	bool is_time; /* weights are nanoseconds */
};

/* The graph of the samples of the n-th event with samples. callers: inverted, from the functions
 * with the time to their callers, with at most 64 of those on each path. Truncated stacks begin at
 * "[cut]". */
MUST_CHECK struct kin_error *flame_new(struct kin_profile *p, size_t event, bool callers,
				       struct flame *ret);
/* The graph of samples with the function on their stack: its callees, from its outermost call on (a
 * sample counts once, however deep the recursion); or, with `callers`, of samples taken in it: its
 * callers. The root's only child is the function. comm: only threads of that name; NULL: all;
 * by_process: comm is the name of the process. *total: weight of all samples of the event. */
MUST_CHECK struct kin_error *flame_of_function(struct kin_profile *p, size_t event, bool callers,
					       const char *function, const char *comm,
					       bool by_process, struct flame *ret, uint64_t *total);
void flame_done(struct flame *f);

/* The id of the n-th event with samples; NONE: none. The samples must be rewound afterwards. */
uint32_t flame_event(struct kin_samples *s, size_t n);

/* The time of all samples with a function on their stack whose name contains `text`, each counted
 * once. */
uint64_t flame_weight_of(const struct flame *f, const char *text);

/* The node of `to` with the same path of names as `node`, or the last node on that path that
 * exists. */
uint32_t flame_same(const struct flame *from, uint32_t node, const struct flame *to);

#endif
