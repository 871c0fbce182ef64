#include "analysis/callgraph.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/private.h"
#include "base/map64.h"
#include "base/vec.h"

/* ---- order of entries: index numbers ---- */

struct entry { /* what entries are numbered by, taken out once */
	double total;
	const char *name; /* NULL: a cycle */
	uint32_t rank;    /* of the name among all; NONE: not known */
	nodeid id;
};

/* ---- names that many places have: those of the lines of one function ---- */

struct named {
	const char *name;
	uint32_t group;
};

static int by_name(const void *l, const void *r)
{
	const struct named *a = l, *b = r;
	return strcmp(a->name, b->name);
}

/* Compares each name once per function and not once per line: sets the ranks. */
static void rank_names(struct entry *entries, size_t n)
{
	VEC(struct named) names = { 0 };
	struct map64 groups = { 0 }; /* pointer to a name -> index in names */

	for (size_t i = 0; i < n; i++) {
		if (i && entries[i - 1].name == entries[i].name) {
			entries[i].rank = entries[i - 1].rank;
			continue;
		}
		uint32_t *group = map64_at(&groups, (uintptr_t)entries[i].name);
		if (*group == NONE) {
			*group = (uint32_t)names.n;
			vec_push(&names, ((struct named){ entries[i].name, *group }));
		}
		entries[i].rank = *group;
	}
	if (names.n)
		qsort(names.at, names.n, sizeof(*names.at), by_name);
	uint32_t *rank_of = xrealloc(NULL, names.n, sizeof(*rank_of)), rank = 0;
	for (size_t i = 0; i < names.n; i++) {
		rank += i && strcmp(names.at[i - 1].name, names.at[i].name) != 0;
		rank_of[names.at[i].group] = rank;
	}
	for (size_t i = 0; i < n; i++)
		entries[i].rank = rank_of[entries[i].rank];
	free(rank_of);
	vec_free(&names);
	map64_free(&groups);
}

static int compare_names(const struct entry *a, const struct entry *b)
{
	if (a->rank != NONE)
		return (a->rank > b->rank) - (a->rank < b->rank);
	return strcmp(a->name, b->name);
}

static int compare_entries(const void *l, const void *r, void *arg)
{
	const struct callgraph *g = arg;
	const struct entry *a = l, *b = r;
	double diff = a->total - b->total;

	if (diff != 0)
		return diff < 0 ? 1 : -1;
	if (!a->name || !b->name)
		return a->name ? 1 : b->name ? -1 : a->id < b->id ? -1 : 1; /* cycles first */
	if ((a->name[0] == '_') != (b->name[0] == '_'))
		return a->name[0] == '_' ? 1 : -1;
	uint64_t left = g->nodes[a->id].calls, right = g->nodes[b->id].calls;
	if (left != right)
		return left > right ? -1 : 1;
	int names = compare_names(a, b);
	return names ? names : (a->id > b->id) - (a->id < b->id);
}

static void number_entries(struct callgraph *g)
{
	size_t n = g->n_symbols + g->n_cycles;
	struct entry *entries = xrealloc(NULL, n, sizeof(*entries));

	for (size_t i = 0; i < n; i++) {
		const struct cg_node *node = &g->nodes[i];
		entries[i] =
			(struct entry){ .total = callgraph_shown_self(node) + node->shown_child,
					.name = i < g->n_symbols ? g->symbols->at[i].name : NULL,
					.rank = NONE,
					.id = (nodeid)i };
	}
	if (g->symbols->opts.lines)
		rank_names(entries, g->n_symbols);
	qsort_r(entries, n, sizeof(*entries), compare_entries, g);
	g->order = xrealloc(NULL, n, sizeof(*g->order));
	for (size_t i = 0; i < n; i++) {
		g->order[i] = entries[i].id;
		g->nodes[entries[i].id].index = (uint32_t)i + 1;
	}
	free(entries);
}

/* ---- order within an entry ---- */

/* Direct recursion is least, then come calls within a cycle, then others by time. */
static int compare_arcs(const struct cg_listed *l, const struct cg_listed *r)
{
	if (l->class != r->class)
		return l->class < r->class ? -1 : 1;
	if (l->total != r->total)
		return l->total < r->total ? -1 : 1;
	return (l->count > r->count) - (l->count < r->count);
}

struct list_order {
	const struct callgraph *g;
	int sign; /* 1: ascending, -1: descending */
};

