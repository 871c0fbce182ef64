/* path_times.c - visits a tree of paths, and sums over it. */
#include <stdlib.h>

#include "paths/path_tree.h"

void path_tree_visit(const struct path_tree *p, const struct path_visitor *v)
{
	pathid at = p->nodes[0].first;
	while (at) {
		prefetch_line(&p->nodes[p->nodes[at].next]);
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
		at = p->nodes[at].next; /* the root's is 0 */
	}
}

struct summing {
	const struct path_tree *paths;
	const struct path_weights *weights;
	const uint32_t *group_of;
	uint32_t *met; /* [n_groups]: how often the group is on the current path */
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
