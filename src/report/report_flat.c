/* report_flat.c - time per symbol, and calls if they were counted. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "report/reports.h"

enum {
	SHARE,
	CUMULATIVE,
	SELF,
	INCLUSIVE,
	CALLS,
	SELF_PER_CALL,
	TOTAL_PER_CALL,
	OBJECT,
	NAME,
	CHILD,
	CYCLE,
	INDEX,
	LISTED,
	SYMBOL,
	ADDRESS,
	OBJECT_PATH,
	FILE_NAME,
	N_COLUMNS
};

static const struct kin_column columns[] = {
	[SHARE] = { "share", "% time", "the symbol's own time as a share of the total",
		    KIN_CELL_SHARE },
	[CUMULATIVE] = { "cumulative", "cumulative",
			 "own time of this symbol and all above it, seconds", KIN_CELL_TIME },
	[SELF] = { "self", "self", "time in the symbol's own code, seconds", KIN_CELL_TIME },
	[INCLUSIVE] = { "inclusive", "inclusive",
			"time of the samples with the function anywhere on their stack, each once; "
			"shown where there are stacks",
			KIN_CELL_TIME, .hidden = true },
	[CALLS] = { "calls", "calls", "how often it was called, not counting direct recursion",
		    KIN_CELL_COUNT },
	[SELF_PER_CALL] = { "self_per_call", "self/call",
			    "own time per call, seconds; empty where no sample fell", KIN_CELL_TIME,
			    .si = true },
	[TOTAL_PER_CALL] = { "total_per_call", "total/call",
			     "time with callees per call, seconds; callees' part is apportioned by "
			     "calls, or measured where there are stacks; empty where no sample "
			     "fell",
			     KIN_CELL_TIME, .si = true },
	[NAME] = { "name", "name", "the symbol", KIN_CELL_TEXT, .function = true },
	[CHILD] = { "children", "children", "callees' time apportioned to it by calls, seconds",
		    KIN_CELL_TIME, .hidden = true },
	[CYCLE] = { "cycle", "cycle", "number of the cycle it belongs to", KIN_CELL_COUNT,
		    .hidden = true },
	[INDEX] = { "index", "index", "its number in the call graph", KIN_CELL_COUNT,
		    .hidden = true },
	[LISTED] = { "listed", "listed", "1 if it has an entry of its own in the call graph",
		     KIN_CELL_COUNT, .hidden = true },
	[SYMBOL] = { "symbol", "symbol", "its name as in the object file", KIN_CELL_TEXT,
		     .hidden = true },
	[ADDRESS] = { "address", "address", "where its code starts", KIN_CELL_ADDRESS,
		      .hidden = true },
	[OBJECT] = { "object", "object", "the object file it is in; shown where there are several",
		     KIN_CELL_TEXT, .hidden = true },
	[OBJECT_PATH] = { "object_path", "object path", "the object file with its directories",
			  KIN_CELL_TEXT, .hidden = true },
	[FILE_NAME] = { "file", "file", "the source file of a static function", KIN_CELL_TEXT,
			.hidden = true },
};

static const struct selection everything;

/* The largest time per call, in ticks. It determines the unit of the per-call columns. */
static double largest_per_call(const struct callgraph *g)
{
	double most = 0;
	for (size_t i = 0; i < g->n_symbols; i++) {
		const struct cg_node *n = &g->nodes[i];
		double per_call = n->calls ? (n->self + n->child) / (double)n->calls : 0;
		most = per_call > most ? per_call : most;
	}
	return most;
}

static bool is_idle(const struct callgraph *g, const struct cg_node *n, const struct report_opts *o)
{
	return !n->calls && n->self == 0 && !((o->callers || g->measured) && n->child != 0);
}

/* The time that is compared with the minimum share. */
static double time_of(const struct callgraph *g, const struct cg_node *n)
{
	return g->measured ? n->self + n->child : n->self;
}

