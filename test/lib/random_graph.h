/* random_graph.h - numbers that look random and are the same every time, and call graphs made of
 * them: just nodes and arcs, as the steps that look for cycles need them. */
#ifndef TEST_RANDOM_GRAPH_H
#define TEST_RANDOM_GRAPH_H

#include "analysis/analysis_private.h"
#include "base/vec.h"

static inline uint32_t random_below(uint64_t *state, uint32_t n) /* n > 0 */
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((*state >> 33) % n);
}

struct calls {
	VEC(struct cg_arc) v; /* in the order of the data; equal ones allowed */
};

/* From arcs in any order to a graph as callgraph_add_arcs() makes it. */
static inline struct callgraph *random_graph_make(size_t n_symbols, const struct calls *calls)
{
	struct callgraph *g = xalloc(sizeof(*g));
	size_t n = calls->v.n;
	uint32_t *start = xalloc((n_symbols + 2) * sizeof(*start));

	g->n_symbols = n_symbols;
	g->n_arcs = n;
	g->nodes = xalloc(n_symbols * sizeof(*g->nodes));
	g->arcs = xalloc(2 * n * sizeof(*g->arcs));
	g->in = (struct cg_in *)(g->arcs + n);
	g->seq = xalloc(n * sizeof(*g->seq));
	for (size_t i = 0; i < n; i++)
		start[calls->v.at[i].from + 1]++;
	for (size_t i = 0; i < n_symbols; i++) {
		g->nodes[i].first_out = start[i];
		g->nodes[i].n_out = start[i + 1];
		start[i + 1] += start[i];
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t at = start[calls->v.at[i].from]++;
		g->arcs[at] = calls->v.at[i];
		g->seq[at] = (uint32_t)i;
	}
	for (size_t i = 0; i < n; i++)
		g->nodes[g->arcs[i].to].n_in++;
	for (uint32_t i = 0, at = 0; i < n_symbols; i++) {
		g->nodes[i].first_in = at;
		at += g->nodes[i].n_in;
		g->nodes[i].n_in = 0;
	}
	for (size_t i = n; i-- > 0;) {
		const struct cg_arc *a = &g->arcs[i];
		struct cg_node *to = &g->nodes[a->to];
		g->in[to->first_in + to->n_in++].arc = (arcid)i;
		if (a->from == a->to)
			to->self_calls += a->count;
		else
			to->calls += a->count;
		to->sharing_calls = to->calls;
	}
	free(start);
	return g;
}

#endif
