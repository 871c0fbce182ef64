/* report_cycles.c - functions that call each other in a cycle: whether they really do, how the
 * cycle is entered, and which calls would have to go to break it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/feedback.h"
#include "base/err.h"
#include "base/sort.h"
#include "base/vec.h"
#include "report/reports.h"

enum {
	CYCLE,
	VERDICT,
	WHAT,
	SHARE,
	TIME,
	CALLS,
	SAMPLES,
	LEAST,
	BOUND,
	NAME,
	FROM,
	TO,
	MEMBERS,
	EXACT,
	N_COLUMNS
};

enum { MOST = 10 }; /* rows of each kind per cycle */

static const struct kin_column columns[N_COLUMNS] = {
	[CYCLE] = { "cycle", "cycle", "number of the cycle, as in the call graph", KIN_CELL_COUNT },
	[VERDICT] = { "verdict", "verdict",
		      "confirmed: it was gone round on sampled stacks; not seen going round: on "
		      "none of 60 or more with a function of it; unknown: on none of fewer, or "
		      "there are no stacks",
		      KIN_CELL_TEXT },
	[WHAT] = { "what", "what",
		   "cycle; function: in it; entry: a call into it; inner: a call within it; "
		   "remove: a call of the smallest set without which there is no cycle",
		   KIN_CELL_TEXT },
	[SHARE] = { "share", "% time",
		    "of the total: time in the functions and all that they called; of a cycle on "
		    "sampled stacks only that of samples on which it was gone round; of a call: "
		    "that of the samples with it on their stack",
		    KIN_CELL_SHARE },
	[TIME] = { "time", "time", "the same, seconds", KIN_CELL_TIME },
	[CALLS] = { "calls", "calls", "how many; of a cycle: between its functions",
		    KIN_CELL_COUNT },
	[SAMPLES] = { "samples", "samples",
		      "of a cycle: stacks on which it was gone round, of those with a function of "
		      "it; of a call: stacks with it on them",
		      KIN_CELL_OF, .hidden = true },
	[LEAST] = { "least", "at least",
		    "of the cycle's samples: no smaller a share goes round, with a confidence of "
		    "95 %",
		    KIN_CELL_SHARE, .hidden = true },
	[BOUND] = { "bound", "at most",
		    "no larger a share of them goes round; if none was seen going round: three by "
		    "the number of samples (Hanley and Lippman-Hand, \"If Nothing Goes Wrong, Is "
		    "Everything All Right?\", JAMA 249, 1983), else Wilson's interval (J. Am. "
		    "Stat. "
		    "Assoc. 22, 1927)",
		    KIN_CELL_SHARE, .hidden = true },
	[NAME] = { "name", "name", "the function, or caller -> callee", KIN_CELL_TEXT, .tree = true,
		   .function = true },
	[FROM] = { "from", "from", "of a call: the caller", KIN_CELL_TEXT, .hidden = true,
		   .function = true },
	[TO] = { "to", "to", "of a call: the callee", KIN_CELL_TEXT, .hidden = true,
		 .function = true },
	[MEMBERS] = { "members", "functions", "of a cycle: how many functions are in it",
		      KIN_CELL_COUNT, .hidden = true },
	[EXACT] = { "exact", "exact",
		    "of calls to remove: 1 if no smaller set does it, 0 if one might: it was found "
		    "by a heuristic",
		    KIN_CELL_COUNT, .hidden = true },
};

struct cycles_job {
	const struct report_input *in;
	const struct report_opts *o;
	struct kin_table *t;
	uint32_t cycle, group;
};

struct cycle_call {     /* calls into or within a cycle */
	symid from, to; /* from: NONE: not known */
	double time;
	uint64_t count, samples;
};

struct cycle_calls {
	struct cycle_call most[MOST]; /* the first ones in order of by_time(): a large cycle has a
					 thousand times as many */
	size_t n;                     /* number of all calls */
};

static double time_of(const struct cg_node *n) { return n->self + n->child; }

static double total_of(const struct callgraph *g)
{
	return callgraph_all(g) > 0 ? callgraph_all(g) : 1;
}

/* ---- rows ---- */

