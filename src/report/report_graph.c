/* report_graph.c - gprof's call graph: an entry for each function, and for each cycle as a whole.
 * An entry lists callers above the function and callees below it; for a cycle it lists the members
 * below.
 *
 * Rows are made as they are read: a large program has millions. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "report/reports.h"

enum {
	INDEX,
	SHARE,
	SELF,
	CHILDREN,
	CALLED,
	PER_CALL,
	OBJECT,
	NAME,
	LISTED,
	CYCLE,
	SAMPLES,
	N_COLUMNS
};

static const struct kin_column columns[N_COLUMNS] = {
	[INDEX] = { "index", "index", "number of the named function in this graph",
		    KIN_CELL_COUNT },
	[SHARE] = { "share", "% time", "time with callees, as a share of the total",
		    KIN_CELL_SHARE },
	[SELF] = { "self", "self",
		   "own time; of a caller or callee: the part that went along this call, seconds; "
		   "where there are stacks, that of the samples with this call on them, of which "
		   "one has several calls of a function within a cycle, so that those do not add "
		   "up",
		   KIN_CELL_TIME },
	[CHILDREN] = { "children", "children",
		       "callees' time; of a caller or callee: the part that went along this call, "
		       "seconds",
		       KIN_CELL_TIME },
	[CALLED] = { "called", "called",
		     "calls: along this arc / in all, or from others + recursive", KIN_CELL_OF },
	[NAME] = { "name", "name", "the function", KIN_CELL_TEXT, .tree = true, .function = true },
	[LISTED] = { "listed", "listed", "1 if the named function has an entry of its own",
		     KIN_CELL_COUNT, .hidden = true },
	[CYCLE] = { "cycle", "cycle", "number of the cycle it belongs to", KIN_CELL_COUNT,
		    .hidden = true },
	[PER_CALL] = { "per_call", "time/call",
		       "time with callees per call; of a caller: per call from there, which is "
		       "measured only where there are stacks",
		       KIN_CELL_TIME, .hidden = true, .si = true },
	[SAMPLES] = { "samples", "samples",
		      "stacks with this call on them; of a cycle: on which it was gone round, of "
		      "those with a member on them",
		      KIN_CELL_OF, .hidden = true },
	[OBJECT] = { "object", "object",
		     "the object file of the function; of a caller, a callee or a member of a "
		     "cycle only if it is another one: the call goes from object to object. Shown "
		     "where there are several",
		     KIN_CELL_TEXT, .hidden = true },
};

enum phase { ENTER, CALLERS, SPONTANEOUS, PRIMARY, MEMBERS, CALLEES };

struct label { /* the texts and numbers that rows show of a node: made once, and small, as each row
		  looks them up */
	const char *text; /* name and cycle; NULL until first shown */
	uint32_t length;
	uint32_t index;
	uint32_t cycle : 31;
	uint32_t shown : 1;
	objid object; /* object of a function; only if there is a program */
};

struct number_range {
	double low, high;
};

/* Rows below this share are too small for a person to read, and there may be a million of them.
 * With up to ten thousand samples, each sample has at least this share. */
static const double SHARE_TO_READ = 0.0001;

/* The arcs that are not too small. */
struct kept_arcs {
	VEC(arcid) by_caller;
	arcid *by_callee;                /* the same arcs, by callee */
	uint32_t *of_caller, *of_callee; /* [functions + 1]: index of the function's first arc */
};

struct graph_state {
	struct report_input in;
	const struct report_opts *o;
	struct kin_table *table;
	double least;             /* ticks; nodes and arcs with less have no row */
	struct kept_arcs kept;    /* only if least is above 0 */
	struct label *labels;     /* [nodes] */
	bool *uncounted;          /* [objects]: report_uncounted() */
	struct kin_cell *objects; /* [objects]: their names; without a type until first shown */
	struct cg_listed *list;   /* [n_list]: callers or callees of the current entry */
	size_t n_list, room;      /* room: allocated size of list */
	bool has_callers;         /* the entry has callers, though some may have no row */
	bool *chosen;             /* [nodes]: the node's entry is wanted; NULL: all entries are */
	size_t entry;             /* index into order[] */
	objid object;             /* object of the entry: object_here() */
	enum phase phase;
	uint32_t k; /* position within the phase */
	uint32_t group;
	struct kin_cell cells[N_COLUMNS];

