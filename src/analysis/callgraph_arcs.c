/* callgraph_arcs.c - turns counted arcs between addresses into distinct arcs between symbols. */
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis_private.h"
#include "base/vec.h"

struct arc_tally { /* one record of the profile, or one call found in the code */
	symid from, to;
	uint32_t record; /* index of the record; NONE: a call found in the code, counted 0 times */
};

struct tallies {
	VEC(struct arc_tally) v;
};

/* ---- records to symbols ---- */

/* The last caller found. In most files records of one caller follow each other. */
struct lookup {
	symid from;
	uint64_t low, high; /* [low, high): addresses whose caller is `from` */
};

static symid find_caller_near(const struct symbols *s, uint64_t addr, struct lookup *l)
{
	if (addr >= l->low && addr < l->high)
		return l->from;
	symid id = symbols_find(s, addr);
	if (id == NONE)
		return NONE;
	*l = (struct lookup){ s->at[id].owner, s->at[id].addr, s->at[id].end };
	return l->from;
}

/* Finds the symbols of a record; false if it makes no arc. */
static bool resolve(struct callgraph *g, const struct arc *a, const struct callgraph_opts *o,
		    struct lookup *l, struct arc_tally *ret)
{
	symid from = find_caller_near(g->symbols, a->from, l),
	      to = symbols_find_function(g->symbols, a->to);

	if (to == NONE)
		return false;
	if (from == NONE && !callgraph_rules_of(o)->arcs.inner_only) {
		g->nodes[to].calls += a->count;
		g->nodes[to].outside_calls += a->count;
	}
	ret->from = from;
	ret->to = to;
	return from != NONE && (!o->selection || selection_wants_arc(o->selection, from, to));
}

/* ---- calls in the code ---- */

struct static_scan {
	struct callgraph *g;
	const struct profile *p;
	const struct arc_rules *rules;
	struct tallies *t;
	symid from;
};

static void add_static_call(uint64_t site, uint64_t target, void *arg)
{
	struct static_scan *scan = arg;
	const struct symbols *s = scan->g->symbols;
	symid to = symbols_find_start(s, target);
	(void)site;

	if (to == NONE || (scan->rules->is_target && !scan->rules->is_target(scan->p, target)))
		return;
	vec_push(&scan->t->v, ((struct arc_tally){ scan->from, s->at[to].owner, NONE }));
}

static void scan_code(struct callgraph *g, const struct profile *p, struct symbols *s,
		      const struct callgraph_opts *o, struct tallies *t)
{
	const struct arc_rules *rules = &callgraph_rules_of(o)->arcs;
	struct static_scan scan = { g, p, rules, t, 0 };

	g->no_static_calls =
		!s->object || !object_calls(s->object, 0, 0, rules->calls, add_static_call, &scan);
	if (g->no_static_calls)
		return;
	for (size_t i = 0; i < s->n; i++) {
		struct address_range code = { s->at[i].addr, s->at[i].end };
		if (rules->clip)
			rules->clip(g, p, (symid)i, &code);
		scan.from = s->at[i].owner;
		if (code.low < code.high)
			object_calls(s->object, code.low, code.high, rules->calls, add_static_call,
				     &scan);
	}
}

/* ---- sums ---- */

/* The sums of a callee in one small struct, because the nodes of callees are scattered over
 * memory. */
struct callee {
	uint64_t calls; /* calls by others */
	arcid arc; /* the arc made last to this callee, by the current caller or an earlier one */
	uint32_t n_in; /* number of arcs to it */
};

/* Makes arcs, one caller after the other. */
struct arc_maker {
	struct callgraph *g;
	struct callee *callees; /* [n_symbols] */
	symid from;
};

/* `arcs`: memory for all arcs. */
static struct arc_maker make_start(struct callgraph *g, void *arcs)
{
	g->arcs = arcs;
	return (struct arc_maker){ .g = g,
				   .callees = xalloc(g->n_symbols * sizeof(struct callee)),
				   .from = NONE };
}

static void begin_caller(struct arc_maker *m, symid from)
{
	m->from = from;
	m->g->nodes[from].first_out = (uint32_t)m->g->n_arcs;
}

/* Adds calls from the current caller. True if this made a new arc. */
static inline bool make_arc(struct arc_maker *m, symid to, uint64_t count)
{
	struct callgraph *g = m->g;
	struct callee *callee = &m->callees[to];
	arcid a = callee->arc;

	if (to == m->from)
		g->nodes[to].self_calls += count;
	else
		callee->calls += count;
	if (a >= g->nodes[m->from].first_out && a < g->n_arcs && g->arcs[a].to == to) {
		g->arcs[a].count += count;
		return false;
	}
	callee->arc = (arcid)g->n_arcs;
	callee->n_in++;
	g->arcs[g->n_arcs++] = (struct cg_arc){ m->from, to, count };
	g->nodes[m->from].n_out++;
	return true;
}

/* Records are looked up in batches. Callees are scattered over memory, so their data is prefetched
 * while others are being looked at. */
