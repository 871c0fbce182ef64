/* measure.c - measures time on each arc from sampled stacks. Without stacks, time is only estimated
 * from numbers of calls.
 *
 * Each function and each call (caller and callee) on the stack of a sample gets the sample's weight
 * once, however often it is on the stack. A stack passes at most once along a call into a cycle, a
 * call out of it, or a call between functions outside cycles. So the times of a function's (or
 * cycle's) callers add up, and so do those of its callees. Within a cycle a stack may have several
 * calls of one function. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis_private.h"
#include "base/vec.h"
#include "paths/path_tree.h"

struct stack_paths {
	bool has_stacks;        /* some samples have callers, or were in inlined functions */
	struct path_tree *tree; /* places are owners: what is charged with times and calls */
	/* Once time was measured, own[node] is the own time of the node's function in all samples
	 * at or below the node. It is NESTED if the node's arc occurs before on its path. */
	struct path_weights weights;
	struct stack_calls calls; /* empty once they are sorted by arc */
	arcid *arcs;   /* [nodes]: the arc that leads to the node; unset for nodes below the root */
	pathid *nodes; /* grouped by arc; only nodes with samples */
	uint32_t *end; /* [n_arcs]: end of the arc's nodes */
};

static const double NESTED = -1;

/* ---- functions of frames ---- */

/* The function that contains a place. If places are lines, it is at an earlier place. Otherwise
 * each place is a function, even a label of assembly code that is not typed as one. */
static symid function_of(const struct symbols *s, symid place)
{
	if (!s->opts.lines)
		return place == NONE ? NONE : s->at[place].owner;
	while (place != NONE && !s->at[place].is_function)
		place--; /* 0 becomes NONE */
	return place == NONE ? NONE : s->at[place].owner;
}

/* [n_frames]: whether samples were taken in the frame. */
static bool *find_leaves(const struct samples *s)
{
	bool *is_leaf = xalloc(s->n_frames + 1);
	for (size_t i = 0; i < s->n; i++)
		is_leaf[s->stacks[s->at[i].stack].frame] = true;
	return is_leaf;
}

/* For each frame, finds the function that it is as a caller, and the place that samples in it are
 * charged to, which may be smaller; both [n_frames]. False if the two are equal wherever samples
 * were taken. */
static bool find_owners(const struct symbols *s, const struct callgraph_opts *o, symid *callers,
			symid *leaves)
{
	bool differ = false, *is_leaf = find_leaves(o->samples);
	callers[0] = leaves[0] = NONE;
	for (size_t i = 1; i < o->samples->n_frames; i++) {
		symid place = program_place(o->program, (frameid)i);
		callers[i] = function_of(s, place);
		leaves[i] = s->at[place].owner;
		differ |= is_leaf[i] && callers[i] != leaves[i];
	}
	free(is_leaf);
	return differ;
}

struct stack_paths *callgraph_paths_new(const struct symbols *s, const struct callgraph_opts *o)
{
	const struct samples *samples = o->samples;
	if (!samples || !samples->n)
		return NULL;
	struct stack_paths *p = xalloc(sizeof(*p));
	symid *callers = xrealloc(NULL, samples->n_frames + 1, sizeof(*callers));
	symid *leaves = xrealloc(NULL, samples->n_frames + 1, sizeof(*leaves));
	bool differ = find_owners(s, o, callers, leaves);
	struct path_frames frames = path_frames_of_functions(o->program, samples, callers,
							     o->no_inlines),
			   ends = { 0 };

	if (differ)
		ends = path_frames_of_functions(o->program, samples, leaves, o->no_inlines);
	p->has_stacks = samples_have_callers(samples) || program_has_inlined(o->program, samples);
	p->tree = path_tree_new(samples, &frames, differ ? &ends : NULL);
	p->weights = path_weights_of(p->tree, samples, samples_event(samples));
	free(TAKE(p->tree->ends));
	path_frames_free(&frames);
	path_frames_free(&ends);
	free(callers);
	free(leaves);
	return p;
}

