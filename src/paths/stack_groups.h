/* stack_groups.h - the groups on a stack, each once: rows of a table, or lines.
 *
 * The stacks of a profile are a tree: each knows its caller's (profile.h). A tree of paths is the
 * same tree with places instead of frames, in which equal paths are one node. If no path is shown,
 * sums over the stacks equal sums over the paths, and the paths need not be made. */
#ifndef PATHS_STACK_GROUPS_H
#define PATHS_STACK_GROUPS_H

#include "base/vec.h"
#include "paths/path_maker.h"

struct stack_groups {
	const struct samples *samples;
	/* The groups of a frame on stacks below that root, valid until the next call; always the
	 * same. */
	struct path_places (*groups)(void *arg, uint32_t root, frameid frame);
	void *arg;
	uint32_t *known[STACK_ARRAYS]; /* [root][frame]: the frame's only group + 1; NULL: nothing
					  known below that root */
	VEC(uint32_t) met;   /* [group]: number, from 1, of the last stack with that group */
	VEC(uint32_t) on;    /* groups of the last stack */
	VEC(frameid) frames; /* scratch of learn() */
	uint32_t n_stacks;   /* stacks walked so far */
};

void stack_groups_init(struct stack_groups *s, const struct samples *samples,
		       struct path_places (*groups)(void *arg, uint32_t root, frameid frame),
		       void *arg);
void stack_groups_done(struct stack_groups *s);

/* The groups on a stack, valid until the next call. groups() is called for frames that were not
 * seen below that root before, from the outermost one on, as by path_maker.h. */
struct path_places stack_groups_on(struct stack_groups *s, uint32_t root, stackid stack);

/* The only group of the innermost frame of `stack`, the last one walked; NONE: it has none, or
 * several. */
uint32_t stack_groups_leaf(const struct stack_groups *s, uint32_t root, stackid stack);

/* Whether the group is on the last stack. */
static inline bool stack_groups_has(const struct stack_groups *s, uint32_t group)
{
	return group < s->met.n && s->met.at[group] == s->n_stacks;
}

/* Inclusive times of groups of places, if each frame has at most one place: places[frame], or NONE.
 * For the event of samples_event(). `group_of`: [places], below n_groups, or NONE. Returns
 * [n_groups], to be freed. */
double *stack_times(const struct samples *s, const symid *places, const uint32_t *group_of,
		    size_t n_groups);

#endif
