/* entries.c - the arcs of an entry of the graph, in the order in which gprof lists them.
 *
 * Direct recursion is smallest, then come calls within a cycle, then others by time. Ties are in
 * order of first appearance, in both directions. */
#include <stdlib.h>

#include "analysis/analysis_private.h"
#include "base/sort.h"
#include "base/vec.h"

/* ---- order ---- */

static inline int compare_listed(const struct cg_listed *l, const struct cg_listed *r, bool down)
{
	int c = 0;
	if (l->class != r->class)
		c = l->class < r->class ? -1 : 1;
	else if (l->total != r->total)
		c = l->total < r->total ? -1 : 1;
	else
		c = ORDER(l->count, r->count);
	if (c)
		return down ? -c : c;
	return ORDER(l->seq, r->seq);
}

static inline __attribute__((always_inline)) void sort_few(struct cg_listed *list, uint32_t n,
							   bool down)
{
	for (uint32_t i = 1; i < n; i++) {
		struct cg_listed moving = list[i];
		uint32_t k = i;
		for (; k && compare_listed(&list[k - 1], &moving, down) > 0; k--)
			list[k] = list[k - 1];
		list[k] = moving;
	}
}

/* The criteria by which compare_listed() compares arcs of one class, the least important first. */
enum criterion { BY_SEQ, BY_COUNT, BY_TOTAL, N_CRITERIA };

static uint64_t key_of(const struct cg_listed *l, enum criterion by)
{
	switch (by) {
	case BY_SEQ:
		return l->seq;
	case BY_COUNT:
		return l->count;
	case BY_TOTAL:
		return sort_key_of_double(l->total);
	case N_CRITERIA:
		break;
	}
	return 0;
}

/* Moves list[keys[i].index] to list[i] for all i, one cycle of the permutation after the other. */
static void arrange(struct cg_listed *list, struct sort_key *keys, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct cg_listed first = list[i];
		uint32_t to = i;
		for (uint32_t from; (from = keys[to].index) != i; to = from) {
			list[to] = list[from];
			keys[to].index = to;
		}
		list[to] = first;
		keys[to].index = to;
	}
}

static void sort_by(const struct cg_listed *list, struct sort_key *keys, size_t n,
		    enum criterion by, bool down)
{
	uint64_t flip = down ? UINT64_MAX : 0;
	for (size_t i = 0; i < n; i++)
		keys[i].key = key_of(&list[keys[i].index], by) ^ flip;
	sort_keys(keys, n);
}

/* Sorts by one criterion after the other, as sorting is stable. Mostly only the counts are out of
 * order: arcs come by position, and the time that callers have of one callee grows with the count.
 * Callers with equal counts differ only by the rounding of their fractions; sorting these among
 * themselves first leaves few digits to sort by. */
static void sort_class(const struct cg_listed *list, struct sort_key *keys, size_t n, bool down)
{
	sort_by(list, keys, n, BY_SEQ, false);
	sort_by(list, keys, n, BY_COUNT, down);
	for (size_t i = 0, end; i < n; i = end) {
		uint64_t count = list[keys[i].index].count;
		for (end = i + 1; end < n && list[keys[end].index].count == count;)
			end++;
		sort_by(list, keys + i, end - i, BY_TOTAL, down);
	}
	sort_by(list, keys, n, BY_TOTAL, down);
}

/* Sorts class by class: there may be many calls within a cycle, and they have no time. */
static void sort_many(struct cg_listed *list, uint32_t n, bool down)
{
	struct sort_key *keys = xrealloc(NULL, n, sizeof(*keys));
	size_t n_keys = 0;

	for (uint32_t k = 0; k < N_CLASSES; k++) {
		enum cg_class class = down ? N_CLASSES - 1 - k : k;
		size_t first = n_keys;
		for (uint32_t i = 0; i < n; i++)
			if (list[i].class == class)
				keys[n_keys++].index = i;
		sort_class(list, keys + first, n_keys - first, down);
	}
	arrange(list, keys, n);
	free(keys);
}

