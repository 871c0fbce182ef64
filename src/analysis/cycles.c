/* cycles.c - strongly connected parts of the call graph, and an order with callees before callers.
 *
 * One depth-first walk with Gabow's path of candidate heads ("Path-based depth-first search for
 * strong and biconnected components", Information Processing Letters 74, 2000). It does not
 * recurse, because chains of calls may be as deep as there are functions. Members are linked in the
 * order in which GNU gprof finds them, which decides how ties are listed. O(symbols + arcs). */
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis_private.h"

/* What the walk notes of a symbol that it has seen. */
struct vertex {
	symid head;         /* union-find: a member points towards its head */
	symid next;         /* the next member of its cycle, or NONE */
	symid last;         /* in a head: the last member of its list */
	uint32_t depth;     /* position on the path, for symbols on it */
	uint32_t top_order; /* valid once the symbol was ordered */
};

struct cycle_visit {
	symid id;
	arcid arcs_left; /* end of the arcs that are not yet visited */
};

/* The walk reaches symbols anywhere in memory, and can only continue when it has seen their arcs.
 * So it keeps the data that it needs of arcs in as little memory as possible. */
struct cycle_walk {
	struct callgraph *g;
	arcid *first;  /* [n_symbols + 1]: a symbol's first arc; its arcs end at the next symbol's
			  first */
	symid *callee; /* [n_arcs]: callee of each arc */
	uint8_t *state;
	struct vertex *at;
	struct cycle_visit *path; /* the symbols being visited */
	uint32_t *heads;          /* positions on the path of symbols that are their own head */
	size_t n_path, n_heads;
	uint32_t n_ordered;
};

enum { UNSEEN, ON_PATH, LEFT_PATH, ORDERED };

static symid head_of(struct cycle_walk *w, symid id)
{
	while (w->at[id].head != id) {
		w->at[id].head = w->at[w->at[id].head].head;
		id = w->at[id].head;
	}
	return id;
}

static void enter(struct cycle_walk *w, symid id)
{
	arcid end = w->first[id + 1];

	if (end)
		prefetch_line(&w->callee[end - 1]);
	w->state[id] = ON_PATH;
	w->at[id] = (struct vertex){
		.head = id, .next = NONE, .last = id, .depth = (uint32_t)w->n_path
	};
	w->heads[w->n_heads++] = (uint32_t)w->n_path;
	w->path[w->n_path++] = (struct cycle_visit){ id, end };
}

/* The path leads back to `to`: all later heads on the path belong to its cycle. */
static void close_cycle(struct cycle_walk *w, symid to)
{
	symid head = head_of(w, to);
	uint32_t top = w->at[w->state[to] == ON_PATH ? to : head].depth;
	size_t k = w->n_heads;

	while (k && w->heads[k - 1] > top)
		k--;
	for (size_t i = k; i < w->n_heads; i++) {
		symid member = w->path[w->heads[i]].id;
		w->at[w->at[head].last].next = member;
		w->at[head].last = w->at[member].last;
		w->at[member].head = head;
	}
	w->n_heads = k;
}

static void leave(struct cycle_walk *w)
{
	symid id = w->path[--w->n_path].id;

	w->state[id] = LEFT_PATH;
	if (w->at[id].head != id)
		return;
	w->n_heads--;
	w->n_ordered++;
	for (symid m = id; m != NONE; m = w->at[m].next) {
		w->at[m].top_order = w->n_ordered;
		w->state[m] = ORDERED;
	}
}

static void visit_from(struct cycle_walk *w, symid root)
{
	enter(w, root);
	while (w->n_path) {
		struct cycle_visit *visit = &w->path[w->n_path - 1];
		if (visit->arcs_left == w->first[visit->id]) {
			leave(w);
			continue;
		}
		arcid arc = --visit->arcs_left; /* newest first */
		symid to = w->callee[arc];
		if (w->g->is_cut && w->g->is_cut[arc])
			continue;
		if (w->state[to] == UNSEEN)
			enter(w, to);
		else if (w->state[to] != ORDERED)
			close_cycle(w, to);
	}
}

/* ---- cycles as nodes ---- */

/* Sums the calls of a cycle. Calls between members are the cycle's self calls; all others lead into
 * it. */
static void count_cycle_calls(struct callgraph *g, struct cg_node *c)
{
	for (uint32_t k = 0; k < c->n_members; k++) {
		symid m = g->members[c->first_out + k];
		const struct cg_node *n = &g->nodes[m];
		c->calls += n->calls;
		c->sharing_calls += n->sharing_calls;
		c->outside_calls += n->outside_calls;
		for (arcid i = n->first_out; i < n->first_out + n->n_out; i++) {
			const struct cg_arc *a = &g->arcs[i];
			if (!a->count || a->to == m || g->nodes[a->to].cycle != c->cycle)
				continue;
			c->self_calls += a->count;
			c->calls -= a->count;
			if (!g->is_cut || !g->is_cut[i])
				c->sharing_calls -= a->count;
		}
	}
}

static void make_cycles(struct cycle_walk *w)
{
	struct callgraph *g = w->g;
	const struct vertex *at = w->at;
	size_t n_members = 0;

	for (symid i = 0; i < g->n_symbols; i++) {
		g->nodes[i].top_order = at[i].top_order;
		if (at[i].head != i || at[i].next == NONE)
			continue;
		g->n_cycles++;
		for (symid m = i; m != NONE; m = at[m].next, n_members++)
			g->nodes[m].cycle = (uint32_t)g->n_cycles;
	}
	g->nodes = xrealloc(g->nodes, g->n_symbols + g->n_cycles, sizeof(*g->nodes));
	memset(g->nodes + g->n_symbols, 0, g->n_cycles * sizeof(*g->nodes));
	g->members = xrealloc(NULL, n_members, sizeof(*g->members));

	size_t n = 0, cycle = 0;
	for (symid i = 0; i < g->n_symbols; i++) {
		if (at[i].head != i || at[i].next == NONE)
			continue;
		struct cg_node *c = &g->nodes[g->n_symbols + cycle++];
		c->cycle = (uint32_t)cycle;
		c->top_order = at[i].top_order;
		c->first_out = (uint32_t)n;
		for (symid m = i; m != NONE; m = at[m].next)
			g->members[n++] = m;
		c->n_members = (uint32_t)n - c->first_out;
		count_cycle_calls(g, c);
	}
}

static void list_callees(struct cycle_walk *w)
{
	const struct callgraph *g = w->g;

	w->first = xrealloc(NULL, g->n_symbols + 1, sizeof(*w->first));
	w->callee = xrealloc(NULL, g->n_arcs, sizeof(*w->callee));
	w->first[0] = 0;
	for (size_t i = 0; i < g->n_symbols; i++)
		w->first[i + 1] = w->first[i] + g->nodes[i].n_out;
	for (size_t i = 0; i < g->n_arcs; i++)
		w->callee[i] = g->arcs[i].to;
}

void callgraph_find_cycles(struct callgraph *g)
{
	size_t n = g->n_symbols;
	struct cycle_walk w = { .g = g };

	list_callees(&w);
	w.state = xalloc(n);
	w.at = xrealloc(NULL, n, sizeof(*w.at));
	w.path = xrealloc(NULL, n, sizeof(*w.path));
	w.heads = xrealloc(NULL, n, sizeof(*w.heads));
	for (symid i = 0; i < n; i++)
		if (w.state[i] == UNSEEN)
			visit_from(&w, i);
	make_cycles(&w);

	free(w.first);
	free(w.callee);
	free(w.state);
	free(w.at);
	free(w.path);
	free(w.heads);
}