	/* For readers that only need the extremes of columns: callers and callees are not listed in
	 * each entry, but once, after all entries. */
	bool arcs_apart;
	symid other_at;
	arcid arc_at;
	struct number_range self, child, samples; /* ranges of the arcs so far */
};

static const char *make_text(struct graph_state *s, nodeid id)
{
	const struct callgraph *g = s->in.graph;
	uint32_t cycle = g->nodes[id].cycle;
	const char *name =
		id < g->n_symbols ? report_symbol_name(&s->in, s->o, id, s->table) : NULL;

	if (!cycle)
		return name;
	char *text = name ? xprintf("%s <cycle %u>", name, cycle)
			  : xprintf("<cycle %u as a whole>", cycle);
	name = table_text(s->table, text);
	free(text);
	return name;
}

static const struct label *label_of(struct graph_state *s, nodeid id)
{
	struct label *l = &s->labels[id];
	if (!l->text) {
		const struct cg_node *n = &s->in.graph->nodes[id];
		l->text = make_text(s, id);
		l->length = (uint32_t)strlen(l->text);
		l->index = n->index;
		l->cycle = n->cycle;
		l->shown = n->shown;
		if (s->in.program && id < s->in.graph->n_symbols)
			l->object = program_object(s->in.program, id);
		if (s->in.program && id < s->in.graph->n_symbols &&
		    program_is_no_caller(s->in.program, id))
			l->index = 0; /* it has no entry */
	}
	return l;
}

/* The name of a function's object. */
static struct kin_cell object_of(struct graph_state *s, symid id)
{
	if (!s->objects)
		return cell_text(report_object_name(&s->in, id));
	struct kin_cell *c = &s->objects[label_of(s, id)->object];
	if (c->type == KIN_CELL_NONE)
		*c = cell_text(report_object_name(&s->in, id));
	return *c;
}

static const struct cg_node *current(const struct graph_state *s)
{
	return &s->in.graph->nodes[s->in.graph->order[s->entry]];
}

static bool is_cycle(const struct graph_state *s)
{
	return s->in.graph->order[s->entry] >= s->in.graph->n_symbols;
}

static double time_of(const struct cg_node *n) { return callgraph_shown_self(n) + n->shown_child; }

static bool is_small(const struct graph_state *s, double time) { return time < s->least; }

/* Arcs within cycles are never small: no time flows along them. */
static bool is_small_arc(const struct graph_state *s, const struct cg_listed *arc)
{
	return arc->class == CG_OUTER && is_small(s, arc->time.self + arc->time.child);
}

static bool is_listed(const struct graph_state *s)
{
	const struct callgraph *g = s->in.graph;
	nodeid id = g->order[s->entry];
	const struct cg_node *n = &g->nodes[id];
	bool idle =
		!n->calls && !n->self_calls && callgraph_shown_self(n) == 0 && n->shown_child == 0;

	if (!n->shown || (idle && !s->o->zeroes) || (s->chosen && !s->chosen[id]))
		return false;
	if (id < g->n_symbols && g->symbols->at[id].owner != id)
		return false;
	if (is_small(s, time_of(n)))
		return false;
	return !g->symbols->opts.lines || (id < g->n_symbols && g->symbols->at[id].is_function) ||
	       (id >= g->n_symbols && !(s->o->rules && s->o->rules->no_cycles_by_line));
}

/* ---- rows ---- */

static void set(struct graph_state *s, nodeid id)
{
	const struct label *l = label_of(s, id);
	struct kin_cell *c = s->cells;

	/* Sets single fields: copying whole cells would also copy their padding. */
	c[SHARE].type = c[SELF].type = c[CHILDREN].type = c[CALLED].type = KIN_CELL_NONE;
	c[PER_CALL].type = c[SAMPLES].type = c[OBJECT].type = KIN_CELL_NONE;
	c[INDEX].type = l->index ? KIN_CELL_COUNT : KIN_CELL_NONE;
	c[LISTED].type = KIN_CELL_COUNT;
	c[INDEX].count = l->index;
	c[LISTED].count = l->shown;
	c[NAME].type = KIN_CELL_TEXT;
	c[NAME].text = l->text;
	c[NAME].length = l->length;
	c[CYCLE].type = l->cycle ? KIN_CELL_COUNT : KIN_CELL_NONE;
	c[CYCLE].count = l->cycle;
}

