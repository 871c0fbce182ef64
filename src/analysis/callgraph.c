#include "analysis/callgraph.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/private.h"

/* ---- order of entries: index numbers ---- */

static const char *name_of(const struct callgraph *g, nodeid id)
{
	return id < g->n_symbols ? g->symbols->at[id].name : NULL;
}

static int compare_entries(const void *l, const void *r, void *arg)
{
	const struct callgraph *g = arg;
	nodeid a = *(const nodeid *)l, b = *(const nodeid *)r;
	const struct cg_node *left = &g->nodes[a], *right = &g->nodes[b];
	double diff = (left->shown_self + left->shown_child) - (right->shown_self + right->shown_child);

	if (diff < 0)
		return 1;
	if (diff > 0)
		return -1;
	const char *left_name = name_of(g, a), *right_name = name_of(g, b);
	if (!left_name || !right_name)
		return left_name ? 1 : right_name ? -1 : a < b ? -1 : 1; /* cycles first */
	if ((left_name[0] == '_') != (right_name[0] == '_'))
		return left_name[0] == '_' ? 1 : -1;
	if (left->calls != right->calls)
		return left->calls > right->calls ? -1 : 1;
	int names = strcmp(left_name, right_name);
	return names ? names : (a > b) - (a < b);
}

static void number_entries(struct callgraph *g)
{
	size_t n = g->n_symbols + g->n_cycles;

	g->order = xrealloc(NULL, n, sizeof(*g->order));
	for (size_t i = 0; i < n; i++)
		g->order[i] = (nodeid)i;
	qsort_r(g->order, n, sizeof(*g->order), compare_entries, g);
	for (size_t i = 0; i < n; i++)
		g->nodes[g->order[i]].index = (uint32_t)i + 1;
}

/* ---- order within an entry ---- */

struct arc_key { /* what arcs are listed by, taken out once per list */
	arcid arc;
	uint32_t seq;
	int class; /* 0: direct recursion, 1: within a cycle, 2: others */
	double time;
	uint64_t count;
};

static int compare_arcs(const struct arc_key *l, const struct arc_key *r)
{
	if (l->class != r->class)
		return l->class < r->class ? -1 : 1;
	if (l->class == 2 && l->time != r->time)
		return l->time < r->time ? -1 : 1;
	return (l->count > r->count) - (l->count < r->count);
}

/* Ties are listed in order of first appearance, both ways. */
static int ascending(const void *l, const void *r)
{
	const struct arc_key *a = l, *b = r;
	int c = compare_arcs(a, b);
	return c ? c : (a->seq > b->seq) - (a->seq < b->seq);
}

static int descending(const void *l, const void *r)
{
	const struct arc_key *a = l, *b = r;
	int c = compare_arcs(b, a);
	return c ? c : (a->seq > b->seq) - (a->seq < b->seq);
}

static void sort_list(const struct callgraph *g, arcid *list, uint32_t n, struct arc_key *keys,
		      int (*compare)(const void *, const void *))
{
	for (uint32_t i = 0; i < n; i++) {
		const struct cg_arc *a = &g->arcs[list[i]];
		struct cg_time t = callgraph_arc_time(g, a);
		keys[i] = (struct arc_key){ .arc = list[i],
					    .seq = g->seq[list[i]],
					    .class = a->from == a->to ? 0 : callgraph_arc_is_inner(g, a) ? 1 : 2,
					    .time = t.self + t.child,
					    .count = a->count };
	}
	qsort(keys, n, sizeof(*keys), compare);
	for (uint32_t i = 0; i < n; i++)
		list[i] = keys[i].arc;
}

static int compare_members(const void *l, const void *r, void *arg)
{
	const struct callgraph *g = arg;
	const struct cg_node *left = &g->nodes[*(const symid *)l], *right = &g->nodes[*(const symid *)r];
	double left_time = left->shown_self + left->shown_child;
	double right_time = right->shown_self + right->shown_child;
	uint64_t left_calls = left->calls + left->self_calls, right_calls = right->calls + right->self_calls;

	if (left_time != right_time)
		return left_time > right_time ? -1 : 1;
	return (left_calls < right_calls) - (left_calls > right_calls);
}

/* Stable, as qsort_r() need not be: members that tie stay in the order they were found. */
static void sort_members(struct callgraph *g, symid *members, size_t n, symid *scratch)
{
	if (n < 2)
		return;
	size_t half = n / 2, i = 0, j = half, k = 0;
	sort_members(g, members, half, scratch);
	sort_members(g, members + half, n - half, scratch);
	memcpy(scratch, members, n * sizeof(*members));
	while (i < half && j < n)
		members[k++] = compare_members(&scratch[i], &scratch[j], g) <= 0 ? scratch[i++] : scratch[j++];
	while (i < half)
		members[k++] = scratch[i++];
	while (j < n)
		members[k++] = scratch[j++];
}

static void sort_lists(struct callgraph *g)
{
	uint32_t most = 0;
	for (size_t i = 0; i < g->n_symbols; i++) {
		most = g->nodes[i].n_in > most ? g->nodes[i].n_in : most;
		most = g->nodes[i].n_out > most ? g->nodes[i].n_out : most;
	}
	struct arc_key *keys = xrealloc(NULL, most, sizeof(*keys));
	for (size_t i = 0; i < g->n_symbols; i++) {
		const struct cg_node *n = &g->nodes[i];
		sort_list(g, g->in + n->first_in, n->n_in, keys, ascending);
		sort_list(g, g->out + n->first_out, n->n_out, keys, descending);
	}
	free(keys);

	symid *scratch = xrealloc(NULL, g->n_symbols, sizeof(*scratch));
	for (size_t c = 0; c < g->n_cycles; c++) {
		const struct cg_node *cycle = &g->nodes[g->n_symbols + c];
		sort_members(g, g->members + cycle->first_out, cycle->n_members, scratch);
	}
	free(scratch);
}

struct callgraph *callgraph_new(const struct profile *p, struct symbols *s,
				const struct callgraph_opts *opts)
{
	struct callgraph *g = xalloc(sizeof(*g));

	g->symbols = s;
	g->n_symbols = s->n;
	g->nodes = xalloc(s->n * sizeof(*g->nodes));
	callgraph_credit_histograms(g, p, opts);
	callgraph_add_arcs(g, p, s, opts);
	if (opts->break_cycles)
		callgraph_break_cycles(g, opts->max_cycle);
	callgraph_find_cycles(g);
	callgraph_propagate(g, opts);
	number_entries(g);
	sort_lists(g);
	return g;
}

void callgraph_free(struct callgraph *g)
{
	if (!g)
		return;
	free(g->nodes);
	free(g->arcs);
	free(g->seq);
	free(g->out);
	free(g->in);
	free(g->is_cut);
	free(g->cut);
	free(g->members);
	free(g->order);
	free(g);
}
