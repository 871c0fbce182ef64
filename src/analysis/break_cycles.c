/* break_cycles.c - chooses arcs to cut, so that no cycle has more than a given number of members.
 *
 * The choice is that of BSD gprof's -C. In a cycle that is too large, some elementary cycles are
 * enumerated, and one of their arcs is cut: preferably one into a member that is also called from
 * outside the cycle, else one into a member with other callers, else any. Of these it is the arc in
 * most elementary cycles, then the one with fewest calls. The rest of the cycle is treated in the
 * same way.
 *
 * Unlike in BSD gprof the enumeration does not take exponential time: D. B. Johnson, "Finding All
 * the Elementary Circuits of a Directed Graph", SIAM J. Comput. 4 (1975), stopped after
 * MAX_CIRCUITS. This still takes time proportional to the arcs for each arc that is cut. So cycles
 * with many arcs are first cut in two, as often as needed (halve_cycle.c). Once much time has been
 * spent, smaller cycles are halved, too. */
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis_private.h"
#include "base/vec.h"

enum {
	MAX_CIRCUITS = 100,
	MANY_ARCS = 500,      /* a cycle with more arcs is halved */
	MANY_STEPS = 5000000, /* after so many steps the limit is: */
	FEW_ARCS = 30,
};

struct cycle_symids {
	VEC(symid) v;
};

struct breaker {
	struct callgraph *g;
	uint32_t max_members;
	uint32_t *part; /* [symbols]: number of the current strongly connected part; 0: none */
	uint32_t n_parts;
	VEC(struct cycle_symids) todo; /* parts that are too large */
	VEC(arcid) cut;

	/* For Tarjan's walk and Johnson's, both with explicit stacks. */
	uint32_t *number, *low; /* [symbols] */
	bool *on_stack, *blocked;
	struct cycle_symids *waiting; /* [symbols]: symbols to unblock together with this one */
	VEC(symid) path, stack, unblocking;
	VEC(uint32_t) cursor;
	VEC(arcid) path_arcs;

	/* For the circuits of one part. */
	uint32_t *n_circuits; /* [arcs]: number of circuits with the arc */
	VEC(arcid) seen;      /* arcs in at least one circuit */
	uint32_t found;
	size_t steps; /* total steps of the searches for circuits */
};

/* The arc to the k-th callee, in the order in which GNU and BSD gprof visit them. */
static arcid newest(const struct cg_node *n, uint32_t k) { return n->first_out + n->n_out - 1 - k; }

static bool stays(const struct breaker *b, arcid arc)
{
	const struct cg_arc *a = &b->g->arcs[arc];
	return !b->g->is_cut[arc] && a->from != a->to && b->part[a->from] == b->part[a->to];
}

/* ---- strongly connected parts (Tarjan 1972) of the symbols that have the part number `in` ---- */

static void pop_component(struct breaker *b, symid root)
{
	struct cycle_symids component = { 0 };
	symid id;
	do {
		id = b->stack.at[--b->stack.n];
		b->on_stack[id] = false;
		vec_push(&component.v, id);
	} while (id != root);
	uint32_t part = ++b->n_parts;
	for (size_t i = 0; i < component.v.n; i++)
		b->part[component.v.at[i]] = part;
	if (component.v.n > b->max_members && component.v.n > 1)
		vec_push(&b->todo, component);
	else
		vec_free(&component.v);
}

static void push(struct breaker *b, symid id, uint32_t *counter)
{
	b->number[id] = b->low[id] = ++*counter;
	b->on_stack[id] = true;
	vec_push(&b->stack, id);
	vec_push(&b->path, id);
	vec_push(&b->cursor, 0);
}

static void walk_component(struct breaker *b, symid root, uint32_t *counter)
{
	push(b, root, counter);
	while (b->path.n) {
		symid id = b->path.at[b->path.n - 1];
		const struct cg_node *n = &b->g->nodes[id];
		uint32_t k = b->cursor.at[b->cursor.n - 1]++;
		if (k < n->n_out) {
			arcid arc = newest(n, k);
			symid to = b->g->arcs[arc].to;
			/* The arc's target may be in a part that was found in this walk: it has
			 * another number by now. */
			if (b->g->is_cut[arc] || (b->number[to] && !b->on_stack[to]) ||
			    b->part[to] != b->part[id])
				continue;
			if (!b->number[to])
				push(b, to, counter);
			else if (b->number[to] < b->low[id])
				b->low[id] = b->number[to];
			continue;
		}
		b->path.n--;
		b->cursor.n--;
		if (b->path.n && b->low[id] < b->low[b->path.at[b->path.n - 1]])
			b->low[b->path.at[b->path.n - 1]] = b->low[id];
		if (b->low[id] == b->number[id])
			pop_component(b, id);
	}
}

