/* stack_groups.c - goes from stack to stack, and sums over the groups on the way. */
#include "paths/stack_groups.h"

#include <stdlib.h>
#include <string.h>

/* In known[]; other values are a frame's only group + 1. */
enum { NOT_KNOWN = 0 };
static const uint32_t SEVERAL = UINT32_MAX; /* larger than any group + 1 */

void stack_groups_init(struct stack_groups *s, const struct samples *samples, size_t n_sums,
		       struct path_places (*groups)(void *arg, uint32_t root, frameid frame),
		       void *arg)
{
	*s = (struct stack_groups){
		.samples = samples, .n_sums = n_sums, .groups = groups, .arg = arg
	};
}

void stack_groups_done(struct stack_groups *s)
{
	for (size_t i = 0; i < STACK_ARRAYS; i++)
		free(s->known[i]);
	for (size_t i = 0; i < ARRAY_LEN(s->paths); i++) {
		vec_free(&s->paths[i].steps);
		vec_free(&s->paths[i].on);
		vec_free(&s->paths[i].came_on);
		free(s->paths[i].totals);
	}
	vec_free(&s->is_on);
	vec_free(&s->sums);
	vec_free(&s->scratch);
}

/* ---- groups come on a path, and go off it ---- */

static void add_group(struct stack_groups *s, uint32_t group)
{
	if (group < s->is_on.n)
		return;
	size_t n = group + 1 - s->is_on.n, n_sums = n * s->n_sums;
	vec_reserve(&s->is_on, n);
	memset(s->is_on.at + s->is_on.n, 0, n);
	s->is_on.n += n;
	vec_reserve(&s->sums, n_sums + 1); /* there may be no sums */
	memset(s->sums.at + s->sums.n, 0, n_sums * sizeof(*s->sums.at));
	s->sums.n += n_sums;
}

/* Makes room for that many more groups on the path. */
static void make_room(const struct stack_groups *s, struct groups_path *p, size_t n)
{
	vec_reserve(&p->on, n);
	p->came_on.n = p->on.n * s->n_sums;
	vec_reserve(&p->came_on, n * s->n_sums);
}

/* There must be room. This is the inner loop of tables, mostly with one event. */
static inline void come_on(struct stack_groups *s, struct groups_path *p, uint32_t group)
{
	if (s->is_on.at[group])
		return;
	s->is_on.at[group] = true;
	if (s->n_sums == 1)
		p->came_on.at[p->on.n] = p->totals[0];
	else
		memcpy(&p->came_on.at[p->on.n * s->n_sums], p->totals,
		       s->n_sums * sizeof(*p->totals));
	p->on.at[p->on.n++] = group;
}

static inline void add_since(struct path_sum *to, const struct path_sum *now,
			     const struct path_sum *then)
{
	to->weight += now->weight - then->weight;
	to->count += now->count - then->count;
}

static void go_off(struct stack_groups *s, struct groups_path *p, size_t n_steps)
{
	const struct path_sum *came_on = p->came_on.at;
	size_t n_on = n_steps < p->steps.n ? p->steps.at[n_steps].n_on : p->on.n;

	for (size_t i = n_on; i < p->on.n; i++) {
		uint32_t group = p->on.at[i];
		s->is_on.at[group] = false;
		if (s->n_sums == 1)
			add_since(&s->sums.at[group], p->totals, &came_on[i]);
		else
			for (size_t k = 0; k < s->n_sums; k++)
				add_since(&s->sums.at[group * s->n_sums + k], &p->totals[k],
					  &came_on[i * s->n_sums + k]);
	}
	p->steps.n = n_steps;
	p->on.n = n_on;
}

/* ---- from stack to stack ---- */

static struct groups_path *path_below(struct stack_groups *s, uint32_t root)
{
	struct groups_path *p = &s->paths[root < STACK_ARRAYS ? root : STACK_ARRAYS];

	if (!p->totals)
		p->totals = xalloc((s->n_sums + 1) * sizeof(*p->totals));
	if (root < STACK_ARRAYS && !s->known[root])
		s->known[root] = xalloc(s->samples->n_frames * sizeof(**s->known));
	if (p->root != root)
		go_off(s, p, 0);
	p->root = root;
	return p;
}

/* Goes back to the last stack on the path that is also on the path to `stack`. Lists the stacks
 * from there on in scratch, the innermost one first. A caller's number is smaller. */