/* The time without a known caller; for a cycle, the sum over its members. */
static struct cg_time root_time(const struct graph_state *s)
{
	const struct callgraph *g = s->in.graph;
	const struct cg_node *n = current(s);
	struct cg_time sum = { 0, 0 };
	if (!is_cycle(s))
		return g->roots[g->order[s->entry]];
	for (uint32_t i = 0; i < n->n_members; i++) {
		const struct cg_time *root = &g->roots[g->members[n->first_out + i]];
		sum.self += root->self;
		sum.child += root->child;
	}
	return sum;
}

/* Sets a row for unknown callers, or for callers whose calls were not counted. */
static void set_spontaneous(struct graph_state *s)
{
	const struct callgraph *g = s->in.graph;
	const struct cg_node *n = current(s);
	nodeid head = callgraph_head(g, g->order[s->entry]);

	for (size_t i = 0; i < N_COLUMNS; i++)
		s->cells[i] = cell_none();
	s->cells[NAME] = cell_text("<spontaneous>");
	if (g->measured) {
		struct cg_time root = root_time(s);
		s->cells[SELF] = cell_time(root.self);
		s->cells[CHILDREN] = cell_time(root.child);
		return;
	}
	if (!n->calls || !n->outside_calls || (!is_cycle(s) && !n->n_in))
		return;
	double part = (double)n->outside_calls / (double)g->nodes[head].sharing_calls;
	s->cells[SELF] = cell_time(g->nodes[head].self * part);
	s->cells[CHILDREN] = cell_time(g->nodes[head].child * part);
	s->cells[CALLED] = cell_of(n->outside_calls, g->nodes[head].sharing_calls);
}

/* Whether times per call are shown. A cycle as a whole shows them only if no object is
 * uncounted. */
static bool has_per_call(const struct graph_state *s, nodeid id)
{
	return id < s->in.graph->n_symbols ? !report_is_uncounted(&s->in, s->uncounted, id)
					   : !s->uncounted;
}

/* Sets the time of an arc, and the number of samples in which it was measured. */
static void set_time_of_arc(struct graph_state *s, const struct cg_listed *arc, nodeid callee)
{
	const struct callgraph *g = s->in.graph;
	struct kin_cell *c = s->cells;

	c[SELF].type = c[CHILDREN].type = KIN_CELL_TIME;
	c[SELF].number = arc->time.self;
	c[CHILDREN].number = arc->time.child;
	if (arc->count && (!g->measured || arc->total > 0) && has_per_call(s, callee)) {
		/* without a sample: not measured, which is not 0 */
		c[PER_CALL].type = KIN_CELL_TIME;
		c[PER_CALL].number = arc->total / (double)arc->count;
	}
	if (g->measured)
		c[SAMPLES] = cell_count(arc->samples);
}

/* The object of the entry's function, or of all members of a cycle; NONE: members are in
 * several. */
static objid object_here(struct graph_state *s)
{
	const struct callgraph *g = s->in.graph;
	const struct cg_node *n = current(s);
	if (!is_cycle(s))
		return label_of(s, g->order[s->entry])->object;
	const symid *members = g->members + n->first_out;
	objid ret = label_of(s, members[0])->object;
	for (uint32_t i = 1; i < n->n_members; i++)
		if (label_of(s, members[i])->object != ret)
			return NONE;
	return ret;
}

/* Sets a caller, a callee or a member. Its object is shown if it differs from the entry's. */
static void set_other(struct graph_state *s, symid id)
{
	set(s, id);
	if (s->in.program && s->labels[id].object != s->object)
		s->cells[OBJECT] = object_of(s, id);
}

/* Sets the row of one arc; `callee` is the called function or cycle. */
static void set_arc(struct graph_state *s, const struct cg_listed *arc, nodeid callee)
{
	const struct callgraph *g = s->in.graph;
	struct kin_cell *c = s->cells;

	set_other(s, arc->other);
	c[CALLED].count = arc->count; /* this is also .pair.a */
	c[CALLED].type = arc->class == CG_OUTER ? KIN_CELL_OF : KIN_CELL_COUNT;
	if (g->measured && !arc->count) /* only seen on stacks */
		c[CALLED].type = KIN_CELL_NONE;
	if (arc->class != CG_OUTER)
		return;
	c[CALLED].pair.b = callee < g->n_symbols ? (uint64_t)g->share[callee].calls
						 : g->nodes[callee].sharing_calls;
	set_time_of_arc(s, arc, callee);
}

