/* arcs.c - counted arcs between addresses become arcs between symbols, each once. */
#include <stdlib.h>
#include <string.h>

#include "analysis/private.h"
#include "base/vec.h"

struct tally {	/* one record of the profile, or one call found in the code */
	symid from, to;
	uint64_t count;
};

struct tallies {
	VEC(struct tally) v;
};

/* ---- records to symbols ---- */

/* Callees are functions: with line granularity the address may be that of a line within. */
static symid find_callee(const struct symbols *s, uint64_t addr)
{
	symid id = symbols_find(s, addr);
	while (id != NONE && !s->at[id].is_function)
		id--;	/* from 0 to NONE */
	return id == NONE ? NONE : s->at[id].owner;
}

static symid find_caller(const struct symbols *s, uint64_t addr)
{
	symid id = symbols_find(s, addr);
	return id == NONE ? NONE : s->at[id].owner;
}

static void tally_records(struct callgraph *g, const struct profile *p, const struct callgraph_opts *o,
			  struct tallies *t)
{
	const struct symbols *s = g->symbols;

	vec_reserve(&t->v, p->n_arcs);
	for (size_t i = 0; i < p->n_arcs; i++) {
		const struct arc *a = &p->arcs[i];
		symid from = find_caller(s, a->from), to = find_callee(s, a->to);
		if (to == NONE)
			continue;
		if (from == NONE && !o->gnu) {
			g->nodes[to].calls += a->count;
			g->nodes[to].outside_calls += a->count;
		}
		if (from == NONE || (o->selection && !selection_wants_arc(o->selection, from, to)))
			continue;
		vec_push(&t->v, ((struct tally){ from, to, a->count }));
	}
}

/* ---- calls in the code ---- */

struct static_scan {
	struct callgraph *g;
	const struct profile *p;
	const struct callgraph_opts *o;
	struct tallies *t;
	symid from;
};

static bool in_histogram(const struct profile *p, uint64_t addr)
{
	for (size_t i = 0; i < p->n_histograms; i++)
		if (addr >= p->histograms[i].low && addr < p->histograms[i].high)
			return true;
	return false;
}

static void add_static_call(uint64_t site, uint64_t target, void *arg)
{
	struct static_scan *scan = arg;
	const struct symbols *s = scan->g->symbols;
	symid to = symbols_find(s, target);
	(void)site;

	if (to == NONE || s->at[to].addr != target || (scan->o->gnu && !in_histogram(scan->p, target)))
		return;
	vec_push(&scan->t->v, ((struct tally){ scan->from, s->at[to].owner, 0 }));
}

/* The part of [low, high) that GNU looks at: what lies in the one histogram that it meets. */
static void clip_to_histogram(struct callgraph *g, const struct profile *p, uint64_t *low, uint64_t *high)
{
	bool found = false;
	for (size_t i = 0; i < p->n_histograms; i++) {
		uint64_t l = *low > p->histograms[i].low ? *low : p->histograms[i].low;
		uint64_t h = *high < p->histograms[i].high ? *high : p->histograms[i].high;
		if (l >= h)
			continue;
		g->spans_histograms = g->spans_histograms || found;
		found = true;
		*low = l;
		*high = h;
	}
	if (!found)
		*high = *low;
}

static void scan_code(struct callgraph *g, const struct profile *p, struct symbols *s,
		      const struct callgraph_opts *o, struct tallies *t)
{
	struct static_scan scan = { g, p, o, t, 0 };

	g->no_static_calls = !object_calls(s->object, 0, 0, o->gnu, add_static_call, &scan);
	if (g->no_static_calls)
		return;
	for (size_t i = 0; i < s->n; i++) {
		uint64_t low = s->at[i].addr, high = s->at[i].end;
		if (o->gnu && i + 1 == s->n)
			break; /* its end is memory that GNU never set */
		if (o->gnu)
			clip_to_histogram(g, p, &low, &high);
		scan.from = s->at[i].owner;
		if (low < high)
			object_calls(s->object, low, high, o->gnu, add_static_call, &scan);
	}
}

/* ---- sums ---- */

/* Group by caller, keeping order (a counting sort), then sum equal callees within a group: where[]
 * remembers the arc of a callee, good if it lies in the group at hand. O(records + symbols). */