static void turn_off(struct stack_groups *s, struct groups_path *p, stackid stack)
{
	const struct stack *stacks = s->samples->stacks;
	const struct stack_step *steps = p->steps.at;
	size_t n = p->steps.n;

	s->scratch.n = 0;
	for (; stack; stack = stacks[stack].caller) {
		while (n && steps[n - 1].stack > stack)
			n--;
		if (n && steps[n - 1].stack == stack)
			break;
		vec_push(&s->scratch, stack);
	}
	go_off(s, p, stack ? n : 0);
}

/* Enters a frame that has several groups, or is not known yet. */
static void enter_any(struct stack_groups *s, struct groups_path *p, frameid frame)
{
	const struct path_places groups = s->groups(s->arg, p->root, frame);

	if (p->root < STACK_ARRAYS)
		s->known[p->root][frame] = groups.n == 1 ? groups.at[0] + 1 : SEVERAL;
	make_room(s, p, groups.n + s->scratch.n);
	for (size_t i = 0; i < groups.n; i++) {
		add_group(s, groups.at[i]);
		come_on(s, p, groups.at[i]);
	}
}

struct path_sum *stack_groups_at(struct stack_groups *s, uint32_t root, stackid stack)
{
	struct groups_path *p = path_below(s, root);
	const uint32_t *known = root < STACK_ARRAYS ? s->known[root] : NULL;

	turn_off(s, p, stack);
	make_room(s, p, s->scratch.n);
	vec_reserve(&p->steps, s->scratch.n);
	for (size_t i = s->scratch.n; i-- > 0;) {
		const struct stack_step step = { s->scratch.at[i], (uint32_t)p->on.n };
		frameid frame = s->samples->stacks[step.stack].frame;
		uint32_t group = known ? known[frame] : NOT_KNOWN;
		p->steps.at[p->steps.n++] = step;
		if (group == NOT_KNOWN || group == SEVERAL)
			enter_any(s, p, frame);
		else
			come_on(s, p, group - 1);
	}
	return p->totals;
}

struct path_places stack_groups_on(const struct stack_groups *s, uint32_t root)
{
	const struct groups_path *p = &s->paths[root < STACK_ARRAYS ? root : STACK_ARRAYS];

	return (struct path_places){ p->on.at, p->on.n };
}

uint32_t stack_groups_leaf(const struct stack_groups *s, uint32_t root, stackid stack)
{
	const uint32_t *known = root < STACK_ARRAYS ? s->known[root] : NULL;
	uint32_t group = known ? known[s->samples->stacks[stack].frame] : NOT_KNOWN;

	return group == NOT_KNOWN || group == SEVERAL ? NONE : group - 1;
}

void stack_groups_finish(struct stack_groups *s)
{
	for (size_t i = 0; i < ARRAY_LEN(s->paths); i++)
		go_off(s, &s->paths[i], 0);
}

/* ---- times ---- */

struct frame_groups {
	const struct program *lines;
	const uint32_t *group_of;
	VEC(uint32_t) groups; /* of the frame that was last asked about */
};

static struct path_places groups_of_frame(void *arg, uint32_t root, frameid frame)
{
	struct frame_groups *f = arg;
	size_t n = 1;
	const uint32_t *at = f->lines ? program_lines(f->lines, frame, &n) : &frame;
	(void)root;
	f->groups.n = 0;
	for (size_t i = 0; i < n; i++)
		if (f->group_of[at[i]] != NONE)
			vec_push(&f->groups, f->group_of[at[i]]);
	return (struct path_places){ f->groups.at, f->groups.n };
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

double *stack_times(const struct samples *s, const struct program *lines, const uint32_t *group_of,
		    size_t n_groups)
{
	struct frame_groups f = { .lines = lines, .group_of = group_of };
	double *times = xalloc((n_groups + 1) * sizeof(*times));
	uint64_t *weights = weights_of_stacks(s);
	struct stack_groups groups;

	stack_groups_init(&groups, s, 1, groups_of_frame, &f);
	for (size_t i = 1; i < s->n_stacks; i++)
		if (weights[i])
			stack_groups_at(&groups, 0, (stackid)i)->weight += weights[i];
	stack_groups_finish(&groups);
	for (size_t i = 0; i < groups.sums.n; i++)
		times[i] = (double)groups.sums.at[i].weight;
	stack_groups_done(&groups);
	vec_free(&f.groups);
	free(weights);
	return times;
}