/* Sets how often a function was called by others and by itself; for a cycle: by its members. If
 * cycles list callers, calls within a cycle count for the cycle, not for its members. */
static void set_calls(struct graph_state *s, nodeid id)
{
	const struct callgraph *g = s->in.graph;
	const struct cg_node *n = &g->nodes[id];
	uint64_t calls = n->sharing_calls, inner = n->self_calls;

	if (!s->o->bare_cycles && id < g->n_symbols)
		calls = callgraph_calls_from_outside(g, id);
	else if (!s->o->bare_cycles)
		for (uint32_t i = 0; i < n->n_members; i++)
			inner += g->nodes[g->members[n->first_out + i]].self_calls;
	if (inner)
		s->cells[CALLED] = cell_plus(calls, inner);
	else if (n->calls || (id >= g->n_symbols && g->has_arcs))
		s->cells[CALLED] = cell_count(calls);
}

static void set_primary(struct graph_state *s)
{
	const struct callgraph *g = s->in.graph;
	const struct cg_node *n = current(s);
	nodeid id = g->order[s->entry];
	double time = time_of(n);

	set(s, id);
	if (is_cycle(s) && s->object == NONE)
		s->cells[OBJECT] = cell_text("[several]");
	else
		s->cells[OBJECT] = object_of(s, is_cycle(s) ? g->members[n->first_out] : id);
	s->cells[SHARE] = cell_share(callgraph_all(g) > 0 ? time / callgraph_all(g) : 0);
	s->cells[SELF] = cell_time(callgraph_shown_self(n));
	s->cells[CHILDREN] = cell_time(n->shown_child);
	set_calls(s, id);
	if (n->calls && time > 0 && has_per_call(s, id)) /* as for an arc */
		s->cells[PER_CALL] = cell_time(time / (double)n->calls);
	if (g->measured && is_cycle(s))
		s->cells[SAMPLES] = cell_of(g->cycles[id - g->n_symbols].reentered,
					    g->cycles[id - g->n_symbols].samples);
}

/* Sets a member in the cycle's entry, with the calls from within the cycle. */
static void set_member(struct graph_state *s, symid id)
{
	const struct cg_node *n = &s->in.graph->nodes[id];
	uint64_t inner = n->calls + n->self_calls - callgraph_calls_from_outside(s->in.graph, id);
	set_other(s, id);
	s->cells[SELF] = cell_time(callgraph_shown_self(n));
	s->cells[CHILDREN] = cell_time(n->shown_child);
	if (!s->o->bare_cycles && s->in.graph->has_arcs)
		s->cells[CALLED] = cell_count(inner);
	else if (n->self_calls)
		s->cells[CALLED] = cell_plus(n->sharing_calls, n->self_calls);
	else if (s->in.graph->has_arcs)
		s->cells[CALLED] = cell_count(n->sharing_calls);
}

/* ---- the walk ---- */

static bool emit(struct graph_state *s, struct kin_row *row, enum kin_row_kind kind)
{
	bool primary = kind == KIN_ROW_FUNCTION || kind == KIN_ROW_CYCLE;
	*row = (struct kin_row){ kind, !primary, s->group, s->cells };
	return true;
}

static void go(struct graph_state *s, enum phase phase)
{
	s->phase = phase;
	s->k = 0;
}

/* Drops listed arcs that are too small. */
static void drop_small(struct graph_state *s)
{
	struct cg_listed *list = s->list;
	size_t n = 0;

	for (size_t i = 0; i < s->n_list; i++)
		if (!is_small_arc(s, &list[i]))
			list[n++] = list[i];
	s->n_list = n;
}

/* Enlarges the list; its contents are lost. */
static void make_room(struct graph_state *s, size_t n)
{
	if (n <= s->room)
		return;
	free(s->list);
	s->list = xrealloc(NULL, n, sizeof(*s->list));
	s->room = n;
}