bool callgraph_has_stacks(const struct stack_paths *p) { return p && p->has_stacks; }

void callgraph_paths_free(struct stack_paths *p)
{
	if (!p)
		return;
	path_weights_free(&p->weights);
	path_tree_free(p->tree);
	free(p->calls.at);
	free(p->calls.end);
	free(p->arcs);
	free(p->nodes);
	free(p->end);
	free(p);
}

/* ---- own time ---- */

void callgraph_set_unit(struct callgraph *g, const struct samples *s)
{
	const struct event *e = &s->events[samples_event(s)];
	g->rate = e->unit == EVENT_NS ? 1e9 : 1;
	g->is_assembled = e->is_assembled;
	if (e->unit != EVENT_NS)
		strcpy(g->dimension, "events");
}

/* Drops times from histograms: they have another unit, and may be of the same time as samples. */
static void leave_out_histograms(struct callgraph *g)
{
	g->left_out = g->rate > 0 ? g->total / g->rate : 0;
	g->total = g->outside = 0;
	for (size_t i = 0; i < g->n_symbols; i++)
		g->nodes[i].self = 0;
}

static const struct selection everything;

void callgraph_credit_samples(struct callgraph *g, const struct callgraph_opts *o,
			      const struct stack_paths *p)
{
	const struct selection *sel = o->selection ? o->selection : &everything;
	const struct path_own *own = p->weights.own;

	leave_out_histograms(g);
	callgraph_set_unit(g, o->samples);
	g->outside += own[0].sum;
	g->total += own[0].sum;
	for (size_t i = 1; i < p->tree->n; i++) {
		symid place = p->tree->nodes[i].place;
		g->nodes[place].self += own[i].sum;
		if (selection_wants(sel, SEL_INCL_FLAT, place))
			g->total += own[i].sum;
	}
}

/* ---- calls ---- */

/* Whether the node has samples of the event whose times are shown. */
static bool has_samples(const struct stack_paths *p, size_t node)
{
	const struct path_weight *below = &p->weights.below[node];
	return below->count || below->sum != 0;
}

static bool is_call(const struct stack_paths *p, size_t node)
{
	return p->tree->nodes[node].caller && has_samples(p, node);
}

/* Lists the nodes with a caller. Ordered by the caller's place nodes are scattered over memory, so
 * they are put in order once. */
struct stack_calls *callgraph_stack_calls(struct stack_paths *p, size_t n_places)
{
	const struct path_tree *t = p->tree;
	const struct path_node *nodes = t->nodes;
	struct stack_calls *ret = &p->calls;

	ret->at = xrealloc(NULL, t->n, sizeof(*ret->at));
	ret->end = xalloc((n_places + 1) * sizeof(*ret->end));
	for (size_t i = 1; i < t->n; i++)
		if (is_call(p, i))
			ret->end[nodes[nodes[i].caller].place]++;
	for (size_t place = 0; place < n_places; place++) {
		uint32_t n = ret->end[place];
		ret->end[place] = (uint32_t)ret->n;
		ret->n += n;
	}
	for (size_t i = 1; i < t->n; i++)
		if (is_call(p, i))
			ret->at[ret->end[nodes[nodes[i].caller].place]++] =
				(struct stack_call){ (pathid)i, { nodes[i].place } };
	return ret;
}

/* Calls are sorted by caller, like arcs, so the calls of an arc are near each other. */
void callgraph_sort_stack_calls(struct stack_paths *p, size_t n_arcs)
{
	struct stack_calls *c = &p->calls;
	uint32_t at = 0;

	if (!c->at) /* calls on stacks were not asked for */
		return;
	p->arcs = xrealloc(NULL, p->tree->n, sizeof(*p->arcs));
	p->nodes = xrealloc(NULL, c->n, sizeof(*p->nodes));
	p->end = xalloc(n_arcs * sizeof(*p->end));
	for (size_t i = 0; i < c->n; i++)
		p->end[c->at[i].arc]++;
	for (size_t i = 0; i < n_arcs; i++) {
		uint32_t n = p->end[i];
		p->end[i] = at;
		at += n;
	}
	for (size_t i = 0; i < c->n; i++) {
		struct stack_call call = c->at[i];
		p->arcs[call.node] = call.arc;
		p->nodes[p->end[call.arc]++] = call.node;
	}
	free(c->at);
	free(c->end);
	*c = (struct stack_calls){ 0 };
}