static struct kin_cell *add_row(struct cycles_job *j, enum kin_row_kind kind, const char *what)
{
	struct kin_cell *c = table_add_row(
		j->t, (struct kin_row){ kind, kind != KIN_ROW_CYCLE, j->group, NULL });
	c[CYCLE] = cell_count(j->cycle);
	c[WHAT] = cell_text(what);
	return c;
}

static const char *name_of(struct cycles_job *j, symid id)
{
	return id == NONE ? "<spontaneous>" : report_symbol_name(j->in, j->o, id, j->t);
}

static void set_call(struct cycles_job *j, struct kin_cell *c, symid from, symid to)
{
	const char *caller = name_of(j, from), *callee = name_of(j, to);
	char *both = xprintf("%s -> %s", caller, callee);
	c[NAME] = cell_text(table_text(j->t, both));
	c[FROM] = cell_text(caller);
	c[TO] = cell_text(callee);
	free(both);
}

static void set_time(struct cycles_job *j, struct kin_cell *c, double time)
{
	c[SHARE] = cell_share(time / total_of(j->in->graph));
	c[TIME] = cell_time(time);
}

static const char *verdict(const struct callgraph *g, uint32_t cycle, struct cg_interval *ret)
{
	switch (callgraph_verdict(g, cycle, ret)) {
	case CG_UNKNOWN:
		return "unknown";
	case CG_CONFIRMED:
		return "confirmed";
	case CG_NOT_SEEN:
		return "not seen going round";
	}
	return NULL;
}

static void add_cycle(struct cycles_job *j)
{
	const struct callgraph *g = j->in->graph;
	const struct cg_node *n = &g->nodes[g->n_symbols + j->cycle - 1];
	const struct cg_cycle *m = g->measured ? &g->cycles[j->cycle - 1] : NULL;
	struct kin_cell *c = add_row(j, KIN_ROW_CYCLE, "cycle");
	char *name = xprintf("%" PRIu32 " functions", n->n_members);

	struct cg_interval round = { 0, 0 };
	c[VERDICT] = cell_text(verdict(g, j->cycle, &round));
	c[NAME] = cell_text(table_text(j->t, name));
	c[MEMBERS] = cell_count(n->n_members);
	set_time(j, c, m ? m->going_round : time_of(n));
	if (n->self_calls)
		c[CALLS] = cell_count(n->self_calls);
	if (m)
		c[SAMPLES] = cell_of(m->reentered, m->samples);
	if (round.low > 0)
		c[LEAST] = cell_share(round.low);
	if (round.high > 0)
		c[BOUND] = cell_share(round.high);
	free(name);
}

static void add_rest(struct cycles_job *j, const char *what, size_t n)
{
	if (n <= MOST)
		return;
	char *text = xprintf("and %zu more", n - MOST);
	add_row(j, KIN_ROW_MEMBER, what)[NAME] = cell_text(table_text(j->t, text));
	free(text);
}

static int by_time(const void *l, const void *r)
{
	const struct cycle_call *a = l, *b = r;
	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return ORDER(a->to, b->to);
}

static void gather(struct cycle_calls *calls, const struct cycle_call *x)
{
	struct cycle_call *at = calls->most;
	size_t k = calls->n < MOST ? calls->n : MOST - 1;

	if (calls->n++ >= MOST && by_time(x, &at[k]) >= 0)
		return;
	for (; k && by_time(x, &at[k - 1]) < 0; k--)
		at[k] = at[k - 1];
	at[k] = *x;
}

static void add_calls(struct cycles_job *j, const struct cycle_calls *calls, const char *what)
{
	for (size_t i = 0; i < calls->n && i < MOST; i++) {
		const struct cycle_call *call = &calls->most[i];
		struct kin_cell *c = add_row(j, KIN_ROW_CALLER, what);
		set_call(j, c, call->from, call->to);
		if (j->in->graph->measured || call->time > 0)
			set_time(j, c, call->time);
		if (call->count)
			c[CALLS] = cell_count(call->count);
		if (j->in->graph->measured)
			c[SAMPLES] = cell_count(call->samples);
	}
	add_rest(j, what, calls->n);
}

static int by_member_time(const void *l, const void *r, void *graph)
{
	const struct callgraph *g = graph;
	symid a = *(const symid *)l, b = *(const symid *)r;
	double x = time_of(&g->nodes[a]), y = time_of(&g->nodes[b]);
	if (x != y)
		return x > y ? -1 : 1;
	return ORDER(a, b);
}