/* Moves arcs that are listed before a middle one to the front. Returns their number. */
static uint32_t split(struct cg_listed *list, uint32_t n, bool down)
{
	const struct cg_listed middle = list[n / 2];
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (compare_listed(&list[i], &middle, down) >= 0)
			continue;
		struct cg_listed before = list[i];
		list[i] = list[k];
		list[k++] = before;
	}
	return k;
}

/* Sorts in pieces: the keys of a piece take little memory next to the list, and fit in the cache.
 * If splitting does not make pieces small, they are sorted as they are: this takes no longer, but
 * more memory. */
static void sort_pieces(struct cg_listed *list, uint32_t n, bool down, unsigned splits)
{
	enum { PIECE = 1 << 15, MOST_SPLITS = 16 };

	if (n <= PIECE || splits == MOST_SPLITS) {
		sort_many(list, n, down);
		return;
	}
	uint32_t k = split(list, n, down);
	sort_pieces(list, k, down, splits + 1);
	sort_pieces(list + k, n - k, down, splits + 1);
}

/* Whether a list is sorted already, as lists of calls within a cycle are if they were seen on
 * stacks but not counted. */
static bool is_sorted(const struct cg_listed *list, uint32_t n, bool down)
{
	for (uint32_t i = 1; i < n; i++)
		if (compare_listed(&list[i - 1], &list[i], down) > 0)
			return false;
	return true;
}

void callgraph_sort_listed(struct cg_listed *list, uint32_t n, bool down)
{
	enum { FEW = 24 }; /* most lists are short */
	if (n > FEW) {
		if (!is_sorted(list, n, down))
			sort_pieces(list, n, down, 0);
	} else if (down) {
		sort_few(list, n, true);
	} else {
		sort_few(list, n, false);
	}
}

/* ---- lists ---- */

static inline struct cg_listed listed(const struct callgraph *g, arcid arc, const struct cg_arc *a,
				      symid other)
{
	struct cg_listed l = { .other = other,
			       .arc = arc,
			       .seq = g->measured ? other : callgraph_arc_seq(g, arc),
			       .count = a->count,
			       .class = CG_OUTER };

	if (callgraph_arc_is_inner(g, arc, a))
		l.class = a->from == a->to ? CG_RECURSION : CG_INNER;
	else if (g->measured)
		l.time = g->measured[arc].along, l.samples = g->measured[arc].samples;
	else
		l.time = callgraph_outer_time(g, a);
	l.total = l.time.self + l.time.child;
	return l;
}

/* The nodes at the other ends are scattered over memory. For long lists they are prefetched some
 * arcs ahead; for short lists while the previous entry is being listed. */
enum { AHEAD = 24, ENOUGH = 32 };

void callgraph_list_callers(const struct callgraph *g, symid id, struct cg_listed *ret)
{
	const struct cg_in *in = &g->in[g->nodes[id].first_in];
	uint32_t n = g->nodes[id].n_in;

	for (uint32_t k = 0; k < n; k++) {
		if (k + AHEAD < n)
			prefetch_line(&g->part[in[k + AHEAD].from]);
		struct cg_arc a = { in[k].from, id, in[k].count };
		ret[n - 1 - k] = listed(g, in[k].arc, &a, a.from); /* oldest first */
	}
}

void callgraph_list_callees(const struct callgraph *g, symid id, struct cg_listed *ret)
{
	arcid first = g->nodes[id].first_out;
	uint32_t n = g->nodes[id].n_out;

	for (uint32_t k = 0; k < n; k++) {
		if (k + AHEAD < n)
			prefetch_line(&g->share[g->arcs[first + k + AHEAD].to]);
		ret[k] = listed(g, first + k, &g->arcs[first + k], g->arcs[first + k].to);
	}
}