static void sum(struct callgraph *g, const struct tallies *t)
{
	size_t n = t->v.n;
	uint32_t *start = xalloc((g->n_symbols + 1) * sizeof(*start));
	uint32_t *grouped = xrealloc(NULL, n, sizeof(*grouped));
	arcid *where = xalloc(g->n_symbols * sizeof(*where));

	for (size_t i = 0; i < n; i++)
		start[t->v.at[i].from + 1]++;
	for (size_t i = 0; i < g->n_symbols; i++)
		start[i + 1] += start[i];
	for (size_t i = 0; i < n; i++)
		grouped[start[t->v.at[i].from]++] = (uint32_t)i;	/* start[i] is now group i's end */

	g->arcs = xrealloc(NULL, n, sizeof(*g->arcs));
	g->seq = xrealloc(NULL, n, sizeof(*g->seq));
	size_t i = 0;
	for (symid from = 0; from < g->n_symbols; from++) {
		size_t first = g->n_arcs;
		for (; i < start[from]; i++) {
			const struct tally *r = &t->v.at[grouped[i]];
			arcid a = where[r->to];
			if (a >= first && a < g->n_arcs && g->arcs[a].to == r->to) {
				g->arcs[a].count += r->count;
				continue;
			}
			where[r->to] = (arcid)g->n_arcs;
			g->seq[g->n_arcs] = grouped[i];
			g->arcs[g->n_arcs++] = (struct cg_arc){ from, r->to, r->count };
		}
		g->nodes[from].first_out = (uint32_t)first;
		g->nodes[from].n_out = (uint32_t)(g->n_arcs - first);
	}
	free(start);
	free(grouped);
	free(where);
}

static void count_calls(struct callgraph *g)
{
	for (size_t i = 0; i < g->n_arcs; i++) {
		const struct cg_arc *a = &g->arcs[i];
		if (a->from == a->to)
			g->nodes[a->to].self_calls += a->count;
		else
			g->nodes[a->to].calls += a->count;
	}
	for (size_t i = 0; i < g->n_symbols; i++)
		g->nodes[i].sharing_calls = g->nodes[i].calls;
}

/* Arcs by the place of their record, so that lists can be made newest first over all groups. */
static arcid *arcs_by_seq(const struct callgraph *g, size_t n_records)
{
	arcid *by_seq = xrealloc(NULL, n_records, sizeof(*by_seq));
	memset(by_seq, 0xff, n_records * sizeof(*by_seq));
	for (size_t i = 0; i < g->n_arcs; i++)
		by_seq[g->seq[i]] = (arcid)i;
	size_t n = 0;
	for (size_t i = 0; i < n_records; i++)
		if (by_seq[i] != NONE)
			by_seq[n++] = by_seq[i];
	return by_seq;
}

/* Newest first: that is the order in which GNU gprof walks arcs. */
static void list_arcs(struct callgraph *g, size_t n_records)
{
	arcid *by_seq = arcs_by_seq(g, n_records);

	for (size_t i = 0; i < g->n_arcs; i++)
		g->nodes[g->arcs[i].to].n_in++;
	uint32_t at = 0;
	for (size_t i = 0; i < g->n_symbols; i++) {
		struct cg_node *n = &g->nodes[i];
		n->first_in = at;
		at += n->n_in;
		n->n_in = 0;
	}
	g->in = xrealloc(NULL, g->n_arcs, sizeof(*g->in));
	for (size_t i = g->n_arcs; i-- > 0;) {
		struct cg_node *to = &g->nodes[g->arcs[by_seq[i]].to];
		g->in[to->first_in + to->n_in++] = by_seq[i];
	}
	free(by_seq);
}

void callgraph_add_arcs(struct callgraph *g, const struct profile *p, struct symbols *s,
			const struct callgraph_opts *o)
{
	struct tallies t = { 0 };

	g->has_arcs = p->n_arcs > 0;
	tally_records(g, p, o, &t);
	if (o->static_calls)
		scan_code(g, p, s, o, &t);
	sum(g, &t);
	count_calls(g);
	list_arcs(g, t.v.n);
	vec_free(&t.v);
}