/* ---- measuring ---- */

struct met_cycle {
	uint32_t n;     /* number of members on the path */
	uint32_t again; /* members that were on the path before, with another member between */
	symid last;     /* the innermost member */
};

struct visited {       /* a node of the current path */
	double before; /* own time of its function that was seen before the node */
	symid last;    /* the previous member of the same cycle on the path */
	bool again;
	bool is_nested; /* the path has its arc before */
};

struct met_function { /* data of a function that a visit needs, in one place */
	double own;   /* own time seen so far */
	double inclusive;
	uint32_t met;     /* how often the function is on the path */
	uint32_t cycle;   /* 0: none */
	pathid outermost; /* its outermost node on the path */
};

struct measuring {
	struct callgraph *g;
	struct stack_paths *paths;
	VEC(struct visited) path; /* the innermost node last */
	/* [arcs]: how often the arc is on the path, leading to a function that is on it before */
	uint32_t *arc_met;
	struct met_function *functions; /* [symbols] */
	struct met_cycle *cycles;       /* [cycles + 1] */
};

/* Adds time of samples in the callee's own code, and in the functions that it called. */
static void charge(struct cg_time *t, double own, double all)
{
	double child = all - own;
	t->self += own;
	t->child += child > all * 1e-12 ? child : 0; /* smaller: rounding error */
}

static struct visited *innermost(struct measuring *m) { return &m->path.at[m->path.n - 1]; }

/* Functions count at their outermost node on a path. */
static void enter_call(struct measuring *m, pathid node)
{
	const struct stack_paths *p = m->paths;
	struct met_function *f = &m->functions[p->tree->nodes[node].place];

	innermost(m)->before = f->own;
	if (!f->met++) {
		f->inclusive += p->weights.below[node].sum;
		f->outermost = node;
		return;
	}
	arcid arc = p->arcs[node];
	innermost(m)->is_nested = m->arc_met[arc]++ || (p->tree->nodes[f->outermost].caller &&
							p->arcs[f->outermost] == arc);
}

static void leave_call(struct measuring *m, pathid node)
{
	struct stack_paths *p = m->paths;
	const struct path_node *at = &p->tree->nodes[node];
	struct met_function *f = &m->functions[at->place];
	double own = f->own - innermost(m)->before;

	if (--f->met)
		m->arc_met[p->arcs[node]]--;
	if (!at->caller)
		charge(&m->g->roots[at->place], own, p->weights.below[node].sum);
	p->weights.own[node].sum = innermost(m)->is_nested ? NESTED : own;
}

/* Counts samples in a cycle of calls, and samples in which it goes round: a member is on the stack
 * again, with another member between. Direct recursion alone does not count as going round. */
static void enter_cycle(struct measuring *m, pathid node, uint32_t cycle)
{
	symid place = m->paths->tree->nodes[node].place;
	const struct path_weight *below = &m->paths->weights.below[node];
	struct met_cycle *met = &m->cycles[cycle];
	struct cg_cycle *c = &m->g->cycles[cycle - 1];
	struct visited *v = innermost(m);

	v->last = met->last;
	v->again = met->n && met->last != place && m->functions[place].met > 1;
	if (!met->n++) {
		c->samples += below->count;
		c->inclusive += below->sum;
	}
	if (v->again && !met->again++) {
		c->reentered += below->count;
		c->going_round += below->sum;
	}
	met->last = place;
}

static void leave_cycle(struct measuring *m, uint32_t cycle)
{
	const struct visited *v = innermost(m);
	m->cycles[cycle].n--;
	m->cycles[cycle].again -= v->again;
	m->cycles[cycle].last = v->last;
}