static void split(struct breaker *b, const symid *ids, size_t n)
{
	uint32_t counter = 0;
	for (size_t i = 0; i < n; i++)
		b->number[ids[i]] = 0;
	for (size_t i = 0; i < n; i++)
		if (!b->number[ids[i]])
			walk_component(b, ids[i], &counter);
}

/* ---- elementary circuits (Johnson 1975) ---- */

static void unblock(struct breaker *b, symid id)
{
	vec_push(&b->unblocking, id);
	while (b->unblocking.n) {
		symid u = b->unblocking.at[--b->unblocking.n];
		if (!b->blocked[u])
			continue;
		b->blocked[u] = false;
		for (size_t i = 0; i < b->waiting[u].v.n; i++)
			vec_push(&b->unblocking, b->waiting[u].v.at[i]);
		b->waiting[u].v.n = 0;
	}
}

static void record_circuit(struct breaker *b)
{
	b->found++;
	for (size_t i = 0; i < b->path_arcs.n; i++) {
		arcid arc = b->path_arcs.at[i];
		if (!b->n_circuits[arc]++)
			vec_push(&b->seen, arc);
	}
}

/* If the start was not reached from a symbol, the symbol stays blocked until one of its callees is
 * unblocked. */
static void leave_blocked(struct breaker *b, symid id)
{
	const struct cg_node *n = &b->g->nodes[id];
	for (uint32_t k = 0; k < n->n_out; k++) {
		arcid arc = newest(n, k);
		if (stays(b, arc))
			vec_push(&b->waiting[b->g->arcs[arc].to].v, id);
	}
}

/* Records all circuits through `start` within its part, until there are MAX_CIRCUITS. */
static void circuits_from(struct breaker *b, symid start)
{
	VEC(bool) closed = { 0 };
	vec_push(&b->path, start);
	vec_push(&b->cursor, 0);
	vec_push(&closed, false);
	b->blocked[start] = true;

	while (b->path.n) {
		symid id = b->path.at[b->path.n - 1];
		const struct cg_node *n = &b->g->nodes[id];
		uint32_t k = b->cursor.at[b->cursor.n - 1]++;
		b->steps++;
		if (k < n->n_out && b->found < MAX_CIRCUITS) {
			arcid arc = newest(n, k);
			symid to = b->g->arcs[arc].to;
			if (!stays(b, arc))
				continue;
			if (to == start) {
				vec_push(&b->path_arcs, arc);
				record_circuit(b);
				b->path_arcs.n--;
				closed.at[closed.n - 1] = true;
			} else if (!b->blocked[to]) {
				vec_push(&b->path, to);
				vec_push(&b->path_arcs, arc);
				vec_push(&b->cursor, 0);
				vec_push(&closed, false);
				b->blocked[to] = true;
			}
			continue;
		}
		bool reached = closed.at[--closed.n];
		if (reached)
			unblock(b, id);
		else
			leave_blocked(b, id);
		b->path.n--;
		b->cursor.n--;
		if (b->path.n) {
			b->path_arcs.n--;
			closed.at[closed.n - 1] |= reached;
		}
	}
	vec_free(&closed);
}

/* After its circuits are recorded, a start is taken out of the part, so that no circuit is found
 * twice. */
static void find_circuits(struct breaker *b, const struct cycle_symids *part)
{
	uint32_t number = b->part[part->v.at[0]];

	b->found = 0;
	for (size_t i = part->v.n; i-- > 0 && b->found < MAX_CIRCUITS;) {
		for (size_t k = 0; k < part->v.n; k++) {
			b->blocked[part->v.at[k]] = false;
			b->waiting[part->v.at[k]].v.n = 0;
		}
		b->steps += part->v.n;
		circuits_from(b, part->v.at[i]);
		b->part[part->v.at[i]] = 0;
	}
	for (size_t i = 0; i < part->v.n; i++)
		b->part[part->v.at[i]] = number;
}

/* ---- choice of the arc ---- */

