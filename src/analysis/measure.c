/* measure.c - time from sampled stacks: what was measured on each arc, instead of what call counts
 * let one assume.
 *
 * Of a sample each function on its stack gets the weight once, however often it is on it:
 * - its inclusive time, and the arc by which its *outermost* occurrence was entered (a root is
 *   entered from nowhere);
 * - its own time if the innermost occurrence is the leaf; else the arc by which the *innermost*
 *   occurrence called on.
 * So the caller arcs of a function add up to its inclusive time, and so do its own time and its
 * callee arcs. With recursion the two sums need different times for one arc: it has both. */
#include <stdlib.h>
#include <string.h>

#include "analysis/inclusive.h"
#include "analysis/private.h"
#include "base/map64.h"
#include "base/vec.h"

/* ---- the event and its weights ---- */

static const struct selection everything;

struct weight { /* of all samples with one stack */
	double sum;
	uint64_t count;
};

static struct weight *weigh_stacks(const struct samples *s)
{
	struct weight *w = xalloc(s->n_stacks * sizeof(*w));
	uint16_t event = samples_event(s);
	for (size_t i = 0; i < s->n; i++) {
		if (s->at[i].event != event)
			continue;
		w[s->at[i].stack].sum += (double)s->at[i].weight;
		w[s->at[i].stack].count += s->at[i].count;
	}
	return w;
}

static bool has_callers(const struct samples *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->stacks[s->at[i].stack].caller)
			return true;
	return false;
}

bool callgraph_has_samples(const struct callgraph_opts *o) { return o->samples && o->samples->n; }

bool callgraph_has_stacks(const struct callgraph_opts *o)
{
	return callgraph_has_samples(o) && has_callers(o->samples);
}

/* ---- own time ---- */

static void describe_unit(struct callgraph *g, const struct samples *s)
{
	const struct event *e = &s->events[samples_event(s)];
	g->rate = e->unit == EVENT_NS ? 1e9 : 1;
	if (e->unit != EVENT_NS)
		strcpy(g->dimension, "events");
}

void callgraph_credit_samples(struct callgraph *g, const struct callgraph_opts *o)
{
	const struct samples *s = o->samples;
	const struct selection *sel = o->selection ? o->selection : &everything;
	struct weight *w = weigh_stacks(s);

	describe_unit(g, s);
	for (size_t i = 0; i < s->n_stacks; i++) {
		symid place = w[i].count ? o->places[s->stacks[i].frame] : NONE;
		if (!w[i].count)
			continue;
		if (place == NONE) {
			g->total += w[i].sum;
			g->outside += w[i].sum;
			continue;
		}
		symid owner = g->symbols->at[place].owner;
		g->nodes[owner].self += w[i].sum;
		if (selection_wants(sel, SEL_INCL_FLAT, owner))
			g->total += w[i].sum;
	}
	free(w);
}

/* ---- paths ---- */

/* A stack as functions, from the root to the leaf. */
struct path {
	VEC(symid) at;
	VEC(symid) reversed;
};

/* The function a place is in: with a place per line, of which that is some earlier one. */
static symid function_of(const struct symbols *s, symid place)
{
	while (place != NONE && !s->at[place].is_function)
		place--; /* from 0 to NONE */
	return place == NONE ? NONE : s->at[place].owner;
}

static void trace(const struct callgraph *g, const struct callgraph_opts *o, stackid stack,
		  struct path *p)
{
	const struct samples *s = o->samples;
	p->at.n = p->reversed.n = 0;
	for (stackid i = stack; i; i = s->stacks[i].caller) {
		symid place = o->places[s->stacks[i].frame];
		symid id = i == stack && place != NONE ? g->symbols->at[place].owner
						       : function_of(g->symbols, place);
		if (id != NONE)
			vec_push(&p->reversed, id);
	}
	for (size_t i = p->reversed.n; i-- > 0;)
		vec_push(&p->at, p->reversed.at[i]);
}

static void free_path(struct path *p)
{
	vec_free(&p->at);
	vec_free(&p->reversed);
}

void callgraph_stack_arcs(const struct callgraph *g, const struct callgraph_opts *o,
			  void (*add)(symid from, symid to, void *arg), void *arg)
{
	const struct samples *s = o->samples;
	struct map64 seen = { 0 };

	for (size_t i = 1; i < s->n_stacks; i++) {
		stackid caller = s->stacks[i].caller;
		symid from = caller ? o->places[s->stacks[caller].frame] : NONE;
		symid to = o->places[s->stacks[i].frame];
		if (from == NONE || to == NONE)
			continue;
		from = function_of(g->symbols, from);
		to = g->symbols->at[to].owner; /* as a leaf it may be a line's place */
		for (int k = 0; k < 2; k++, to = function_of(g->symbols, to)) {
			if (from == NONE || to == NONE)
				break;
			uint32_t *known = map64_at(&seen, MAP64_PAIR(from, to));
			if (*known == NONE) {
				*known = 0;
				add(from, to, arg);
			}
		}
	}
	map64_free(&seen);
}

/* ---- measuring ---- */

struct measuring {
	struct callgraph *g;
	struct map64 arcs;   /* MAP64_PAIR(from, to) -> arcid */
	uint32_t *outermost; /* [symbols]: the last stack in which it was met from the root on */
	uint32_t *innermost; /* ... from the leaf on */
	uint32_t *cycle;     /* [cycles + 1]: ... in which a member was met */
	double *inclusive;   /* [symbols] */
	uint32_t stamp;      /* of the stack at hand */
};

static struct cg_measured *arc_between(struct measuring *m, symid from, symid to)
{
	uint32_t arc = map64_get(&m->arcs, MAP64_PAIR(from, to));
	return arc == NONE ? NULL : &m->g->measured[arc];
}