static void list_kept(struct graph_state *s, enum phase phase)
{
	const struct kept_arcs *k = &s->kept;
	nodeid id = s->in.graph->order[s->entry];
	const arcid *arcs = phase == CALLERS ? k->by_callee : k->by_caller.at;
	const uint32_t *of = phase == CALLERS ? k->of_callee : k->of_caller;

	s->n_list = of[id + 1] - of[id];
	make_room(s, s->n_list);
	for (size_t i = 0; i < s->n_list; i++)
		s->list[i] = callgraph_listed(s->in.graph, arcs[of[id] + i], phase == CALLERS);
}

static void list_all(struct graph_state *s, enum phase phase)
{
	const struct callgraph *g = s->in.graph;
	nodeid id = g->order[s->entry];

	s->n_list = phase == CALLERS ? g->nodes[id].n_in : g->nodes[id].n_out;
	make_room(s, s->n_list);
	if (phase == CALLERS)
		callgraph_list_callers(g, id, s->list);
	else
		callgraph_list_callees(g, id, s->list);
}

/* Lists the callers or callees of the entry. Their labels and names are scattered over memory:
 * prefetching them together takes a fraction of the time. */
static void list(struct graph_state *s, enum phase phase)
{
	s->has_callers = current(s)->n_in;
	s->n_list = 0;
	go(s, phase);
	if (s->arcs_apart)
		return;
	if (s->least > 0)
		list_kept(s, phase);
	else
		list_all(s, phase);
	for (size_t k = 0; k < s->n_list; k++)
		prefetch_line(&s->labels[s->list[k].other]);
	callgraph_sort_listed(s->list, (uint32_t)s->n_list, phase == CALLEES);
	for (size_t k = 0; k < s->n_list; k++) {
		const struct label *l = &s->labels[s->list[k].other];
		prefetch_line(l->text);
		prefetch_line(l->text + l->length);
	}
}

/* Lists the callers or callees of a cycle; bare cycles have none. The old list is freed first: the
 * list around a large cycle is the largest allocation of this report. */
static void list_around(struct graph_state *s, enum phase phase)
{
	const struct callgraph *g = s->in.graph;
	size_t cycle = g->order[s->entry] - g->n_symbols + 1;

	s->n_list = 0;
	if (!s->o->bare_cycles) {
		free(TAKE(s->list));
		s->list = phase == CALLERS ? callgraph_list_into_cycle(g, cycle, &s->n_list)
					   : callgraph_list_out_of_cycle(g, cycle, &s->n_list);
		s->room = s->n_list;
	}
	if (phase == CALLERS)
		s->has_callers = s->n_list > 0;
	if (s->least > 0)
		drop_small(s);
	go(s, phase);
}

/* Goes to the next entry that is shown; false at the end. */
static bool enter(struct graph_state *s)
{
	size_t n = s->in.graph->n_symbols + s->in.graph->n_cycles;

	while (s->entry < n && !is_listed(s))
		s->entry++;
	if (s->entry == n)
		return false;
	callgraph_prefetch_entry(s->in.graph, s->entry + 1, s->least <= 0);
	if (s->in.program)
		s->object = object_here(s);
	if (is_cycle(s))
		list_around(s, CALLERS);
	else
		list(s, CALLERS);
	return true;
}

static void leave(struct graph_state *s)
{
	s->entry++;
	s->group++;
	go(s, ENTER);
}

static bool is_spontaneous(const struct graph_state *s)
{
	const struct callgraph *g = s->in.graph;
	const struct cg_node *n = current(s);
	if (is_cycle(s) && s->o->bare_cycles)
		return false;
	struct cg_time root = g->measured ? root_time(s) : (struct cg_time){ 0, 0 };
	if (g->measured && s->has_callers && is_small(s, root.self + root.child))
		return false;
	return n->outside_calls || !s->has_callers || root.self + root.child > 0;
}

static bool is_small_member(const struct graph_state *s, symid id)
{
	return is_small(s, time_of(&s->in.graph->nodes[id]));
}

/* Makes a row for the next arc of the list, if there is one. */
static bool next_arc(struct graph_state *s, struct kin_row *row)
{
	bool calls = s->phase == CALLERS;
	if ((!calls && s->phase != CALLEES) || s->k == s->n_list)
		return false;
	const struct cg_listed *arc = &s->list[s->k++];
	set_arc(s, arc, calls ? s->in.graph->order[s->entry] : arc->other);
	return emit(s, row, calls ? KIN_ROW_CALLER : KIN_ROW_CALLEE);
}

