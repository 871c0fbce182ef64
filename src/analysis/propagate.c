/* propagate.c - hands time on from callees to callers, in proportion to calls.
 *
 * Downwards first, callers before callees: which part of a symbol's time is wanted (`fraction`:
 * options may leave out callers or symbols), and which entries are shown. Then upwards: each
 * symbol's time to its callers. Sums are made in GNU gprof's order, so that they round in the same
 * way. */
#include <stdlib.h>

#include "analysis/analysis_private.h"

static const struct selection everything;

nodeid callgraph_head(const struct callgraph *g, symid id)
{
	uint32_t cycle = g->nodes[id].cycle;
	return cycle ? (nodeid)(g->n_symbols + cycle - 1) : id;
}

struct cg_time callgraph_arc_time(const struct callgraph *g, arcid arc, const struct cg_arc *a)
{
	return callgraph_arc_is_inner(g, arc, a) ? (struct cg_time){ 0, 0 }
						 : callgraph_outer_time(g, a);
}

/* ---- downwards ---- */

/* Adds what the callers of one symbol pass on to `into`. For members of a cycle this is the cycle's
 * node, and only callers outside the cycle count. */
static void inherit_from_callers(const struct callgraph *g, symid id, struct cg_node *into)
{
	const struct cg_node *n = &g->nodes[id];
	const struct cg_in *in = &g->in[n->first_in];

	for (uint32_t k = 0; k < n->n_in; k++) {
		const struct cg_part *caller = &g->part[in[k].from];
		if (in[k].from == id || (n->cycle && caller->cycle == n->cycle))
			continue;
		into->shown |= caller->shown;
		if (into->sharing_calls && !(g->is_cut && g->is_cut[in[k].arc]))
			into->fraction += caller->fraction *
					  ((double)in[k].count / (double)into->sharing_calls);
	}
}

/* Calls from outside all places count as calls by shown, fully wanted callers. (There are none with
 * GNU's rules, which drop such calls.) */
static void inherit_from_outside(struct cg_node *into)
{
	if (!into->outside_calls)
		return;
	into->shown = true;
	into->fraction += (double)into->outside_calls / (double)into->sharing_calls;
}

static void inherit(struct callgraph *g, symid id)
{
	struct cg_node *n = &g->nodes[id];
	struct cg_node *head = &g->nodes[callgraph_head(g, id)];
	if (head == n) {
		inherit_from_callers(g, id, n);
		inherit_from_outside(n);
		return;
	}
	const symid *members = &g->members[head->first_out];
	for (uint32_t k = 0; k < head->n_members; k++)
		inherit_from_callers(g, members[k], head);
	inherit_from_outside(head);
	for (uint32_t k = 0; k < head->n_members; k++) {
		g->nodes[members[k]].shown = head->shown;
		g->nodes[members[k]].fraction = head->fraction;
	}
}

/* Applies the options for the symbol itself; includes win over excludes. */
static void apply_selection(struct cg_node *n, symid id, const struct selection *sel)
{
	if (!n->shown)
		n->shown = selection_wants(sel, SEL_INCL_GRAPH, id);
	else if (!selection_in(sel, SEL_INCL_GRAPH, id) && selection_in(sel, SEL_EXCL_GRAPH, id))
		n->shown = false;
	if (n->fraction == 0)
		n->fraction = selection_wants(sel, SEL_INCL_TIME, id) ? 1 : 0;
	else if (!selection_in(sel, SEL_INCL_TIME, id) && selection_in(sel, SEL_EXCL_TIME, id))
		n->fraction = 0;
}

/* Prefetches the data of the next symbols, which is anywhere in memory. */
static void prefetch_callers(const struct callgraph *g, const symid *bottom_up, size_t i)
{
	enum { NODE_AHEAD = 16, ARCS_AHEAD = 10, PARTS_AHEAD = 5, ENOUGH = 32 };

	if (i < NODE_AHEAD)
		return;
	callgraph_prefetch_node(&g->nodes[bottom_up[i - NODE_AHEAD]]);
	const struct cg_node *n = &g->nodes[bottom_up[i - ARCS_AHEAD]];
	for (uint32_t k = 0; k < n->n_in && k < ENOUGH; k += 4) /* four per cache line */
		prefetch_line(&g->in[n->first_in + k]);
	n = &g->nodes[bottom_up[i - PARTS_AHEAD]];
	for (uint32_t k = 0; k < n->n_in && k < ENOUGH; k++)
		prefetch_line(&g->part[g->in[n->first_in + k].from]);
}

static void flow_down(struct callgraph *g, const symid *bottom_up, const struct selection *sel)
{
	nodeid previous = NONE;

	for (size_t i = g->n_symbols; i-- > 0;) {
		symid id = bottom_up[i];
		struct cg_node *n = &g->nodes[id];
		prefetch_callers(g, bottom_up, i);
		if (callgraph_head(g, id) != previous) {
			previous = callgraph_head(g, id);
			inherit(g, id);
		}
		apply_selection(n, id, sel);
		g->part[id].fraction = n->fraction;
		g->part[id].shown = n->shown;
		g->share[id].wanted = n->fraction != 0;
		g->shown_total += callgraph_shown_self(n);
	}
}

/* Does the same as flow_down() if nothing is left out, without the rounding errors in sums of
 * fractions. */
static void show_all(struct callgraph *g)
{
	for (size_t i = 0; i < g->n_symbols + g->n_cycles; i++) {
		g->nodes[i].shown = true;
		g->nodes[i].fraction = 1;
	}
	for (size_t i = 0; i < g->n_symbols; i++) {
		g->part[i].shown = true;
		g->part[i].fraction = 1;
		g->share[i].wanted = true;
		g->shown_total += g->nodes[i].self;
	}
}