static void charge_entries(struct measuring *m, const struct path *p, const struct weight *w)
{
	struct callgraph *g = m->g;
	symid leaf = p->at.at[p->at.n - 1];
	for (size_t i = 0; i < p->at.n; i++) {
		symid id = p->at.at[i];
		if (m->outermost[id] == m->stamp)
			continue;
		m->outermost[id] = m->stamp;
		m->inclusive[id] += w->sum;
		struct cg_measured *arc = i ? arc_between(m, p->at.at[i - 1], id) : NULL;
		struct cg_time *into = arc ? &arc->entered : &g->roots[id];
		*(id == leaf ? &into->self : &into->child) += w->sum;
		if (arc)
			arc->samples += w->count;
	}
}

static void charge_calls(struct measuring *m, const struct path *p, const struct weight *w)
{
	symid leaf = p->at.at[p->at.n - 1];
	for (size_t i = p->at.n; i-- > 0;) {
		symid id = p->at.at[i];
		if (m->innermost[id] == m->stamp)
			continue;
		m->innermost[id] = m->stamp;
		if (i + 1 == p->at.n)
			continue; /* own time */
		struct cg_measured *arc = arc_between(m, id, p->at.at[i + 1]);
		if (arc)
			*(p->at.at[i + 1] == leaf ? &arc->called.self : &arc->called.child) +=
				w->sum;
	}
}

/* What a cycle of counted calls is on the stacks: samples in it, and those in which it was gone
 * round: a member that is on the stack again, with another member between. */
static void look_for_cycles(struct measuring *m, const struct path *p, const struct weight *w)
{
	struct callgraph *g = m->g;
	for (size_t i = 0; i < p->at.n; i++) {
		uint32_t cycle = g->nodes[p->at.at[i]].cycle;
		if (!cycle || m->cycle[cycle] == m->stamp)
			continue;
		m->cycle[cycle] = m->stamp;
		struct cg_cycle *c = &g->cycles[cycle - 1];
		c->samples += w->count;
		c->inclusive += w->sum;
		bool again = false; /* direct recursion alone is not going round */
		symid previous = NONE;
		for (size_t k = i; k < p->at.n && !again; k++) {
			symid id = p->at.at[k];
			if (g->nodes[id].cycle != cycle || id == previous)
				continue;
			again = m->innermost[id] == m->stamp;
			m->innermost[id] = m->stamp;
			previous = id;
		}
		if (again)
			c->reentered += w->count;
	}
}

static void measure_stack(struct measuring *m, const struct path *p, const struct weight *w)
{
	if (!p->at.n)
		return;
	m->stamp++;
	look_for_cycles(m, p, w);
	m->stamp++; /* what was met there is not what is met here */
	charge_entries(m, p, w);
	charge_calls(m, p, w);
}

static void begin(struct measuring *m, struct callgraph *g)
{
	*m = (struct measuring){ .g = g };
	m->outermost = xalloc(g->n_symbols * sizeof(*m->outermost));
	m->innermost = xalloc(g->n_symbols * sizeof(*m->innermost));
	m->cycle = xalloc((g->n_cycles + 1) * sizeof(*m->cycle));
	m->inclusive = xalloc(g->n_symbols * sizeof(*m->inclusive));
	g->measured = xalloc(g->n_arcs * sizeof(*g->measured));
	g->roots = xalloc(g->n_symbols * sizeof(*g->roots));
	g->cycles = xalloc(g->n_cycles * sizeof(*g->cycles));
	for (size_t i = 0; i < g->n_arcs; i++)
		*map64_at(&m->arcs, MAP64_PAIR(g->arcs[i].from, g->arcs[i].to)) = (uint32_t)i;
}

static void end(struct measuring *m)
{
	map64_free(&m->arcs);
	free(m->outermost);
	free(m->innermost);
	free(m->cycle);
	free(m->inclusive);
}

/* As propagation leaves nodes where nothing was left out. */
static void settle(struct callgraph *g, const double *inclusive)
{
	g->share = xalloc_aligned(g->n_symbols * sizeof(*g->share));
	g->part = xalloc_aligned(g->n_symbols * sizeof(*g->part));
	for (size_t i = 0; i < g->n_symbols; i++) {
		struct cg_node *n = &g->nodes[i];
		double child = inclusive[i] - n->self;
		n->child = child > inclusive[i] * 1e-12 ? child : 0; /* else rounding */
		n->shown_child = n->child;
		n->fraction = 1;
		n->shown = true;
		g->share[i] = (struct cg_share){ .self = n->self,
						 .child = n->child,
						 .calls = (double)n->sharing_calls,
						 .wanted = true };
		g->part[i] = (struct cg_part){ .fraction = 1, .shown = true };
		g->shown_total += n->self;
	}
	for (size_t c = 0; c < g->n_cycles; c++) {
		struct cg_node *cycle = &g->nodes[g->n_symbols + c];
		for (uint32_t k = 0; k < cycle->n_members; k++)
			cycle->self += g->nodes[g->members[cycle->first_out + k]].self;
		double child = g->cycles[c].inclusive - cycle->self;
		cycle->child = cycle->shown_child = child > 0 ? child : 0;
		cycle->fraction = 1;
		cycle->shown = true;
	}
}

void callgraph_measure(struct callgraph *g, const struct callgraph_opts *o)
{
	struct weight *w = weigh_stacks(o->samples);
	struct measuring m;
	struct path p = { 0 };

	begin(&m, g);
	for (size_t i = 1; i < o->samples->n_stacks; i++) {
		if (!w[i].count)
			continue;
		trace(g, o, (stackid)i, &p);
		measure_stack(&m, &p, &w[i]);
	}
	settle(g, m.inclusive);
	end(&m);
	free_path(&p);
	free(w);
}