/* Ties are listed in order of first appearance, both ways. */
static int compare_listed(const void *l, const void *r, void *arg)
{
	const struct cg_listed *a = l, *b = r;
	const struct list_order *order = arg;
	int c = order->sign * compare_arcs(a, b);
	if (c)
		return c;
	uint32_t left = callgraph_arc_seq(order->g, a->arc),
		 right = callgraph_arc_seq(order->g, b->arc);
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
	struct cg_listed l = { .other = other, .arc = arc, .count = a->count, .class = CG_OUTER };

	if (callgraph_arc_is_inner(g, a))
		l.class = a->from == a->to ? CG_RECURSION : CG_INNER;
	else if (g->measured)
		l.time = other == a->from ? g->measured[arc].entered : g->measured[arc].called;
	else
		l.time = callgraph_arc_time(g, a);
	l.total = l.time.self + l.time.child;
	return l;
}

/* The other ends lie all over memory: asked for some arcs ahead they are there when needed. */
enum { AHEAD = 8 };

void callgraph_list_callers(const struct callgraph *g, symid id, struct cg_listed *ret)
{
	const arcid *in = &g->in[g->nodes[id].first_in];
	uint32_t n = g->nodes[id].n_in;

	for (uint32_t k = 0; k < n && k < 2 * AHEAD; k++)
		__builtin_prefetch(&g->arcs[in[k]]);
	for (uint32_t k = 0; k < n && k < AHEAD; k++)
		__builtin_prefetch(&g->share[g->arcs[in[k]].from]);
	for (uint32_t k = 0; k < n; k++) {
		if (k + 2 * AHEAD < n)
			__builtin_prefetch(&g->arcs[in[k + 2 * AHEAD]]);
		if (k + AHEAD < n)
			__builtin_prefetch(&g->share[g->arcs[in[k + AHEAD]].from]);
		ret[k] = listed(g, in[k], g->arcs[in[k]].from);
	}
	sort_listed(ret, n, &(struct list_order){ g, 1 });
}

void callgraph_list_callees(const struct callgraph *g, symid id, struct cg_listed *ret)
{
	arcid first = g->nodes[id].first_out;
	uint32_t n = g->nodes[id].n_out;

	for (uint32_t k = 0; k < n && k < AHEAD; k++)
		__builtin_prefetch(&g->share[g->arcs[first + k].to]);
	for (uint32_t k = 0; k < n; k++) {
		if (k + AHEAD < n)
			__builtin_prefetch(&g->share[g->arcs[first + k + AHEAD].to]);
		ret[k] = listed(g, first + k, g->arcs[first + k].to);
	}
	sort_listed(ret, n, &(struct list_order){ g, -1 });
}

void callgraph_prefetch_entry(const struct callgraph *g, size_t place)
{
	enum { NODES_AHEAD = 3, ENOUGH = 16 };

	if (place + NODES_AHEAD >= g->n_symbols + g->n_cycles)
		return;
	__builtin_prefetch(&g->nodes[g->order[place + NODES_AHEAD]]);
	__builtin_prefetch(&g->nodes[g->order[place + NODES_AHEAD]].first_in);
	if (g->order[place] >= g->n_symbols)
		return;
	const struct cg_node *n = &g->nodes[g->order[place]];
	for (uint32_t k = 0; k < n->n_in && k < ENOUGH; k++)
		__builtin_prefetch(&g->arcs[g->in[n->first_in + k]]);
	for (uint32_t k = 0; k < n->n_out && k < ENOUGH; k += 4) /* four to a cache line */
		__builtin_prefetch(&g->arcs[n->first_out + k]);
}

static int compare_members(const void *l, const void *r, void *arg)
{
	const struct callgraph *g = arg;
	const struct cg_node *left = &g->nodes[*(const symid *)l],
			     *right = &g->nodes[*(const symid *)r];
	double left_time = callgraph_shown_self(left) + left->shown_child;
	double right_time = callgraph_shown_self(right) + right->shown_child;
	uint64_t left_calls = left->calls + left->self_calls,
		 right_calls = right->calls + right->self_calls;

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
		members[k++] = compare_members(&scratch[i], &scratch[j], g) <= 0 ? scratch[i++]
										 : scratch[j++];
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
	if (callgraph_has_samples(opts))
		callgraph_credit_samples(g, opts);
	callgraph_add_arcs(g, p, s, opts);
	if (opts->break_cycles)
		callgraph_break_cycles(g, opts->max_cycle);
	callgraph_find_cycles(g);
	if (callgraph_has_stacks(opts))
		callgraph_measure(g, opts);
	else
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
	free(g->measured);
	free(g->roots);
	free(g->cycles);
	free(g->members);
	free(g->order);
	free(g);
}