static bool next_member(struct graph_state *s, struct kin_row *row)
{
	const struct cg_node *n = current(s);
	if (s->k == n->n_members) {
		list_around(s, CALLEES);
		return false;
	}
	symid id = s->in.graph->members[n->first_out + s->k++];
	if (is_small_member(s, id))
		return false;
	set_member(s, id);
	return emit(s, row, KIN_ROW_MEMBER);
}

/* One step after the last arc of a list; true if it made a row. */
static bool step(struct graph_state *s, struct kin_row *row)
{
	switch (s->phase) {
	case ENTER:
		break;
	case CALLERS:
		go(s, SPONTANEOUS);
		break;
	case SPONTANEOUS:
		go(s, PRIMARY);
		if (!is_spontaneous(s))
			break;
		set_spontaneous(s);
		return emit(s, row, KIN_ROW_CALLER);
	case PRIMARY:
		if (is_cycle(s))
			go(s, MEMBERS);
		else
			list(s, CALLEES);
		set_primary(s);
		return emit(s, row, is_cycle(s) ? KIN_ROW_CYCLE : KIN_ROW_FUNCTION);
	case CALLEES:
		leave(s);
		break;
	case MEMBERS:
		return next_member(s, row);
	}
	return false;
}

/* Whether the number lies within the range; the range is extended to include it. */
static bool is_between(struct number_range *s, double v)
{
	bool ret = v >= s->low && v <= s->high;
	s->low = v < s->low ? v : s->low;
	s->high = v > s->high ? v : s->high;
	return ret;
}

/* Whether an arc's row cannot change the extremes, given the rows of all names and of earlier
 * arcs. */
static bool is_usual(struct graph_state *s, const struct cg_listed *arc)
{
	if (arc->count || !s->in.graph->measured)
		return false;
	if (arc->class != CG_OUTER)
		return true;
	bool self = is_between(&s->self, arc->time.self);
	bool child = is_between(&s->child, arc->time.child);
	bool samples = is_between(&s->samples, (double)arc->samples);
	return self && child && samples;
}

/* After the entries, if arcs are apart: a row with the name of each caller or callee, then rows of
 * arcs. */
static bool next_apart(struct graph_state *s, struct kin_row *row)
{
	const struct callgraph *g = s->in.graph;

	while (s->other_at < g->n_symbols) {
		symid id = s->other_at++;
		if (!g->nodes[id].n_in && !g->nodes[id].n_out)
			continue;
		set(s, id);
		return emit(s, row, KIN_ROW_CALLEE);
	}
	while (s->arc_at < g->n_arcs) {
		struct cg_listed arc = callgraph_listed(g, s->arc_at++, false);
		if (is_usual(s, &arc))
			continue;
		set_arc(s, &arc, arc.other);
		return emit(s, row, KIN_ROW_CALLEE);
	}
	return false;
}

static bool next(void *state, struct kin_row *row)
{
	struct graph_state *s = state;
	while (!next_arc(s, row)) {
		if (s->phase != ENTER && step(s, row))
			return true;
		if (s->phase == ENTER && !enter(s))
			return s->arcs_apart && next_apart(s, row);
	}
	return true;
}

static void restart(struct graph_state *s, bool arcs_apart)
{
	s->arcs_apart = arcs_apart;
	s->other_at = s->arc_at = 0;
	s->self = s->child = s->samples = (struct number_range){ INFINITY, -INFINITY };
	s->entry = 0;
	s->group = 0;
	go(s, ENTER);
}

/* Whether each arc is shown in two entries, its callee's and its caller's. */
static bool shows_all_arcs(struct graph_state *s)
{
	const struct callgraph *g = s->in.graph;

	if (s->chosen || s->least > 0)
		return false;
	for (s->entry = 0; s->entry < g->n_symbols + g->n_cycles; s->entry++) {
		const struct cg_node *n = current(s);
		if (!is_cycle(s) && (n->n_in || n->n_out) && !is_listed(s))
			return false;
	}
	return true;
}

static void rewind_rows(void *state) { restart(state, false); }

static void rewind_extremes(void *state) { restart(state, shows_all_arcs(state)); }

static void free_state(void *state)
{
	struct graph_state *s = state;
	free(s->labels);
	free(s->uncounted);
	free(s->objects);
	free(s->list);
	free(s->chosen);
	vec_free(&s->kept.by_caller);
	free(s->kept.by_callee);
	free(s->kept.of_caller);
	free(s->kept.of_callee);
	free(s);
}