static bool is_listed(const struct report_input *in, const struct report_opts *o, symid id)
{
	const struct selection *sel = o->selection ? o->selection : &everything;
	const struct cg_node *n = &in->graph->nodes[id];

	return (o->zeroes || !is_idle(in->graph, n, o)) &&
	       selection_wants(sel, SEL_INCL_FLAT, id) && in->symbols->at[id].owner == id &&
	       time_of(in->graph, n) >= o->min_share * report_whole(o, in->graph->total);
}

/* Sorts symbols with equal time and calls by name. `keys` are sorted by time, then calls. */
static void sort_ties(const struct report_input *in, struct sort_key *keys, size_t n)
{
	const struct cg_node *nodes = in->graph->nodes;
	struct sort_name *names = xrealloc(NULL, n, sizeof(*names));

	for (size_t i = 0, end; i < n; i = end) {
		const struct cg_node *first = &nodes[keys[i].index];
		for (end = i; end < n && keys[end].key == keys[i].key &&
			      nodes[keys[end].index].calls == first->calls;
		     end++)
			names[end - i] = (struct sort_name){ in->symbols->at[keys[end].index].name,
							     keys[end].index };
		if (end - i > 1)
			sort_names(names, end - i);
		for (size_t k = i; k < end; k++)
			keys[k].index = names[k - i].index;
	}
	free(names);
}

/* Symbols to list, longest first; *ret is to be freed. */
static size_t choose(const struct report_input *in, const struct report_opts *o, symid **ret)
{
	const struct callgraph *g = in->graph;
	struct sort_key *keys = xrealloc(NULL, g->n_symbols, sizeof(*keys));
	size_t n = 0;

	for (symid i = 0; i < g->n_symbols; i++)
		if (is_listed(in, o, i))
			keys[n++] = (struct sort_key){ ~g->nodes[i].calls, i };
	sort_keys(keys, n);
	if (g->measured) {
		for (size_t i = 0; i < n; i++)
			keys[i].key = ~sort_key_of_double(time_of(g, &g->nodes[keys[i].index]));
		sort_keys(keys, n);
	}
	for (size_t i = 0; i < n; i++)
		keys[i].key = ~sort_key_of_double(g->nodes[keys[i].index].self);
	sort_keys(keys, n);
	if (!g->measured)
		sort_ties(in, keys, n);
	*ret = xrealloc(NULL, n, sizeof(**ret));
	for (size_t i = 0; i < n; i++)
		(*ret)[i] = keys[i].index;
	free(keys);
	return n;
}

/* ---- rows, made as they are read ---- */

struct flat_state {
	struct report_input in;
	const struct report_opts *o;
	struct kin_table *table;
	symid *chosen;
	bool *uncounted; /* [objects]: report_uncounted() */
	size_t n, next;
	double cumulative;
	struct kin_cell cells[N_COLUMNS];
};

/* Time per call. Without a sample the time was not measured, so the cell is empty, not 0. */
static struct kin_cell per_call(const struct flat_state *s, symid id, double time)
{
	const struct cg_node *n = &s->in.graph->nodes[id];
	bool known = !report_is_uncounted(&s->in, s->uncounted, id);
	return n->calls && time > 0 && known ? cell_time(time / (double)n->calls) : cell_none();
}