static void add_members(struct cycles_job *j, const symid *members, size_t n)
{
	const struct callgraph *g = j->in->graph;
	symid *sorted = xrealloc(NULL, n, sizeof(*sorted));

	memcpy(sorted, members, n * sizeof(*sorted));
	qsort_r(sorted, n, sizeof(*sorted), by_member_time, UNCONST(void *, g));
	for (size_t i = 0; i < n && i < MOST; i++) {
		struct kin_cell *c = add_row(j, KIN_ROW_MEMBER, "function");
		c[NAME] = cell_text(name_of(j, sorted[i]));
		set_time(j, c, time_of(&g->nodes[sorted[i]]));
		if (g->nodes[sorted[i]].calls)
			c[CALLS] = cell_count(g->nodes[sorted[i]].calls);
	}
	add_rest(j, "function", n);
	free(sorted);
}

/* ---- calls into the cycle, and within it ---- */

static struct cycle_call call_of(const struct callgraph *g, arcid arc, const struct cg_arc *a)
{
	const struct cg_measured *m = g->measured ? &g->measured[arc] : NULL;
	struct cg_time time = m ? m->along : callgraph_arc_time(g, arc, a);

	return (struct cycle_call){ a->from, a->to, time.self + time.child, a->count,
				    m ? m->samples : 0 };
}

/* Adds entries into the cycle whose caller is not known. */
static void gather_spontaneous(const struct callgraph *g, symid id, struct cycle_calls *entries)
{
	struct cycle_call call = { NONE, id, 0, g->nodes[id].outside_calls, 0 };
	if (g->measured)
		call.time = g->roots[id].self + g->roots[id].child;
	if (call.count || call.time > 0)
		gather(entries, &call);
}

/* Where a stack was cut, the way into the cycle is not on it. */
static bool is_no_caller(const struct cycles_job *j, symid id)
{
	return j->in->program && program_is_no_caller(j->in->program, id);
}

static void gather_entries(const struct cycles_job *j, symid id, struct cycle_calls *entries)
{
	const struct callgraph *g = j->in->graph;
	const struct cg_in *in = &g->in[g->nodes[id].first_in];

	gather_spontaneous(g, id, entries);
	for (uint32_t k = 0; k < g->nodes[id].n_in; k++) {
		if (g->part[in[k].from].cycle == j->cycle || is_no_caller(j, in[k].from))
			continue;
		struct cg_arc a = { in[k].from, id, in[k].count };
		struct cycle_call call = call_of(g, in[k].arc, &a);
		gather(entries, &call);
	}
}

/* Adds calls within the cycle, by caller, as arcs are sorted: most arcs of a large cycle are within
 * it. */
static void gather_inner(const struct cycles_job *j, symid id, struct cycle_calls *inner)
{
	const struct callgraph *g = j->in->graph;
	const struct cg_node *n = &g->nodes[id];

	for (arcid arc = n->first_out; arc < n->first_out + n->n_out; arc++) {
		const struct cg_arc *a = &g->arcs[arc];
		if (a->to == id || g->part[a->to].cycle != j->cycle)
			continue;
		struct cycle_call call = call_of(g, arc, a);
		gather(inner, &call);
	}
}

static void gather_calls(const struct cycles_job *j, const symid *members, size_t n,
			 struct cycle_calls *entries, struct cycle_calls *inner)
{
	for (size_t i = 0; i < n; i++) {
		gather_entries(j, members[i], entries);
		gather_inner(j, members[i], inner);
	}
}

static void add_feedback(struct cycles_job *j)
{
	const struct callgraph *g = j->in->graph;
	struct feedback f = feedback_of(g, j->cycle);

	for (size_t i = 0; i < f.n && i < MOST; i++) {
		const struct cg_arc *a = &g->arcs[f.arcs[i]];
		struct kin_cell *c = add_row(j, KIN_ROW_CALLEE, "remove");
		set_call(j, c, a->from, a->to);
		c[EXACT] = cell_count(f.exact);
		if (a->count)
			c[CALLS] = cell_count(a->count);
		if (!g->measured)
			continue;
		const struct cg_measured *m = &g->measured[f.arcs[i]];
		set_time(j, c, m->along.self + m->along.child);
		c[SAMPLES] = cell_count(m->samples);
	}
	add_rest(j, "remove", f.n);
	if (!f.exact)
		table_note(j->t,
			   "cycle %" PRIu32 ": the %zu calls to remove were found by a heuristic: "
			   "fewer may do",
			   j->cycle, f.n);
	free(f.arcs);
}