static const struct table_source source = { rewind_rows, next, free_state, rewind_extremes };

/* Chooses the functions that a person named, by symbol or as displayed. */
static struct kin_error *choose(struct graph_state *s)
{
	const struct callgraph *g = s->in.graph;
	if (!s->o->subjects || !s->o->subjects[0])
		return NULL;

	s->chosen = xalloc((g->n_symbols + g->n_cycles) * sizeof(*s->chosen));
	for (size_t k = 0; s->o->subjects[k]; k++) {
		size_t n;
		symid *named = report_symbols_named(s->in.symbols, s->o->subjects[k], &n);
		for (size_t i = 0; i < n; i++)
			s->chosen[named[i]] = true;
		free(named);
		if (!n && !report_is_inlined(&s->in, s->o->subjects[k]))
			return report_no_function(&s->in, s->o->subjects[k], "in the profile");
	}
	return NULL;
}

/* Makes all labels if all entries are shown, in the order in which names and nodes lie in
 * memory. */
static void make_labels(struct graph_state *s)
{
	const struct callgraph *g = s->in.graph;

	if (s->chosen || s->least > 0)
		return;
	for (symid i = 0; i < g->n_symbols; i++) {
		const struct cg_node *n = &g->nodes[i];
		if (n->n_in || n->n_out || n->self > 0)
			label_of(s, i);
	}
}

static void note_unknown(const struct callgraph *g, size_t cycle, struct kin_table *t)
{
	uint64_t samples = g->cycles[cycle - 1].samples;
	if (g->is_assembled)
		table_note(t,
			   "cycle %zu: whether it is gone round is unknown: the data has calls, "
			   "and no stacks",
			   cycle);
	else if (!samples)
		table_note(t,
			   "cycle %zu: whether it is gone round is unknown: no sample has a member "
			   "of it on its stack",
			   cycle);
	else
		table_note(t,
			   "cycle %zu: whether it is gone round is unknown: in %" PRIu64
			   " sample%s it was not, too few to tell",
			   cycle, samples, samples > 1 ? "s" : "");
}

/* Notes whether the stacks confirm a cycle of calls. */
static void note_cycle(const struct callgraph *g, size_t c, struct kin_table *t)
{
	const struct cg_cycle *m = &g->cycles[c];
	struct cg_interval round = { 0, 0 };

	switch (callgraph_verdict(g, c + 1, &round)) {
	case CG_UNKNOWN:
		note_unknown(g, c + 1, t);
		break;
	case CG_CONFIRMED:
		table_note(
			t,
			"cycle %zu is confirmed: %" PRIu64 " of %" PRIu64
			" samples in it go round (%.1f to %.1f %%, 95 %% confidence), which took "
			"%.1f %% of the time",
			c + 1, m->reentered, m->samples, 100 * round.low, 100 * round.high,
			callgraph_all(g) > 0 ? 100 * m->going_round / callgraph_all(g) : 0);
		break;
	case CG_NOT_SEEN:
		table_note(t,
			   "cycle %zu was not seen going round: none of %" PRIu64
			   " samples in it does, so that at most %.2g %% of its time does (95 %% "
			   "confidence)",
			   c + 1, m->samples, 100 * round.high);
		break;
	}
}

/* Notes that times are measured, and what is known of each cycle that is shown. */
static void note_cycles(const struct graph_state *s)
{
	enum { MOST = 20 };
	const struct callgraph *g = s->in.graph;
	struct kin_table *t = s->table;
	size_t n = 0;

	table_note(t, g->is_assembled
			      ? "times are measured: those of functions and calls in the "
				"data; chains of more than one call are put together of them"
			      : "times are measured: from sampled stacks");
	report_note_chainless(&s->in, t);
	for (size_t c = 0; c < g->n_cycles; c++)
		if (!is_small(s, time_of(&g->nodes[g->n_symbols + c])) && n++ < MOST)
			note_cycle(g, c, t);
	if (n > MOST)
		table_note(t, "and %zu more cycle%s", n - MOST, n - MOST > 1 ? "s" : "");
}

static bool is_in_graph(const struct callgraph *g, symid id)
{
	const struct cg_node *n = &g->nodes[id];
	return n->calls || n->self_calls || time_of(n) > 0;
}

