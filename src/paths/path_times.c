/* path_times.c - sums over a tree of paths, and over stacks as they are. */
#include <stdlib.h>

#include "paths/path_tree.h"

void path_tree_visit(const struct path_tree *p, const struct path_visitor *v)
{
	pathid at = p->nodes[0].first;
	while (at) {
		v->enter(at, v->arg);
		if (p->nodes[at].first) {
			at = p->nodes[at].first;
			continue;
		}
		v->leave(at, v->arg);
		while (at && !p->nodes[at].next) {
			at = p->nodes[at].caller;
			if (at)
				v->leave(at, v->arg);
		}
		at = p->nodes[at].next; /* of the root: 0 */
	}
}

struct summing {
	const struct path_tree *paths;
	const struct path_weights *weights;
	const uint32_t *group_of;
	uint32_t *met; /* [n_groups]: how often it is on the path */
	double *times; /* [n_groups] */
};

static uint32_t group_at(const struct summing *s, pathid node)
{
	return s->group_of[s->paths->nodes[node].place];
}

static void enter(pathid node, void *arg)
{
	struct summing *s = arg;
	uint32_t group = group_at(s, node);
	if (group != NONE && !s->met[group]++) /* outermost on its path */
		s->times[group] += s->weights->below[node].sum;
}

static void leave(pathid node, void *arg)
{
	struct summing *s = arg;
	uint32_t group = group_at(s, node);
	if (group != NONE)
		s->met[group]--;
}

double *path_times(const struct path_tree *p, const struct path_weights *w,
		   const uint32_t *group_of, size_t n_groups)
{
	struct summing s = { .paths = p, .weights = w, .group_of = group_of };
	s.met = xalloc((n_groups + 1) * sizeof(*s.met));
	s.times = xalloc((n_groups + 1) * sizeof(*s.times));
	path_tree_visit(p, &(struct path_visitor){ enter, leave, &s });
	free(s.met);
	return s.times;
}

/* ---- of stacks as they are ---- */

struct below_stack { /* as in struct path_node */
	stackid first, next;
};

struct walking {
	const struct samples *samples;
	const symid *places;      /* [frame] */
	const uint32_t *group_of; /* [place] */
	uint64_t *own;            /* [stack]: of the samples with it */
	uint64_t sum;             /* of own[] so far */
	uint32_t *met;            /* [group]: how often it is on the way from the root */
	uint64_t *before;         /* [group]: the sum when it was met first on that way */
	double *times;            /* [group] */
};

static uint32_t group_of_stack(const struct walking *w, stackid stack)
{
	frameid frame = w->samples->stacks[stack].frame;
	return !frame || w->places[frame] == NONE ? NONE : w->group_of[w->places[frame]];
}

static void enter_stack(struct walking *w, stackid stack)
{
	uint32_t group = group_of_stack(w, stack);
	if (group != NONE && !w->met[group]++)
		w->before[group] = w->sum;
	w->sum += w->own[stack];
}

static void leave_stack(struct walking *w, stackid stack)
{
	uint32_t group = group_of_stack(w, stack);
	if (group != NONE && !--w->met[group])
		w->times[group] += (double)(w->sum - w->before[group]);
}

static void walk(struct walking *w)
{
	const struct stack *stacks = w->samples->stacks;
	size_t n = w->samples->n_stacks;
	struct below_stack *below = xalloc((n + 1) * sizeof(*below));
	for (size_t i = n; i-- > 1;) {
		struct below_stack *caller = &below[stacks[i].caller];
		below[i].next = caller->first;
		caller->first = (stackid)i;
	}
	for (stackid at = below[0].first; at;) {
		enter_stack(w, at);
		if (below[at].first) {
			at = below[at].first;
			continue;
		}
		leave_stack(w, at);
		while (at && !below[at].next) {
			at = stacks[at].caller;
			if (at)
				leave_stack(w, at);
		}
		at = below[at].next; /* of the empty stack: 0 */
	}
	free(below);
}

double *path_times_of_places(const struct samples *s, const symid *places, const uint32_t *group_of,
			     size_t n_groups)
{
	struct walking w = { .samples = s, .places = places, .group_of = group_of };
	uint16_t event = samples_event(s);
	w.own = xalloc((s->n_stacks + 1) * sizeof(*w.own));
	w.met = xalloc((n_groups + 1) * sizeof(*w.met));
	w.before = xalloc((n_groups + 1) * sizeof(*w.before));
	w.times = xalloc((n_groups + 1) * sizeof(*w.times));
	for (size_t i = 0; i < s->n; i++)
		if (s->at[i].event == event)
			w.own[s->at[i].stack] += s->at[i].weight;
	walk(&w);
	free(w.own);
	free(w.met);
	free(w.before);
	return w.times;
}