static void set_row(struct flat_state *s, symid id)
{
	const struct callgraph *g = s->in.graph;
	const struct cg_node *n = &g->nodes[id];
	struct kin_cell *c = s->cells;

	s->cumulative += n->self;
	c[SHARE] = cell_share(g->total > 0 ? n->self / g->total : 0);
	c[CUMULATIVE] = cell_time(s->cumulative);
	c[SELF] = cell_time(n->self);
	c[INCLUSIVE] = g->measured ? cell_time(n->self + n->child) : cell_none();
	c[CALLS] = n->calls ? cell_count(n->calls) : cell_none();
	c[SELF_PER_CALL] = per_call(s, id, n->self);
	c[TOTAL_PER_CALL] = per_call(s, id, n->self + n->child);
	c[NAME] = cell_text(report_symbol_name(&s->in, s->o, id, s->table));
	c[CHILD] = cell_time(n->child);
	c[CYCLE] = n->cycle ? cell_count(n->cycle) : cell_none();
	c[INDEX] = cell_count(n->index);
	c[LISTED] = cell_count(n->shown);
	c[SYMBOL] = cell_text(s->in.symbols->at[id].name);
	c[ADDRESS] = cell_address(s->in.symbols->at[id].addr);
	c[OBJECT] = cell_text(report_object_name(&s->in, id));
	c[OBJECT_PATH] = cell_text(report_object_path(&s->in, id));
	const char *file = s->o->static_files ? report_static_file(&s->in, id) : NULL;
	c[FILE_NAME] = file ? cell_text(file) : cell_none();
}

static bool is_busy(const struct callgraph *g, symid id)
{
	const struct cg_node *n = &g->nodes[id];
	return n->self > 0 || n->calls > 0 || (g->measured && n->child > 0);
}

/* Prefetches the next symbols, which may be anywhere in memory. */
static void prefetch(const struct flat_state *s)
{
	enum { NAME_AHEAD = 8, AHEAD = 16 };
	if (s->n - s->next <= AHEAD)
		return;
	symid id = s->chosen[s->next + AHEAD];
	callgraph_prefetch_node(&s->in.graph->nodes[id]);
	symbols_prefetch_display(s->in.symbols, id);
	symbols_prefetch_text(s->in.symbols, s->chosen[s->next + NAME_AHEAD]);
}

static bool next(void *state, struct kin_row *row)
{
	struct flat_state *s = state;
	if (s->next == s->n)
		return false;
	prefetch(s);
	set_row(s, s->chosen[s->next++]);
	*row = (struct kin_row){ .kind = KIN_ROW_PLAIN, .cells = s->cells };
	return true;
}

static void rewind_rows(void *state)
{
	struct flat_state *s = state;
	s->next = 0;
	s->cumulative = 0;
}

static void free_state(void *state)
{
	struct flat_state *s = state;
	free(s->chosen);
	free(s->uncounted);
	free(s);
}

static const struct table_source source = { rewind_rows, next, free_state };

static struct kin_error *flat_run(const struct report_input *in, const struct report_opts *o,
				  struct kin_table **ret)
{
	const struct callgraph *g = in->graph;
	struct kin_table *t = table_new("flat", "Flat profile", columns, ARRAY_LEN(columns));
	struct flat_state *s = xalloc(sizeof(*s));

	s->in = *in;
	s->o = o;
	s->table = t;
	s->n = choose(in, o, &s->chosen);
	table_set_source(t, &source, s);
	report_describe(in, t);
	report_note_hooks(in, t);
	if (g->measured)
		report_note_chainless(in, t);
	table_show(t, "inclusive", g->measured != NULL);
	if (in->profile->samples.n && !g->has_arcs) {
		table_show(t, "calls", false);
		table_show(t, "self_per_call", false);
		table_show(t, "total_per_call", false);
	}
	table_show(t, "object", report_has_objects(in, is_busy));
	table_property(t, "largest_per_call", cell_time(largest_per_call(g)));
	report_note_outside(in, t);
	s->uncounted = report_uncounted(in, o, t);
	if (g->has_arcs && g->total <= 0)
		table_note(t, "all times are 0: there are no samples");
	else if (!g->measured && g->has_arcs)
		table_note(t, "times per call with callees (total/call) are estimated: "
			      "apportioned by call counts");
	*ret = t;
	return NULL;
}

const struct report flat_report = {
	.name = "flat",
	.help = "time per function, and how often each was called",
	.run = flat_run,
	.by = REPORT_BY_PART | REPORT_BY_OBJECT,
	.inlines = true,
};