/* Collects the arcs that are not too small, so that the others cost no time when entries are
 * listed. */
static void keep_large(struct graph_state *s)
{
	const struct callgraph *g = s->in.graph;
	struct kept_arcs *k = &s->kept;

	k->of_caller = xalloc((g->n_symbols + 1) * sizeof(*k->of_caller));
	k->of_callee = xalloc((g->n_symbols + 2) * sizeof(*k->of_callee)); /* one more to count */
	for (arcid i = 0; i < g->n_arcs; i++) {
		struct cg_listed arc = callgraph_listed(g, i, false);
		if (is_small_arc(s, &arc))
			continue;
		vec_push(&k->by_caller, i);
		k->of_caller[g->arcs[i].from + 1]++;
		k->of_callee[g->arcs[i].to + 2]++;
	}
	for (symid id = 0; id < g->n_symbols; id++) {
		k->of_caller[id + 1] += k->of_caller[id];
		k->of_callee[id + 2] += k->of_callee[id + 1];
	}
	k->by_callee = xrealloc(NULL, k->by_caller.n + 1, sizeof(*k->by_callee));
	for (size_t i = 0; i < k->by_caller.n; i++)
		k->by_callee[k->of_callee[g->arcs[k->by_caller.at[i]].to + 1]++] =
			k->by_caller.at[i];
}

/* Whether a function with time is left out, or a call. */
static bool leaves_out(const struct graph_state *s)
{
	const struct callgraph *g = s->in.graph;
	for (symid i = 0; i < g->n_symbols; i++)
		if (time_of(&g->nodes[i]) > 0 && is_small(s, time_of(&g->nodes[i])))
			return true;
	return s->kept.by_caller.n < g->n_arcs;
}

static void set_least(struct graph_state *s)
{
	const struct callgraph *g = s->in.graph;
	const struct report_opts *o = s->o;
	bool has_subjects = o->subjects && o->subjects[0];
	bool to_read =
		o->to_read && !(o->min_share > 0) && !has_subjects && g->measured && !g->has_arcs;
	double share = to_read ? SHARE_TO_READ : o->min_share;

	s->least = share * report_whole(o, callgraph_all(g));
	if (s->least > 0)
		keep_large(s);
	if (to_read && !leaves_out(s))
		s->least = 0;
	else if (share > 0)
		table_note(s->table,
			   "functions, callers and callees with less than %g %% are left out%s",
			   100 * share, to_read ? ": --min-share=0 shows all" : "");
}

static struct kin_error *graph_run(const struct report_input *in, const struct report_opts *o,
				   struct kin_table **ret)
{
	struct kin_table *t = table_new("graph", "Call graph", columns, ARRAY_LEN(columns));
	struct graph_state *s = xalloc(sizeof(*s));

	s->in = *in;
	s->o = o;
	s->table = t;
	s->labels = xalloc((in->graph->n_symbols + in->graph->n_cycles) * sizeof(*s->labels));
	if (in->program)
		s->objects = xalloc(in->profile->n_objects * sizeof(*s->objects));
	table_set_source(t, &source, s);
	report_describe(in, t);
	report_note_hooks(in, t);
	report_note_outside(in, t);
	s->uncounted = in->graph->measured ? report_uncounted(in, o, t) : NULL;
	set_least(s);
	table_show(t, "object", report_has_objects(in, is_in_graph));
	table_show(t, "per_call", in->graph->measured && in->graph->has_arcs);
	if (in->graph->measured)
		note_cycles(s);
	else if (in->graph->has_arcs)
		table_note(t, "times of callers, callees and children are estimated: apportioned "
			      "by call counts");
	else if (in->profile->n_histograms && in->graph->total > 0)
		table_note(t, "no callers are known, as no calls were counted: -pg has to be given "
			      "when compiling, too, not only when linking");

	struct kin_error *err = choose(s);
	if (err) {
		kin_table_free(t);
		return err;
	}
	make_labels(s);
	report_note_subjects(in, o, t);
	*ret = t;
	return NULL;
}

const struct report graph_report = {
	.name = "graph",
	.help = "callers and callees of each function, with the time that each call stands for",
	.run = graph_run,
	.by = REPORT_BY_PART | REPORT_BY_OBJECT,
	.inlines = true,
};