static void describe_cycle(struct cycles_job *j)
{
	const struct callgraph *g = j->in->graph;
	const struct cg_node *n = &g->nodes[g->n_symbols + j->cycle - 1];
	const symid *members = g->members + n->first_out;
	struct cycle_calls entries = { 0 }, inner = { 0 };

	add_cycle(j);
	add_members(j, members, n->n_members);
	gather_calls(j, members, n->n_members, &entries, &inner);
	add_calls(j, &entries, "entry");
	add_calls(j, &inner, "inner");
	add_feedback(j);
	j->group++;
}

/* ---- choice of cycles ---- */

/* Whether the cycle has enough time and, if functions were named, has one of them as a member. */
static bool is_wanted(const struct cycles_job *j, uint32_t cycle)
{
	const struct callgraph *g = j->in->graph;
	const struct cg_node *n = &g->nodes[g->n_symbols + cycle - 1];

	if (time_of(n) < j->o->min_share * report_whole(j->o, total_of(g)))
		return false;
	if (!j->o->subjects || !j->o->subjects[0])
		return true;
	for (uint32_t i = 0; i < n->n_members; i++)
		if (report_is_subject(j->in, j->o, g->members[n->first_out + i]))
			return true;
	return false;
}

static int by_cycle_time(const void *l, const void *r, void *graph)
{
	const struct callgraph *g = graph;
	uint32_t a = *(const uint32_t *)l, b = *(const uint32_t *)r;
	const struct cg_node *x = &g->nodes[g->n_symbols + a - 1];
	const struct cg_node *y = &g->nodes[g->n_symbols + b - 1];
	if (time_of(x) != time_of(y))
		return time_of(x) > time_of(y) ? -1 : 1;
	if (x->self_calls != y->self_calls)
		return x->self_calls > y->self_calls ? -1 : 1;
	return ORDER(a, b);
}

static void add_cycles(struct cycles_job *j)
{
	const struct callgraph *g = j->in->graph;
	uint32_t *cycles = xrealloc(NULL, g->n_cycles, sizeof(*cycles));
	size_t n = 0;

	for (uint32_t i = 1; i <= g->n_cycles; i++)
		if (is_wanted(j, i))
			cycles[n++] = i;
	if (n)
		qsort_r(cycles, n, sizeof(*cycles), by_cycle_time, UNCONST(void *, g));
	for (size_t i = 0; i < n; i++) {
		j->cycle = cycles[i];
		describe_cycle(j);
	}
	free(cycles);
}

static struct kin_error *cycles_run(const struct report_input *in, const struct report_opts *o,
				    struct kin_table **ret)
{
	const struct callgraph *g = in->graph;
	struct kin_error *err = report_check_subjects(in, o);
	if (err)
		return err;
	struct kin_table *t = table_new("cycles", "Cycles of calls", columns, N_COLUMNS);
	struct cycles_job j = { .in = in, .o = o, .t = t };

	report_describe(in, t);
	table_show(t, "samples", g->measured != NULL);
	table_show(t, "least", g->measured != NULL);
	table_show(t, "bound", g->measured != NULL);
	table_show(t, "calls", g->has_arcs);
	if (!g->measured && g->n_cycles)
		table_note(
			t,
			"no sampled stacks: cycles cannot be confirmed, and times are estimated");
	add_cycles(&j);
	if (g->n_cycles)
		report_note_outside(in, t);
	else if (!report_is_empty(in, NULL))
		table_note(t, "the call graph has no cycles");
	report_note_subjects(in, o, t);
	*ret = t;
	return NULL;
}

const struct report cycles_report = {
	.name = "cycles",
	.help = "cycles of the call graph, and whether sampled stacks go round them",
	.run = cycles_run,
	.by = REPORT_BY_PART,
	.inlines = true,
};
