/* stack_groups.h - sums over the groups on stacks, each once per stack: rows of a table, or lines.
 *
 * The stacks of a profile are a tree: each knows its caller's (profile.h). A tree of paths is the
 * same tree with places instead of frames, in which equal paths are one node. If no path is shown,
 * sums over the stacks equal sums over the paths, and the paths need not be made.
 *
 * Cost: from one stack to the next, only the frames that they do not share. A group gets the
 * difference between the totals when it goes off the path and when it came on it. */
#ifndef PATHS_STACK_GROUPS_H
#define PATHS_STACK_GROUPS_H

#include "base/vec.h"
#include "paths/path_maker.h"

struct path_sum { /* sum over samples of one event */
	uint64_t weight, count;
};

struct stack_step { /* a stack on the path to another one */
	stackid stack;
	uint32_t n_on; /* number of groups above its frame */
};

struct groups_path { /* the path to the last stack below a root, outermost first */
	uint32_t root;
	VEC(struct stack_step) steps;
	VEC(uint32_t) on; /* the groups on it, each once */
	VEC(struct path_sum)
	came_on;                 /* [on * n_sums + i]: totals when the group came on the path */
	struct path_sum *totals; /* [n_sums]: of the samples below the root */
};

struct stack_groups {
	const struct samples *samples;
	size_t n_sums;
	/* The groups of a frame on stacks below that root, valid until the next call; always the
	 * same. A group occurs below one root only. */
	struct path_places (*groups)(void *arg, uint32_t root, frameid frame);
	void *arg;
	uint32_t *known[STACK_ARRAYS]; /* [root][frame]: the frame's only group + 1; NULL: nothing
					  known below that root */
	/* By root. Later roots share the last one in turn. */
	struct groups_path paths[STACK_ARRAYS + 1];
	VEC(bool) is_on;           /* [group]: it is on the path below its root */
	VEC(struct path_sum) sums; /* [group * n_sums + i]; whole after stack_groups_finish() */
	VEC(stackid) scratch;
};

/* n_sums: how many sums each group has, one per event. */
void stack_groups_init(struct stack_groups *s, const struct samples *samples, size_t n_sums,
		       struct path_places (*groups)(void *arg, uint32_t root, frameid frame),
		       void *arg);
void stack_groups_done(struct stack_groups *s);

/* Goes to a stack. The caller adds its samples to the returned totals [n_sums], valid until the
 * next call. groups() is called for frames that were not seen below that root before, from the
 * outermost one on, as by path_maker.h. */
struct path_sum *stack_groups_at(struct stack_groups *s, uint32_t root, stackid stack);

/* The groups on the stack that stack_groups_at() went to, below that root. */
struct path_places stack_groups_on(const struct stack_groups *s, uint32_t root);

/* The only group of the innermost frame of `stack`, to which stack_groups_at() went; NONE: it has
 * none, or several. */
uint32_t stack_groups_leaf(const struct stack_groups *s, uint32_t root, stackid stack);

/* Whether the group is on the stack that stack_groups_at() went to, below the group's root. */
static inline bool stack_groups_has(const struct stack_groups *s, uint32_t group)
{
	return group < s->is_on.n && s->is_on.at[group];
}

/* Completes the sums, after the last stack. */
void stack_groups_finish(struct stack_groups *s);

/* Inclusive times of groups of frames or, by a program with the option lines, of the places that
 * program_lines() has for them. For the event of samples_event(). `group_of`: of each frame, or of
 * each place; below n_groups, or NONE. Returns [n_groups], to be freed. */
double *stack_times(const struct samples *s, const struct program *lines, const uint32_t *group_of,
		    size_t n_groups);

#endif