struct cg_listed callgraph_listed(const struct callgraph *g, arcid arc, bool as_caller)
{
	const struct cg_arc *a = &g->arcs[arc];
	return listed(g, arc, a, as_caller ? a->from : a->to);
}

/* ---- cycles ---- */

/* Joins several arcs of one function. The result has the position of the first. */
static void join(struct cg_listed *into, const struct cg_listed *l)
{
	into->count += l->count;
	into->samples += l->samples;
	into->time.self += l->time.self;
	into->time.child += l->time.child;
	into->total += l->total;
}

/* Joins the calls between a function and the members of a cycle, `into` the cycle or out of it.
 * Arcs are joined in the order of the data, in which each function has its arcs, so that equal arcs
 * have equal sums. False: there are none. */
static bool join_arcs(const struct callgraph *g, symid other, size_t cycle, bool into,
		      struct cg_listed *ret)
{
	const struct cg_node *n = &g->nodes[other];
	uint32_t n_arcs = into ? n->n_out : n->n_in;
	bool any = false;

	for (uint32_t k = 0; k < n_arcs; k++) {
		const struct cg_in *in = into ? NULL : &g->in[n->first_in + n_arcs - 1 - k];
		arcid arc = into ? n->first_out + k : in->arc;
		struct cg_arc a =
			into ? g->arcs[arc] : (struct cg_arc){ in->from, other, in->count };
		if (g->part[into ? a.to : a.from].cycle != cycle)
			continue;
		struct cg_listed l = listed(g, arc, &a, other);
		if (!any)
			*ret = l;
		else
			join(ret, &l);
		any = true;
	}
	return any;
}

struct cycle_border { /* functions that may border on a cycle, each once */
	VEC(symid) others;
	bool *is_known; /* [symbols] */
};

static void add_other(struct cycle_border *b, symid other)
{
	if (!b->is_known[other])
		vec_push(&b->others, other);
	b->is_known[other] = true;
}

static void add_border(const struct callgraph *g, symid member, bool into, struct cycle_border *b)
{
	const struct cg_node *m = &g->nodes[member];

	for (uint32_t k = 0; k < (into ? m->n_in : m->n_out); k++) {
		symid other = into ? g->in[m->first_in + k].from : g->arcs[m->first_out + k].to;
		if (g->part[other].cycle != m->cycle)
			add_other(b, other);
	}
}

enum { LINE = 4 }; /* arcs per cache line */

static void prefetch_in(const struct callgraph *g, const struct cg_node *n)
{
	for (uint32_t k = 0; k < n->n_in && k < ENOUGH; k += LINE)
		prefetch_line(&g->in[n->first_in + k]);
}

static void prefetch_out(const struct callgraph *g, const struct cg_node *n)
{
	for (uint32_t k = 0; k < n->n_out && k < ENOUGH; k += LINE)
		prefetch_line(&g->arcs[n->first_out + k]);
}

/* Prefetches the nodes and arcs of functions that will be looked at next. */
static void expect(const struct callgraph *g, const symid *ids, size_t n, size_t i, bool callers)
{
	enum { NODES_AHEAD = 8, ARCS_AHEAD = 3 };

	if (i + NODES_AHEAD >= n)
		return;
	callgraph_prefetch_node(&g->nodes[ids[i + NODES_AHEAD]]);
	(callers ? prefetch_in : prefetch_out)(g, &g->nodes[ids[i + ARCS_AHEAD]]);
}

static void add_borders(const struct callgraph *g, const struct cg_node *cycle, bool into,
			struct cycle_border *b)
{
	const symid *members = g->members + cycle->first_out;

	b->is_known = xalloc(g->n_symbols * sizeof(*b->is_known));
	for (uint32_t i = 0; i < cycle->n_members; i++) {
		expect(g, members, cycle->n_members, i, into);
		add_border(g, members[i], into, b);
	}
	free(b->is_known);
}

/* Adds all functions outside the cycle that have arcs in this direction, whether to a member or
 * not. */
