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
	double diff = (callgraph_shown_self(left) + left->shown_child) - (callgraph_shown_self(right) + right->shown_child);

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

/* Direct recursion is least, then come calls within a cycle, then others by time. */
static int compare_arcs(const struct cg_listed *l, const struct cg_listed *r, symid self)
{
	int left = l->other == self ? 0 : l->inner ? 1 : 2;
	int right = r->other == self ? 0 : r->inner ? 1 : 2;
	if (left != right)
		return left - right;
	double left_time = l->time.self + l->time.child, right_time = r->time.self + r->time.child;
	if (left_time != right_time)
		return left_time < right_time ? -1 : 1;
	return (l->count > r->count) - (l->count < r->count);
}

struct list_order {
	const struct callgraph *g;
	symid self;
	int sign; /* 1: ascending, -1: descending */
};

/* Ties are listed in order of first appearance, both ways. */
static int compare_listed(const void *l, const void *r, void *arg)
{
	const struct cg_listed *a = l, *b = r;
	const struct list_order *order = arg;
	int c = order->sign * compare_arcs(a, b, order->self);
	if (c)
		return c;
	uint32_t left = callgraph_arc_seq(order->g, a->arc), right = callgraph_arc_seq(order->g, b->arc);
	return (left > right) - (left < right);
}

static void sort_listed(struct cg_listed *list, uint32_t n, struct list_order *order)
{
	enum { FEW = 24 }; /* most lists are short */
	if (n > FEW) {
		qsort_r(list, n, sizeof(*list), compare_listed, order);
		return;
	}
	for (uint32_t i = 1; i < n; i++) {
		struct cg_listed moving = list[i];
		uint32_t k = i;
		for (; k && compare_listed(&list[k - 1], &moving, order) > 0; k--)
			list[k] = list[k - 1];
		list[k] = moving;
	}
}

static struct cg_listed listed(const struct callgraph *g, arcid arc, symid other)
{
	const struct cg_arc *a = &g->arcs[arc];
	bool inner = callgraph_arc_is_inner(g, a);
	struct cg_time none = { 0, 0 };
	return (struct cg_listed){ other, arc, a->count, inner ? none : callgraph_arc_time(g, a), inner };
}

void callgraph_list_callers(const struct callgraph *g, symid id, struct cg_listed *ret)
{
	const struct cg_node *n = &g->nodes[id];
	for (uint32_t k = 0; k < n->n_in; k++) {
		arcid arc = g->in[n->first_in + k];
		ret[k] = listed(g, arc, g->arcs[arc].from);
	}
	sort_listed(ret, n->n_in, &(struct list_order){ g, id, 1 });
}

void callgraph_list_callees(const struct callgraph *g, symid id, struct cg_listed *ret)
{
	const struct cg_node *n = &g->nodes[id];
	for (uint32_t k = 0; k < n->n_out; k++)
		ret[k] = listed(g, n->first_out + k, g->arcs[n->first_out + k].to);
	sort_listed(ret, n->n_out, &(struct list_order){ g, id, -1 });
}

static int compare_members(const void *l, const void *r, void *arg)
{
	const struct callgraph *g = arg;
	const struct cg_node *left = &g->nodes[*(const symid *)l], *right = &g->nodes[*(const symid *)r];
	double left_time = callgraph_shown_self(left) + left->shown_child;
	double right_time = callgraph_shown_self(right) + right->shown_child;
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

static void sort_cycles(struct callgraph *g)
{
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
	if (!opts->flat_only) {
		number_entries(g);
		sort_cycles(g);
	}
	return g;
}

void callgraph_free(struct callgraph *g)
{
	if (!g)
		return;
	free(g->nodes);
	free(g->arcs);
	free(g->seq);
	free(g->in);
	free(g->share);
	free(g->is_cut);
	free(g->cut);
	free(g->members);
	free(g->order);
	free(g);
}
