/* halve_cycle.c - cuts a large cycle in two in linear time.
 *
 * A depth-first walk starts where the cycle is entered. It puts the members in an order, the
 * reverse of the order in which it leaves them, in which only calls to ancestors in the walk lead
 * backwards. Between the first and the last quarter, the boundary is chosen that backward calls
 * cross with the least cost. All these calls are cut, so nothing leads back across the boundary.
 * None is cut in vain: the walk's own calls stay, so each cut call would close a cycle with
 * them. */
#include <stdlib.h>

#include "analysis/analysis_private.h"

struct halving {
	const struct callgraph *g;
	const struct cycle_part *p;
	symid *path, *left; /* [members]: symbols being visited; and symbols in the order in which
			       they were left */
	uint32_t *cursor;   /* [path]: index of the next callee to look at */
	size_t n_path, n_left;
};

static bool is_within(const struct halving *h, arcid arc)
{
	const struct cg_arc *a = &h->g->arcs[arc];
	return !h->g->is_cut[arc] && a->from != a->to && h->p->part[a->from] == h->p->part[a->to];
}

/* A member that is called from outside the cycle, if there is one. */
static symid find_entry(const struct halving *h)
{
	for (size_t i = 0; i < h->p->n; i++) {
		const struct cg_node *n = &h->g->nodes[h->p->members[i]];
		if (n->outside_calls)
			return h->p->members[i];
		for (uint32_t k = 0; k < n->n_in; k++) {
			arcid arc = h->g->in[n->first_in + k].arc;
			if (!h->g->is_cut[arc] &&
			    h->p->part[h->g->arcs[arc].from] != h->p->part[h->p->members[i]])
				return h->p->members[i];
		}
	}
	return h->p->members[0];
}

static void enter(struct halving *h, symid id)
{
	h->p->place[id] = 0; /* marks it as seen */
	h->cursor[h->n_path] = 0;
	h->path[h->n_path++] = id;
}

/* Reaches all members from any of them, as they are strongly connected. */
static void walk(struct halving *h)
{
	for (size_t i = 0; i < h->p->n; i++)
		h->p->place[h->p->members[i]] = NONE;
	enter(h, find_entry(h));
	while (h->n_path) {
		symid id = h->path[h->n_path - 1];
		const struct cg_node *n = &h->g->nodes[id];
		uint32_t k = h->cursor[h->n_path - 1]++;
		if (k == n->n_out) {
			h->n_path--;
			h->left[h->n_left++] = id;
			continue;
		}
		arcid arc = n->first_out + k;
		symid to = h->g->arcs[arc].to;
		if (is_within(h, arc) && h->p->place[to] == NONE)
			enter(h, to);
	}
	for (size_t i = 0; i < h->n_left; i++)
		h->p->place[h->left[i]] = (uint32_t)(h->n_left - 1 - i);
}

/* The boundary with the least cost: members placed before it are one part, the rest is the
 * other. */
static uint32_t find_boundary(const struct halving *h)
{
	double *change = xalloc((h->p->n + 1) * sizeof(*change)), crossing = 0, least = 0;
	uint32_t first = (uint32_t)((h->p->n + 3) / 4), best = first;

	for (size_t i = 0; i < h->p->n; i++) {
		const struct cg_node *n = &h->g->nodes[h->p->members[i]];
		uint32_t from = h->p->place[h->p->members[i]];
		for (arcid arc = n->first_out; arc < n->first_out + n->n_out; arc++) {
			uint32_t to = is_within(h, arc) ? h->p->place[h->g->arcs[arc].to] : from;
			if (to >= from)
				continue;
			change[to + 1] += 1 + (double)h->g->arcs[arc].count;
			change[from + 1] -= 1 + (double)h->g->arcs[arc].count;
		}
	}
	for (uint32_t i = 1; i <= h->p->n - first; i++) {
		crossing += change[i];
		if (i == first || (i > first && crossing < least)) {
			least = crossing;
			best = i;
		}
	}
	free(change);
	return best;
}

void callgraph_halve_cycle(const struct callgraph *g, const struct cycle_part *p,
			   void (*cut)(arcid arc, void *arg), void *arg)
{
	struct halving h = { .g = g, .p = p };

	h.path = xrealloc(NULL, p->n, sizeof(*h.path));
	h.left = xrealloc(NULL, p->n, sizeof(*h.left));
	h.cursor = xrealloc(NULL, p->n, sizeof(*h.cursor));
	walk(&h);
	uint32_t boundary = find_boundary(&h);
	for (size_t i = 0; i < p->n; i++) {
		const struct cg_node *n = &g->nodes[p->members[i]];
		if (p->place[p->members[i]] < boundary)
			continue;
		for (arcid a = n->first_out; a < n->first_out + n->n_out; a++)
			if (is_within(&h, a) && p->place[g->arcs[a].to] < boundary)
				cut(a, arg);
	}
	free(h.path);
	free(h.left);
	free(h.cursor);
}