static void add_outside(const struct callgraph *g, size_t cycle, bool into, struct cycle_border *b)
{
	for (symid i = 0; i < g->n_symbols; i++)
		if (g->part[i].cycle != cycle && (into ? g->nodes[i].n_out : g->nodes[i].n_in))
			vec_push(&b->others, i);
}

/* Whether the members have more arcs than the other functions: one cycle may contain nearly all
 * functions. */
static bool has_most_arcs(const struct callgraph *g, const struct cg_node *cycle, bool into)
{
	size_t n_in = 0, n_out = 0;

	for (uint32_t i = 0; i < cycle->n_members; i++) {
		const struct cg_node *m = &g->nodes[g->members[cycle->first_out + i]];
		n_in += m->n_in;
		n_out += m->n_out;
	}
	return into ? n_in > g->n_arcs - n_out : n_out > g->n_arcs - n_in;
}

static struct cg_listed *list_around(const struct callgraph *g, size_t cycle, bool into,
				     size_t *ret)
{
	const struct cg_node *c = &g->nodes[g->n_symbols + cycle - 1];
	struct cycle_border b = { 0 };
	size_t n = 0;

	if (has_most_arcs(g, c, into))
		add_outside(g, cycle, into, &b);
	else
		add_borders(g, c, into, &b);
	struct cg_listed *list = xrealloc(NULL, b.others.n, sizeof(*list));
	for (size_t i = 0; i < b.others.n; i++) {
		expect(g, b.others.at, b.others.n, i, !into);
		n += join_arcs(g, b.others.at[i], cycle, into, &list[n]);
	}
	vec_free(&b.others);
	callgraph_sort_listed(list, (uint32_t)n, !into);
	*ret = n;
	return list;
}

struct cg_listed *callgraph_list_into_cycle(const struct callgraph *g, size_t cycle, size_t *n)
{
	return list_around(g, cycle, true, n);
}

struct cg_listed *callgraph_list_out_of_cycle(const struct callgraph *g, size_t cycle, size_t *n)
{
	return list_around(g, cycle, false, n);
}

uint64_t callgraph_calls_from_outside(const struct callgraph *g, symid id)
{
	const struct cg_node *n = &g->nodes[id];
	uint64_t calls = n->outside_calls;
	if (!n->cycle)
		return n->sharing_calls;
	for (uint32_t k = 0; k < n->n_in && g->has_arcs; k++) {
		const struct cg_in *in = &g->in[n->first_in + k];
		if (g->part[in->from].cycle != n->cycle)
			calls += in->count;
	}
	return calls;
}

/* NULL for a cycle, and beyond the last entry. */
static const struct cg_node *symbol_at(const struct callgraph *g, size_t place)
{
	if (place >= g->n_symbols + g->n_cycles || g->order[place] >= g->n_symbols)
		return NULL;
	return &g->nodes[g->order[place]];
}

static void prefetch_ends(const struct callgraph *g, const struct cg_node *n)
{
	for (uint32_t k = 0; k < n->n_in && k < ENOUGH; k++)
		prefetch_line(&g->part[g->in[n->first_in + k].from]);
	for (uint32_t k = 0; k < n->n_out && k < ENOUGH; k++)
		prefetch_line(&g->share[g->arcs[n->first_out + k].to]);
}

void callgraph_prefetch_entry(const struct callgraph *g, size_t place, bool with_arcs)
{
	enum { NODES_AHEAD = 6, ARCS_AHEAD = 3 };
	const struct cg_node *node = symbol_at(g, place + NODES_AHEAD),
			     *arcs = symbol_at(g, place + ARCS_AHEAD), *ends = symbol_at(g, place);

	if (node) {
		callgraph_prefetch_node(node);
		prefetch_line(&g->symbols->at[node - g->nodes].owner);
	}
	if (arcs && with_arcs) {
		prefetch_in(g, arcs);
		prefetch_out(g, arcs);
	}
	if (ends && with_arcs)
		prefetch_ends(g, ends);
}
