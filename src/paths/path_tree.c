/* path_tree.c - makes a tree of paths from stacks, and weights in it from samples. */
#include "paths/path_tree.h"

#include <stdlib.h>

#include "base/sort.h"
#include "paths/path_maker.h"

/* ---- the tree ---- */

struct stacks_of_all {
	const struct samples *samples;
	const struct path_frames *leaves;
	struct path_maker maker;
	pathid *of_callers; /* [n_stacks]: the path of the stack as a caller */
};

static bool has_places(const struct path_frames *f, frameid frame)
{
	return f->first[frame] != f->first[frame + 1];
}

static pathid below_frame(struct path_maker *m, pathid at, const struct path_frames *f,
			  frameid frame)
{
	for (uint32_t i = f->first[frame]; i < f->first[frame + 1]; i++)
		at = path_maker_below(m, at, f->places[i]);
	return at;
}

/* The path of samples with a stack, if leaves have other places than callers. */
static pathid end_of(struct stacks_of_all *a, stackid stack)
{
	const struct stack *stacks = a->samples->stacks;
	stackid leaf = stack;
	while (leaf && !has_places(a->leaves, stacks[leaf].frame))
		leaf = stacks[leaf].caller;
	if (!leaf) /* no frame has a place as a leaf */
		return a->of_callers[stack];
	return below_frame(&a->maker, a->of_callers[stacks[leaf].caller], a->leaves,
			   stacks[leaf].frame);
}

static pathid *ends_of_samples(struct stacks_of_all *a)
{
	const struct samples *s = a->samples;
	pathid *ends = xalloc(s->n_stacks * sizeof(*ends));
	for (size_t i = 0; i < s->n; i++)
		if (!ends[s->at[i].stack])
			ends[s->at[i].stack] = end_of(a, s->at[i].stack);
	free(a->of_callers);
	return ends;
}

struct path_tree *path_tree_new(const struct samples *s, const struct path_frames *frames,
				const struct path_frames *leaves)
{
	struct stacks_of_all a = { .samples = s, .leaves = leaves };

	path_maker_init(&a.maker, s, NULL, NULL);
	a.of_callers = xalloc((s->n_stacks + 1) * sizeof(*a.of_callers));
	for (size_t i = 1; i < s->n_stacks; i++)
		a.of_callers[i] = below_frame(&a.maker, a.of_callers[s->stacks[i].caller], frames,
					      s->stacks[i].frame);
	pathid *ends = leaves ? ends_of_samples(&a) : a.of_callers;
	struct path_tree *p = path_maker_end(&a.maker);
	p->ends = ends;
	return p;
}

void path_tree_free(struct path_tree *p)
{
	if (!p)
		return;
	free(p->nodes);
	free(p->ends);
	free(p);
}

/* Most nodes are alone below their caller. The others are taken out and put back, the last one
 * first. */
void path_tree_sort(struct path_tree *p, const uint32_t *ranks)
{
	VEC(struct sort_key) keys = { 0 };
	struct path_node *nodes = p->nodes;

	for (size_t i = 1; i < p->n; i++)
		if (nodes[i].next || nodes[nodes[i].caller].first != i)
			vec_push(&keys, ((struct sort_key){ ranks[nodes[i].place], (uint32_t)i }));
	sort_keys(keys.at, keys.n);
	for (size_t i = 0; i < keys.n; i++)
		nodes[nodes[keys.at[i].index].caller].first = 0;
	for (size_t i = keys.n; i--;) {
		struct path_node *node = &nodes[keys.at[i].index], *caller = &nodes[node->caller];
		node->next = caller->first;
		caller->first = keys.at[i].index;
	}
	vec_free(&keys);
}

/* ---- weights ---- */

static bool has_samples_of(const struct samples *s, uint16_t event)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->at[i].event == event)
			return true;
	return false;
}

uint16_t samples_event(const struct samples *s)
{
	uint16_t best = 0;
	unsigned worth = 0; /* of `best` */
	if (s->timed_event)
		return s->timed_event - 1;
	for (uint16_t i = 0; i < s->n_events; i++) {
		const struct event *e = &s->events[i];
		if (e->kind != EVENT_ON_CPU)
			continue;
		unsigned own = 1 + e->counts_time + (has_samples_of(s, i) ? 2 : 0);
		best = own > worth ? i : best;
		worth = own > worth ? own : worth;
	}
	return best;
}

struct path_weights path_weights_of(const struct path_tree *p, const struct samples *s,
				    uint16_t event)
{
	struct path_weights w = { xalloc(p->n * sizeof(*w.own)), xalloc(p->n * sizeof(*w.below)) };

	for (size_t i = 0; i < s->n; i++) {
		if (s->at[i].event != event)
			continue;
		pathid end = p->ends[s->at[i].stack];
		w.own[end].sum += (double)s->at[i].weight;
		w.below[end].count += s->at[i].count;
	}
	for (size_t i = p->n; i-- > 0;) {
		w.below[i].sum += w.own[i].sum;
		if (!i)
			break;
		w.below[p->nodes[i].caller].sum += w.below[i].sum;
		w.below[p->nodes[i].caller].count += w.below[i].count;
	}
	return w;
}

void path_weights_free(struct path_weights *w)
{
	free(w->own);
	free(w->below);
	*w = (struct path_weights){ 0 };
}
