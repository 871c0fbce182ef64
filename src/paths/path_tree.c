/* path_tree.c - stacks become a tree of paths, and samples weights in it. */
#include "paths/path_tree.h"

#include <stdlib.h>

#include "base/pairs.h"
#include "base/vec.h"

/* ---- the tree ---- */

struct path_tree_maker {
	const struct samples *samples;
	const struct path_frames *frames, *leaves;
	VEC(struct path_node) nodes;
	VEC(pathid) latest; /* [node]: of those below it the one that was asked for last */
	struct pairs ids;   /* (caller, place): all but the first below each */
	pathid *of_callers; /* [n_stacks]: the path of the stack as a caller's */
};

/* Behind the first of its caller's, whose place in the list stays. */
static void add_node(struct path_tree_maker *m, pathid caller, symid place)
{
	pathid id = (pathid)m->nodes.n, first = m->nodes.at[caller].first;
	pathid *link = first ? &m->nodes.at[first].next : &m->nodes.at[caller].first;
	pathid next = *link;

	*link = id;
	vec_push(&m->nodes, ((struct path_node){ .caller = caller, .place = place, .next = next }));
	vec_push(&m->latest, 0);
}

/* Most paths go on in one way, or in the one that the last one took: the others are looked up. */
static pathid below(struct path_tree_maker *m, pathid caller, symid place)
{
	const struct path_node *nodes = m->nodes.at;
	pathid id = m->latest.at[caller], first = nodes[caller].first;

	if (id && nodes[id].place == place)
		return id;
	id = (pathid)m->nodes.n;
	if (first && nodes[first].place == place)
		id = first;
	else if (first)
		id = pairs_add(&m->ids, caller, place, id);
	if (id == m->nodes.n)
		add_node(m, caller, place);
	return m->latest.at[caller] = id;
}

static bool has_places(const struct path_frames *f, frameid frame)
{
	return f->first[frame] != f->first[frame + 1];
}

static pathid below_frame(struct path_tree_maker *m, pathid at, const struct path_frames *f,
			  frameid frame)
{
	for (uint32_t i = f->first[frame]; i < f->first[frame + 1]; i++)
		at = below(m, at, f->places[i]);
	return at;
}

/* Where samples with the stack end, if leaves are not what callers are. */
static pathid end_of(struct path_tree_maker *m, stackid stack)
{
	const struct stack *stacks = m->samples->stacks;
	stackid leaf = stack;
	while (leaf && !has_places(m->leaves, stacks[leaf].frame))
		leaf = stacks[leaf].caller;
	if (!leaf) /* nothing but what is no leaf */
		return m->of_callers[stack];
	return below_frame(m, m->of_callers[stacks[leaf].caller], m->leaves, stacks[leaf].frame);
}

static void end_samples(struct path_tree_maker *m, struct path_tree *p)
{
	const struct samples *s = m->samples;
	p->ends = xalloc(s->n_stacks * sizeof(*p->ends));
	for (size_t i = 0; i < s->n; i++)
		if (!p->ends[s->at[i].stack])
			p->ends[s->at[i].stack] = end_of(m, s->at[i].stack);
	free(m->of_callers);
}

struct path_tree *path_tree_new(const struct samples *s, const struct path_frames *frames,
				const struct path_frames *leaves)
{
	struct path_tree *p = xalloc(sizeof(*p));
	struct path_tree_maker m = { .samples = s, .frames = frames, .leaves = leaves };

	m.of_callers = xalloc((s->n_stacks + 1) * sizeof(*m.of_callers));
	vec_push(&m.nodes, ((struct path_node){ .place = NONE }));
	vec_push(&m.latest, 0);
	for (size_t i = 1; i < s->n_stacks; i++)
		m.of_callers[i] = below_frame(&m, m.of_callers[s->stacks[i].caller], frames,
					      s->stacks[i].frame);
	if (leaves)
		end_samples(&m, p);
	else
		p->ends = m.of_callers;
	p->nodes = m.nodes.at;
	p->n = m.nodes.n;
	pairs_free(&m.ids);
	vec_free(&m.latest);
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

/* ---- weights ---- */

uint16_t samples_event(const struct samples *s)
{
	for (uint16_t i = 0; i < s->n_events; i++)
		if (s->events[i].kind == EVENT_ON_CPU)
			return i;
	return 0;
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