/* A node without samples has none below it either, and no arcs. */
static void enter(pathid node, void *arg)
{
	struct measuring *m = arg;
	struct met_function *f = &m->functions[m->paths->tree->nodes[node].place];

	if (!has_samples(m->paths, node))
		return;
	vec_push(&m->path, ((struct visited){ 0 }));
	enter_call(m, node);
	if (f->cycle)
		enter_cycle(m, node, f->cycle);
	f->own += m->paths->weights.own[node].sum;
}

static void leave(pathid node, void *arg)
{
	struct measuring *m = arg;
	uint32_t cycle = m->functions[m->paths->tree->nodes[node].place].cycle;

	if (!has_samples(m->paths, node))
		return;
	leave_call(m, node);
	if (cycle)
		leave_cycle(m, cycle);
	m->path.n--;
}

static void begin(struct measuring *m, struct callgraph *g, struct stack_paths *p)
{
	*m = (struct measuring){ .g = g, .paths = p };
	m->arc_met = xalloc(g->n_arcs * sizeof(*m->arc_met));
	m->functions = xalloc(g->n_symbols * sizeof(*m->functions));
	for (size_t i = 0; i < g->n_symbols; i++)
		m->functions[i].cycle = g->nodes[i].cycle;
	m->cycles = xalloc((g->n_cycles + 1) * sizeof(*m->cycles));
	g->roots = xalloc(g->n_symbols * sizeof(*g->roots));
	g->cycles = xalloc(g->n_cycles * sizeof(*g->cycles));
}

static void end_visit(struct measuring *m)
{
	vec_free(&m->path);
	free(m->arc_met);
	free(m->cycles);
	free(TAKE(m->paths->arcs));
}

struct arcs_to_add { /* arcs [first, end) */
	const struct stack_paths *paths;
	struct cg_measured *into; /* [arcs] */
	arcid first, end;
};

/* Sums the nodes of each arc; most arcs have one. */
static void add_up(void *arg)
{
	enum { AHEAD = 16 };
	const struct arcs_to_add *a = arg;
	const struct stack_paths *p = a->paths;
	const struct path_weights *w = &p->weights;
	struct cg_measured *ret = a->into;
	uint32_t i = a->first ? p->end[a->first - 1] : 0;
	uint32_t n = a->end ? p->end[a->end - 1] : 0;

	for (arcid arc = a->first; i < n; arc++) {
		for (; i < p->end[arc]; i++) {
			pathid node = p->nodes[i];
			if (i + AHEAD < n) {
				prefetch_line(&w->below[p->nodes[i + AHEAD]]);
				prefetch_line(&w->own[p->nodes[i + AHEAD]]);
			}
			if (w->own[node].sum < 0) /* NESTED */
				continue;
			charge(&ret[arc].along, w->own[node].sum, w->below[node].sum);
			ret[arc].samples += w->below[node].count;
		}
	}
}

/* The tree is not needed any more. */
static struct cg_measured *add_up_arcs(struct stack_paths *p, arcid n_arcs)
{
	free(TAKE(p->tree->nodes));
	struct cg_measured *ret = xalloc(n_arcs * sizeof(*ret));
	arcid half = n_arcs / 2;
	struct arcs_to_add all[] = { { p, ret, 0, half }, { p, ret, half, n_arcs } };

	if (p->end)
		callgraph_run_both(n_arcs, (struct workload){ add_up, &all[0] },
				   (struct workload){ add_up, &all[1] });
	return ret;
}

/* Chooses the entries to show: the selected functions and those that they call, or all; without
 * those that are excluded, and without marks, which are no functions. Times do not depend on this.
 */