/* ---- cycles as a whole ---- */

/* A cycle that is only entered from outside the program inherits nothing from callers. It is shown
 * if a member is, and has the largest fraction of its members. */
static void show_entered_cycle(const struct callgraph *g, struct cg_node *cycle)
{
	for (uint32_t k = 0; k < cycle->n_members; k++) {
		const struct cg_node *member = &g->nodes[g->members[cycle->first_out + k]];
		cycle->shown |= member->shown;
		if (member->fraction > cycle->fraction)
			cycle->fraction = member->fraction;
	}
}

static void sum_cycles(struct callgraph *g, bool inherit)
{
	for (size_t c = 0; c < g->n_cycles; c++) {
		struct cg_node *cycle = &g->nodes[g->n_symbols + c];
		if (!inherit)
			show_entered_cycle(g, cycle);
		for (uint32_t k = 0; k < cycle->n_members; k++) {
			const struct cg_node *member = &g->nodes[g->members[cycle->first_out + k]];
			if (member->fraction != 0)
				cycle->self += member->self;
		}
	}
}

/* ---- upwards ---- */

static void gather_from_callees(struct callgraph *g, symid id)
{
	struct cg_node *n = &g->nodes[id];
	struct cg_node *head = &g->nodes[callgraph_head(g, id)];
	if (n->fraction == 0)
		return;

	for (uint32_t k = n->n_out; k-- > 0;) { /* newest first */
		const struct cg_arc *a = &g->arcs[n->first_out + k];
		if (callgraph_arc_is_inner(g, n->first_out + k, a))
			continue;
		struct cg_time t = callgraph_whole_time(&g->share[a->to], a->count);
		double share = t.self + t.child;
		n->child += share;
		n->shown_child += n->fraction * share;
		if (head != n) {
			head->child += share;
			head->shown_child += n->fraction * share;
		}
	}
}

/* Sets what the symbol hands on to callers. It is known once the symbol, or all of its cycle, has
 * gathered its callees' time. */
static void settle_share(struct callgraph *g, symid id)
{
	const struct cg_node *head = &g->nodes[callgraph_head(g, id)];
	struct cg_share *share = &g->share[id];

	share->self = head->self;
	share->child = head->child;
	share->calls = (double)head->sharing_calls;
}

/* As prefetch_callers(), for the way up. */
static void prefetch_callees(const struct callgraph *g, const symid *bottom_up, size_t i)
{
	enum { NODE_AHEAD = 16, ARCS_AHEAD = 10, SHARES_AHEAD = 5, ENOUGH = 32 };

	if (i + NODE_AHEAD >= g->n_symbols)
		return;
	callgraph_prefetch_node(&g->nodes[bottom_up[i + NODE_AHEAD]]);
	const struct cg_node *n = &g->nodes[bottom_up[i + ARCS_AHEAD]];
	for (uint32_t k = 0; k < n->n_out && k < ENOUGH; k += 4) /* four per cache line */
		prefetch_line(&g->arcs[n->first_out + k]);
	n = &g->nodes[bottom_up[i + SHARES_AHEAD]];
	for (uint32_t k = 0; k < n->n_out && k < ENOUGH; k++)
		prefetch_line(&g->share[g->arcs[n->first_out + k].to]);
}

/* Symbols with equal top_order are the members of one cycle, or a single symbol. */
static void flow_up(struct callgraph *g, const symid *bottom_up)
{
	for (size_t i = 0, end; i < g->n_symbols; i = end) {
		uint32_t top_order = g->nodes[bottom_up[i]].top_order;
		for (end = i; end < g->n_symbols && g->nodes[bottom_up[end]].top_order == top_order;
		     end++) {
			prefetch_callees(g, bottom_up, end);
			gather_from_callees(g, bottom_up[end]);
		}
		for (size_t k = i; k < end; k++)
			settle_share(g, bottom_up[k]);
	}
}

/* Sorts symbols by top_order, and equal ones by address (a counting sort). */
static symid *sort_bottom_up(const struct callgraph *g)
{
	uint32_t *start = xalloc((g->n_symbols + 2) * sizeof(*start));
	symid *sorted = xrealloc(NULL, g->n_symbols, sizeof(*sorted));

	for (size_t i = 0; i < g->n_symbols; i++)
		start[g->nodes[i].top_order + 1]++;
	for (size_t i = 0; i <= g->n_symbols; i++)
		start[i + 1] += start[i];
	for (symid i = 0; i < g->n_symbols; i++)
		sorted[start[g->nodes[i].top_order]++] = i;
	free(start);
	return sorted;
}

void callgraph_propagate(struct callgraph *g, const struct callgraph_opts *o)
{
	symid *bottom_up = sort_bottom_up(g);

	g->share = xalloc_aligned(g->n_symbols * sizeof(*g->share));
	g->part = xalloc_aligned(g->n_symbols * sizeof(*g->part));
	xuse_large_pages(g->share, g->n_symbols * sizeof(*g->share));
	xuse_large_pages(g->part, g->n_symbols * sizeof(*g->part));
	for (size_t i = 0; i < g->n_symbols; i++) {
		g->share[i] = (struct cg_share){ .cycle = g->nodes[i].cycle };
		g->part[i] = (struct cg_part){ .cycle = g->nodes[i].cycle };
	}
	if (callgraph_wants_callers(o))
		flow_down(g, bottom_up, o->selection ? o->selection : &everything);
	else
		show_all(g);
	sum_cycles(g, callgraph_rules_of(o)->cycles_inherit);
	flow_up(g, bottom_up);
	free(bottom_up);
}
