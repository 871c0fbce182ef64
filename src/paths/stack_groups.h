/* stack_groups.h - the groups that a stack comes by, each once: rows of a table, lines.
 *
 * The stacks of a profile are a tree: each knows its caller's (profile.h). A tree of paths is the
 * same one seen through places, in which equal paths are one node. Where no path is shown, sums
 * over the stacks are sums over the paths, and the paths need not be made. */
#ifndef PATHS_STACK_GROUPS_H
#define PATHS_STACK_GROUPS_H

#include "base/vec.h"
#include "paths/path_maker.h"

struct stack_groups {
	const struct samples *samples;
	/* The groups of a frame on stacks of that root, valid until the next call; always the same.
	 */
	struct path_places (*groups)(void *arg, uint32_t root, frameid frame);
	void *arg;
	uint32_t *known[STACK_ARRAYS]; /* [root][frame]: its only group + 1; NULL: none was asked
					  for */
	VEC(uint32_t) met;             /* [group]: the last stack that came by it, counted from 1 */
	VEC(uint32_t) on;              /* groups of the last stack */
	VEC(frameid) frames;           /* of learn() */
	uint32_t n_stacks;             /* so far */
};

void stack_groups_init(struct stack_groups *s, const struct samples *samples,
		       struct path_places (*groups)(void *arg, uint32_t root, frameid frame),
		       void *arg);
void stack_groups_done(struct stack_groups *s);

/* The groups of a stack, valid until the next call. Frames that were not met below that root are
 * asked for from the outermost one on, as a maker of paths does. */
struct path_places stack_groups_on(struct stack_groups *s, uint32_t root, stackid stack);

/* The only group of the innermost frame of `stack`, the last one; NONE: it has none, or several. */
uint32_t stack_groups_leaf(const struct stack_groups *s, uint32_t root, stackid stack);

/* Whether the last stack came by it. */
static inline bool stack_groups_has(const struct stack_groups *s, uint32_t group)
{
	return group < s->met.n && s->met.at[group] == s->n_stacks;
}

/* Inclusive times of groups of places, where frames have one place each: [n_frames], or NONE. Of
 * the event by samples_event(). `group_of`: [places], below n_groups, or NONE. Returns [n_groups],
 * to be freed. */
double *stack_times(const struct samples *s, const symid *places, const uint32_t *group_of,
		    size_t n_groups);

#endif