enum { BATCH = 32 };

struct counted {
	struct arc_tally t;
	uint64_t count;
};

/* Finds the symbols of at most BATCH records, from `first` on. Returns how many of them make
 * arcs. */
static size_t resolve_batch(struct arc_maker *m, const struct arc_list *records, size_t first,
			    size_t end, const struct callgraph_opts *o, struct lookup *l,
			    struct counted *ret)
{
	size_t n = 0;

	for (size_t i = first; i < end; i++)
		symbols_prefetch(m->g->symbols, arc_at(records, i).to);
	for (size_t i = first; i < end; i++) {
		struct arc record = arc_at(records, i);
		if (!resolve(m->g, &record, o, l, &ret[n].t))
			continue;
		prefetch_line(&m->callees[ret[n].t.to]);
		ret[n++].count = record.count;
	}
	return n;
}

static void forget_arcs(struct callgraph *g)
{
	g->n_arcs = 0;
	for (size_t i = 0; i < g->n_symbols; i++) {
		struct cg_node *n = &g->nodes[i];
		n->first_out = n->n_out = 0;
		n->calls = n->self_calls = n->outside_calls = 0;
	}
}

/* Makes arcs directly from the records, if callers come in order: runtimes write arcs by call site.
 * The order of arcs is then that of records. Returns the callees; NULL: callers are not in order,
 * and nothing was done. `arcs` may be the memory of the records: arcs never overtake the records
 * still to be read. */
static struct callee *sum_ordered(struct callgraph *g, const struct arc_list *records,
				  size_t n_records, void *arcs, const struct callgraph_opts *o)
{
	struct lookup l = { NONE, 0, 0 };
	struct counted c[BATCH];
	struct arc_maker m = make_start(g, arcs);
	bool ordered = true;

	for (size_t first = 0; ordered && first < n_records; first += BATCH) {
		size_t end = min_u64(first + BATCH, n_records);
		size_t n = resolve_batch(&m, records, first, end, o, &l, c);
		for (size_t i = 0; ordered && i < n; i++) {
			ordered = m.from == NONE || c[i].t.from >= m.from;
			if (c[i].t.from != m.from)
				begin_caller(&m, c[i].t.from);
			make_arc(&m, c[i].t.to, c[i].count);
		}
	}
	if (ordered)
		return m.callees;
	forget_arcs(g);
	free(m.callees);
	return NULL;
}

/* Whether callers are known to come in order without a look at all records. */
static bool callers_ascend(const struct symbols *s, const struct profile *p)
{
	if (!p->arcs_ascend)
		return false;
	for (size_t i = 1; i < s->n; i++)
		if (s->at[i].owner < s->at[i - 1].owner)
			return false;
	return true;
}

static struct callee *sum_if_ordered(struct callgraph *g, const struct profile *p,
				     const struct callgraph_opts *o)
{
	size_t n = p->n_arcs;
	_Static_assert(sizeof(struct cg_arc) <= sizeof(struct near_arc), "they are made in place");
	const struct arc_list records = p->arcs;

	if (o->consume && callers_ascend(g->symbols, p)) {
		void *arcs = profile_take_arcs(o->consume);
		return sum_ordered(g, &records, n, arcs, o);
	}
	void *arcs = xrealloc(NULL, n, sizeof(*g->arcs));
	struct callee *callees = sum_ordered(g, &records, n, arcs, o);
	if (!callees)
		free(arcs);
	return callees;
}

/* Makes arcs for the current caller's calls on stacks. Returns the index behind these calls. */
static size_t make_stack_arcs(struct arc_maker *m, struct stack_calls *calls, size_t first)
{
	size_t end = calls->end[m->from];

	for (size_t i = first; i < end; i++) {
		symid to = calls->at[i].to;
		make_arc(m, to, 0);
		calls->at[i].arc = m->callees[to].arc;
	}
	return end;
}

/* Makes arcs from records in any order: groups them by caller first, keeping their order (a
 * counting sort). O(records + symbols). `calls`: calls on stacks, which also become arcs; NULL:
 * none do. */
static struct callee *sum_tallies(struct callgraph *g, const struct profile *p,
				  const struct tallies *t, struct stack_calls *calls, bool has_seq)
{
	size_t n = t->v.n, most = n + (calls ? calls->n : 0);
	uint32_t *start = xalloc((g->n_symbols + 1) * sizeof(*start));
	uint32_t *grouped = xrealloc(NULL, n, sizeof(*grouped));

	for (size_t i = 0; i < n; i++)
		start[t->v.at[i].from + 1]++;
	for (size_t i = 0; i < g->n_symbols; i++)
		start[i + 1] += start[i];
	for (size_t i = 0; i < n; i++)
		grouped[start[t->v.at[i].from]++] = (uint32_t)i; /* start[i] is now group i's end */

	struct arc_maker m = make_start(g, xrealloc(NULL, most, sizeof(*g->arcs)));
	g->seq = has_seq ? xrealloc(NULL, most, sizeof(*g->seq)) : NULL;
	size_t i = 0, stack_call = 0;
	for (symid from = 0; from < g->n_symbols; from++) {
		begin_caller(&m, from);
		for (; i < start[from]; i++) {
			const struct arc_tally *r = &t->v.at[grouped[i]];
			if (make_arc(&m, r->to,
				     r->record == NONE ? 0 : arc_at(&p->arcs, r->record).count) &&
			    g->seq)
				g->seq[g->n_arcs - 1] = grouped[i];
		}
		if (calls)
			stack_call = make_stack_arcs(&m, calls, stack_call);
	}
	free(start);
	free(grouped);
	return m.callees;
}

