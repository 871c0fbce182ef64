/* stack_groups.c - walks along stacks, and sums over the groups on them. */
#include "paths/stack_groups.h"

#include <stdlib.h>
#include <string.h>

/* In known[]; other values are a frame's only group + 1. */
enum { NOT_KNOWN = 0 };
static const uint32_t SEVERAL = UINT32_MAX; /* larger than any group + 1 */

void stack_groups_init(struct stack_groups *s, const struct samples *samples,
		       struct path_places (*groups)(void *arg, uint32_t root, frameid frame),
		       void *arg)
{
	*s = (struct stack_groups){ .samples = samples, .groups = groups, .arg = arg };
	vec_reserve(&s->met, 1); /* so that there is memory to point to */
	vec_reserve(&s->on, 1);
}

void stack_groups_done(struct stack_groups *s)
{
	for (size_t i = 0; i < STACK_ARRAYS; i++)
		free(s->known[i]);
	vec_free(&s->met);
	vec_free(&s->on);
	vec_free(&s->frames);
}

static uint32_t *known_below(struct stack_groups *s, uint32_t root)
{
	if (root >= STACK_ARRAYS)
		return NULL;
	if (!s->known[root])
		s->known[root] = xalloc(s->samples->n_frames * sizeof(**s->known));
	return s->known[root];
}

static void make_room(struct stack_groups *s, uint32_t group)
{
	if (group < s->met.n)
		return;
	size_t n = group + 1 - s->met.n;
	vec_reserve(&s->met, n);
	memset(s->met.at + s->met.n, 0, n * sizeof(*s->met.at));
	s->met.n += n;
	vec_reserve(&s->on, s->met.n); /* each group is in it at most once */
}

static void learn(struct stack_groups *s, uint32_t *known, uint32_t root, stackid stack)
{
	const struct stack *stacks = s->samples->stacks;

	s->frames.n = 0;
	for (; stack; stack = stacks[stack].caller)
		vec_push(&s->frames, stacks[stack].frame);
	while (s->frames.n) {
		frameid frame = s->frames.at[--s->frames.n];
		if (known && known[frame] != NOT_KNOWN)
			continue;
		const struct path_places groups = s->groups(s->arg, root, frame);
		for (size_t i = 0; i < groups.n; i++)
			make_room(s, groups.at[i]);
		if (known)
			known[frame] = groups.n == 1 ? groups.at[0] + 1 : SEVERAL;
	}
}

static void meet(struct stack_groups *s, uint32_t group)
{
	if (stack_groups_has(s, group))
		return;
	s->met.at[group] = s->n_stacks;
	s->on.at[s->on.n++] = group;
}

static void meet_frame(struct stack_groups *s, uint32_t root, frameid frame)
{
	const struct path_places groups = s->groups(s->arg, root, frame);
	for (size_t i = 0; i < groups.n; i++)
		meet(s, groups.at[i]);
}

/* Walks from `stack` on, while frames have a single known group. Returns the first stack whose
 * frame has not; 0: none. This is the inner loop of tables. */
static stackid meet_known(struct stack_groups *s, const uint32_t *known, stackid stack)
{
	const struct stack *stacks = s->samples->stacks;
	uint32_t *met = s->met.at, *end = s->on.at + s->on.n, mark = s->n_stacks;

	for (; stack; stack = stacks[stack].caller) {
		uint32_t group = known[stacks[stack].frame];
		if (group == NOT_KNOWN || group == SEVERAL)
			break;
		if (met[group - 1] == mark)
			continue;
		met[group - 1] = mark;
		*end++ = group - 1;
	}
	s->on.n = (size_t)(end - s->on.at);
	return stack;
}

struct path_places stack_groups_on(struct stack_groups *s, uint32_t root, stackid stack)
{
	const struct stack *stacks = s->samples->stacks;
	uint32_t *known = known_below(s, root);

	s->n_stacks++;
	s->on.n = 0;
	if (!known)
		learn(s, NULL, root, stack);
	for (stackid at = stack; at;) {
		if (known && !(at = meet_known(s, known, at)))
			break;
		if (known && known[stacks[at].frame] == NOT_KNOWN) {
			learn(s, known, root, at);
			continue;
		}
		meet_frame(s, root, stacks[at].frame);
		at = stacks[at].caller;
	}
	return (struct path_places){ s->on.at, s->on.n };
}

uint32_t stack_groups_leaf(const struct stack_groups *s, uint32_t root, stackid stack)
{
	const uint32_t *known = root < STACK_ARRAYS ? s->known[root] : NULL;
	uint32_t group = known ? known[s->samples->stacks[stack].frame] : NOT_KNOWN;

	return group == NOT_KNOWN || group == SEVERAL ? NONE : group - 1;
}

/* ---- times ---- */

struct frame_group {
	const symid *places;
	const uint32_t *group_of;
	uint32_t group; /* of the frame that was last asked about */
};

static struct path_places group_of_frame(void *arg, uint32_t root, frameid frame)
{
	struct frame_group *f = arg;
	(void)root;
	f->group = !frame || f->places[frame] == NONE ? NONE : f->group_of[f->places[frame]];
	return (struct path_places){ &f->group, f->group != NONE };
}

static uint64_t *weights_of_stacks(const struct samples *s)
{
	uint64_t *weights = xalloc((s->n_stacks + 1) * sizeof(*weights));
	uint16_t event = samples_event(s);
	for (size_t i = 0; i < s->n; i++)
		if (s->at[i].event == event)
			weights[s->at[i].stack] += s->at[i].weight;
	return weights;
}

double *stack_times(const struct samples *s, const symid *places, const uint32_t *group_of,
		    size_t n_groups)
{
	struct frame_group f = { .places = places, .group_of = group_of };
	double *times = xalloc((n_groups + 1) * sizeof(*times));
	uint64_t *weights = weights_of_stacks(s);
	struct stack_groups groups;

	stack_groups_init(&groups, s, group_of_frame, &f);
	for (size_t i = 1; i < s->n_stacks; i++) {
		if (!weights[i])
			continue;
		const struct path_places on = stack_groups_on(&groups, 0, (stackid)i);
		for (size_t k = 0; k < on.n; k++)
			times[on.at[k]] += (double)weights[i];
	}
	stack_groups_done(&groups);
	free(weights);
	return times;
}