static void choose_entries(struct callgraph *g, const struct selection *sel,
			   const struct program *program)
{
	VEC(symid) reached = { 0 };

	for (symid i = 0; i < g->n_symbols; i++) {
		g->nodes[i].shown =
			!sel->any[SEL_INCL_GRAPH] || selection_in(sel, SEL_INCL_GRAPH, i);
		if (sel->any[SEL_INCL_GRAPH] && g->nodes[i].shown)
			vec_push(&reached, i);
	}
	while (reached.n) {
		const struct cg_node *n = &g->nodes[reached.at[--reached.n]];
		for (uint32_t k = 0; k < n->n_out; k++) {
			symid to = g->arcs[n->first_out + k].to;
			if (!g->nodes[to].shown)
				vec_push(&reached, to);
			g->nodes[to].shown = true;
		}
	}
	for (symid i = 0; i < g->n_symbols; i++)
		if (selection_in(sel, SEL_EXCL_GRAPH, i) && !selection_in(sel, SEL_INCL_GRAPH, i))
			g->nodes[i].shown = false;
	for (symid i = 0; i < g->n_symbols; i++)
		if (program_is_no_caller(program, i))
			g->nodes[i].shown = false;
	vec_free(&reached);
}

/* Sets nodes like propagation does if nothing is left out, except for the choice of entries. */
static void settle(struct callgraph *g, const struct met_function *functions)
{
	g->share = xalloc_aligned(g->n_symbols * sizeof(*g->share));
	g->part = xalloc_aligned(g->n_symbols * sizeof(*g->part));
	for (size_t i = 0; i < g->n_symbols; i++) {
		struct cg_node *n = &g->nodes[i];
		double inclusive = functions[i].inclusive, child = inclusive - n->self;
		n->child = child > inclusive * 1e-12 ? child : 0; /* smaller: rounding error */
		n->shown_child = n->child;
		n->fraction = 1;
		g->share[i] = (struct cg_share){ .self = n->self,
						 .child = n->child,
						 .calls = (double)n->sharing_calls,
						 .wanted = true };
		g->part[i] =
			(struct cg_part){ .fraction = 1, .cycle = n->cycle, .shown = n->shown };
		g->shown_total += n->self;
	}
	for (size_t c = 0; c < g->n_cycles; c++) {
		struct cg_node *cycle = &g->nodes[g->n_symbols + c];
		for (uint32_t k = 0; k < cycle->n_members; k++) {
			const struct cg_node *member = &g->nodes[g->members[cycle->first_out + k]];
			cycle->self += member->self;
			cycle->shown |= member->shown;
		}
		double child = g->cycles[c].inclusive - cycle->self;
		cycle->child = cycle->shown_child = child > 0 ? child : 0;
		cycle->fraction = 1;
	}
}

void callgraph_measure(struct callgraph *g, const struct callgraph_opts *o, struct stack_paths *p)
{
	struct measuring m;

	begin(&m, g, p);
	if (!o->no_stack_calls)
		path_tree_visit(p->tree, &(struct path_visitor){ enter, leave, &m });
	end_visit(&m);
	g->measured = add_up_arcs(p, (arcid)g->n_arcs);
	choose_entries(g, o->selection ? o->selection : &everything, o->program);
	settle(g, m.functions);
	free(m.functions);
}

/* Wilson's score interval, 95 %. */
static struct cg_interval interval_of(uint64_t part, uint64_t all)
{
	const double z = 1.959964;
	double n = (double)all, p = (double)part / n, z2 = z * z / n;
	double middle = (p + z2 / 2) / (1 + z2);
	double half = z * sqrt(p * (1 - p) / n + z2 / (4 * n)) / (1 + z2);

	return (struct cg_interval){ middle - half > 0 ? middle - half : 0,
				     middle + half < 1 ? middle + half : 1 };
}

enum cg_verdict callgraph_verdict(const struct callgraph *g, size_t cycle, struct cg_interval *ret)
{
	enum { ENOUGH = 60 }; /* with so many 3 / n is at most 5 % */
	const struct cg_cycle *c = g->measured ? &g->cycles[cycle - 1] : NULL;
	if (c && c->reentered && !g->is_assembled) {
		*ret = interval_of(c->reentered, c->samples);
		return CG_CONFIRMED;
	}
	if (!c || g->is_assembled || c->samples < ENOUGH)
		return CG_UNKNOWN;
	*ret = (struct cg_interval){ 0, 3 / (double)c->samples };
	return CG_NOT_SEEN;
}