static struct callee *sum_unordered(struct callgraph *g, const struct profile *p, struct symbols *s,
				    const struct callgraph_opts *o, struct stack_paths *stacks,
				    size_t *n_records)
{
	struct tallies t = { 0 };
	struct arc_tally one;
	struct lookup l = { NONE, 0, 0 };
	struct stack_calls *calls = NULL;
	bool is_measured = callgraph_has_stacks(stacks),
	     of_stacks = is_measured && !o->no_stack_calls;

	for (size_t i = 0; i < p->n_arcs; i++) {
		struct arc arc = arc_at(&p->arcs, i);
		if (!resolve(g, &arc, o, &l, &one))
			continue;
		one.record = (uint32_t)i;
		vec_push(&t.v, one);
	}
	if (o->static_calls)
		scan_code(g, p, s, o, &t);
	if (of_stacks)
		calls = callgraph_stack_calls(stacks, g->n_symbols);
	struct callee *callees = sum_tallies(g, p, &t, calls, !is_measured);
	*n_records = t.v.n;
	vec_free(&t.v);
	return callees;
}

static void count_calls(struct callgraph *g, const struct callee *callees, bool with_callers)
{
	for (size_t i = 0; i < g->n_symbols; i++) {
		g->nodes[i].n_in = with_callers ? callees[i].n_in : 0;
		g->nodes[i].calls += callees[i].calls;
		g->nodes[i].sharing_calls = g->nodes[i].calls;
	}
}

/* Arcs by the position of their record, so that lists over all groups can be made newest first. */
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

/* Lists callers newest first, like gprof, so that sums round in the same way. */
static void list_callers(struct callgraph *g, const arcid *by_seq)
{
	uint32_t *next = xalloc(g->n_symbols * sizeof(*next)); /* free place in a callee's list */

	uint32_t at = 0;
	for (size_t i = 0; i < g->n_symbols; i++) {
		g->nodes[i].first_in = next[i] = at;
		at += g->nodes[i].n_in;
	}
	for (size_t i = g->n_arcs; i-- > 0;) {
		arcid arc = by_seq ? by_seq[i] : (arcid)i;
		const struct cg_arc *a = &g->arcs[arc];
		g->in[next[a->to]++] = (struct cg_in){ a->from, arc, a->count };
	}
	free(next);
}

/* Makes the list of callers. The memory of the records has room for arcs and callers; reusing it
 * costs less than fresh memory. */
static void add_callers(struct callgraph *g, size_t n_records)
{
	_Static_assert(sizeof(*g->in) == sizeof(*g->arcs), "they share a block");
	arcid *by_seq = g->seq ? arcs_by_seq(g, n_records) : NULL;

	g->arcs = xrealloc(g->arcs, g->n_arcs * 2, sizeof(*g->arcs));
	g->in = (struct cg_in *)(g->arcs + g->n_arcs);
	list_callers(g, by_seq);
	free(by_seq);
}

void callgraph_add_callers(struct callgraph *g)
{
	g->in_block = xrealloc(NULL, g->n_arcs, sizeof(*g->in));
	g->in = g->in_block;
	list_callers(g, NULL);
}

bool callgraph_wants_callers(const struct callgraph_opts *o)
{
	const struct selection *sel = o->selection;
	bool parts = sel && (sel->any[SEL_INCL_TIME] || sel->any[SEL_EXCL_TIME]);

	return !o->flat_only || o->break_cycles || parts;
}

void callgraph_add_arcs(struct callgraph *g, const struct profile *p, struct symbols *s,
			const struct callgraph_opts *o, struct stack_paths *stacks)
{
	struct callee *callees = NULL;
	size_t n_records = 0;

	g->has_arcs = p->n_arcs > 0;
	if (!o->static_calls && !callgraph_has_stacks(stacks))
		callees = sum_if_ordered(g, p, o);
	if (!callees)
		callees = sum_unordered(g, p, s, o, stacks, &n_records);
	if (o->consume)
		profile_release_arcs(o->consume);
	count_calls(g, callees, callgraph_wants_callers(o));
	free(callees);
	if (callgraph_wants_callers(o) && (!callgraph_has_stacks(stacks) || o->break_cycles))
		add_callers(g, n_records);
	else
		g->arcs = xrealloc(g->arcs, g->n_arcs, sizeof(*g->arcs));
}