/* 0: the callee is called from outside the part, 1: it has other callers within, 2: neither. */
static int reluctance(const struct breaker *b, arcid arc)
{
	symid to = b->g->arcs[arc].to;
	const struct cg_node *n = &b->g->nodes[to];
	uint32_t callers = 0;

	if (n->outside_calls)
		return 0;
	for (uint32_t k = 0; k < n->n_in; k++) {
		arcid in = b->g->in[n->first_in + k].arc;
		if (b->g->is_cut[in])
			continue;
		if (b->part[b->g->arcs[in].from] != b->part[to])
			return 0;
		callers++;
	}
	return callers > 1 ? 1 : 2;
}

static arcid choose(const struct breaker *b)
{
	arcid best = b->seen.at[0];
	int least = reluctance(b, best);

	for (size_t i = 1; i < b->seen.n; i++) {
		arcid arc = b->seen.at[i];
		int r = reluctance(b, arc);
		uint32_t n = b->n_circuits[arc], most = b->n_circuits[best];
		if (r < least ||
		    (r == least &&
		     (n > most || (n == most && b->g->arcs[arc].count < b->g->arcs[best].count)))) {
			best = arc;
			least = r;
		}
	}
	return best;
}

static void cut(arcid arc, void *arg)
{
	struct breaker *b = arg;

	b->g->is_cut[arc] = true;
	b->g->nodes[b->g->arcs[arc].to].sharing_calls -= b->g->arcs[arc].count;
	vec_push(&b->cut, arc);
}

static bool has_many_arcs(const struct breaker *b, const struct cycle_symids *part)
{
	size_t n = 0, many = b->steps < MANY_STEPS ? MANY_ARCS : FEW_ARCS;
	for (size_t i = 0; i < part->v.n && n <= many; i++) {
		const struct cg_node *node = &b->g->nodes[part->v.at[i]];
		for (arcid arc = node->first_out; arc < node->first_out + node->n_out; arc++)
			n += stays(b, arc);
	}
	return n > many;
}

static void break_part(struct breaker *b, const struct cycle_symids *part)
{
	if (has_many_arcs(b, part)) {
		struct cycle_part p = { part->v.at, part->v.n, b->part, b->number };
		callgraph_halve_cycle(b->g, &p, cut, b);
	} else {
		find_circuits(b, part);
		cut(choose(b), b);
	}
	for (size_t i = 0; i < b->seen.n; i++)
		b->n_circuits[b->seen.at[i]] = 0;
	b->seen.n = 0;
	split(b, part->v.at, part->v.n);
}

void callgraph_break_cycles(struct callgraph *g, uint32_t max_members)
{
	struct breaker b = { .g = g, .max_members = max_members };
	symid *all = xrealloc(NULL, g->n_symbols, sizeof(*all));

	g->is_cut = xalloc(g->n_arcs * sizeof(*g->is_cut));
	b.part = xalloc(g->n_symbols * sizeof(*b.part));
	b.number = xalloc(g->n_symbols * sizeof(*b.number));
	b.low = xalloc(g->n_symbols * sizeof(*b.low));
	b.on_stack = xalloc(g->n_symbols * sizeof(*b.on_stack));
	b.blocked = xalloc(g->n_symbols * sizeof(*b.blocked));
	b.waiting = xalloc(g->n_symbols * sizeof(*b.waiting));
	b.n_circuits = xalloc(g->n_arcs * sizeof(*b.n_circuits));
	for (symid i = 0; i < g->n_symbols; i++)
		all[i] = i;

	split(&b, all, g->n_symbols);
	for (size_t i = 0; i < b.todo.n; i++) { /* what remains of a part is appended */
		struct cycle_symids part = b.todo.at[i];
		break_part(&b, &part);
		vec_free(&part.v);
	}
	g->cut = b.cut.at;
	g->n_cut = b.cut.n;

	for (size_t i = 0; i < g->n_symbols; i++)
		vec_free(&b.waiting[i].v);
	free(b.part);
	free(b.number);
	free(b.low);
	free(b.on_stack);
	free(b.blocked);
	free(b.waiting);
	free(b.n_circuits);
	vec_free(&b.todo);
	vec_free(&b.path);
	vec_free(&b.stack);
	vec_free(&b.unblocking);
	vec_free(&b.cursor);
	vec_free(&b.path_arcs);
	vec_free(&b.seen);
	free(all);
}
