/* report_order.c - functions in the order in which a linker should place them (analysis/cluster.h),
 * in the format that the linker reads:
 *
 *	list	symbols, one per line
 *	ld.lld	the same: --symbol-ordering-file=FILE
 *	gold	input sections: --section-ordering-file=FILE
 *	mold	options that make and order output sections, as a response file: @FILE
 *
 * The program must have been compiled with -ffunction-sections, so that each function has its own
 * section. Functions of libraries and of the kernel, and code without a symbol, cannot be ordered
 * and are left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cluster.h"
#include "base/err.h"
#include "base/escape.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/strtab.h"
#include "report/reports.h"

enum { NAME, CLUSTER, DENSITY, HEAT, CALLS, SELF, SIZE, ADDRESS, SYMBOL, SECTION, ENTRY };

static const struct kin_column columns[] = {
	[NAME] = { "name", "name", "the function", KIN_CELL_TEXT },
	[CLUSTER] = { "cluster", "cluster", "functions that belong together share it; from 1",
		      KIN_CELL_COUNT },
	[DENSITY] = { "density", "density", "heat of the cluster per KiB of its code",
		      KIN_CELL_NUMBER },
	[HEAT] = { "heat", "heat", "share of the time and of the calls, mean of both",
		   KIN_CELL_SHARE },
	[CALLS] = { "calls", "calls", "how often it was called, not counting direct recursion",
		    KIN_CELL_COUNT },
	[SELF] = { "self", "self", "time in the function's own code, seconds", KIN_CELL_TIME },
	[SIZE] = { "size", "size", "bytes of code", KIN_CELL_COUNT },
	[ADDRESS] = { "address", "address", "where its code starts now", KIN_CELL_ADDRESS,
		      .hidden = true },
	[SYMBOL] = { "symbol", "symbol", "its name as in the object file", KIN_CELL_TEXT,
		     .hidden = true },
	[SECTION] = { "section", "section", "its input section under -ffunction-sections",
		      KIN_CELL_TEXT, .hidden = true },
	[ENTRY] = { "entry", "entry", "what to write into the linker's file; may be several lines",
		    KIN_CELL_TEXT, .hidden = true },
};

enum { FUNCTION_ALIGN = 16 };

/* ---- formats of linkers ---- */

struct order_layout {
	const char *name;
	bool sections;        /* names of sections, not of symbols */
	const char *unwanted; /* characters with a special meaning in the linker's file */
	const char *before, *after;
};

static const struct order_layout layouts[] = {
	{ "list", false, "", NULL, NULL },
	{ "ld.lld", false, "#", NULL, NULL },
	{ "gold", true, "*?[\\{}", NULL, NULL },
	/* mold can only order output sections, not functions: give each function an output
	 * section. */
	{ "mold", true, "\"'\\*?[", "--unique=.text.*\n--section-order=\"EHDR PHDR RODATA\n",
	  "TEXT DATA BSS\"\n" },
};

static struct kin_error *find_layout(const char *name, const struct order_layout **ret)
{
	for (size_t i = 0; i < ARRAY_LEN(layouts); i++) {
		if (!name || !strcmp(layouts[i].name, name)) {
			*ret = &layouts[i];
			return NULL;
		}
	}
	return err_new(KIN_ERROR_USAGE,
		       "no order for '%s' is known: use one of ld.lld, gold, mold, list", name);
}

/* Whether the linker's file can contain the name. Symbol names may have any bytes, so names that
 * could harm a terminal are excluded as well. */
static bool can_write(const struct order_layout *layout, const char *symbol)
{
	return *symbol && escape_is_plain(symbol) && !strchr(symbol, ' ') &&
	       !symbol[strcspn(symbol, layout->unwanted)];
}

/* The sections in which gcc and clang may have put a function. Optimised builds have separate
 * sections for main and code that runs before it, and for functions known to be hot. The linked
 * file does not tell which one was used. */
static const char *sections_of(struct kin_table *t, const char *symbol)
{
	bool at_start = !strcmp(symbol, "main") || !strncmp(symbol, "_GLOBAL__", 9);
	char *text = xprintf(".text.%s\n.text.%s.%s", symbol, at_start ? "startup" : "hot", symbol);
	const char *copy = table_text(t, text);
	free(text);
	return copy;
}

static const char *section_of(struct kin_table *t, const char *symbol)
{
	char *text = xprintf(".text.%s", symbol);
	const char *copy = table_text(t, text);
	free(text);
	return copy;
}

/* ---- the graph for the clustering ---- */

struct order_problem {
	struct cluster_node *nodes;
	struct cluster_arc *arcs;
	uint64_t *addr;
	bool *movable;
	size_t n, n_arcs;
	bool counted; /* arcs are weighted by calls; otherwise by samples that have the arc on their
			 stack */
};

/* Whether the linker made the function: it is in no section that could be moved. */
static bool is_stub(const struct symbol *s)
{
	size_t n = strlen(s->name);
	return n > 4 && !strcmp(s->name + n - 4, "@plt");
}

/* Whether the function belongs to the program that is linked, not to a library or the kernel. */
static bool is_of_program(const struct report_input *in, symid id)
{
	const struct profile *p = in->profile;
	if (!in->program)
		return true;
	enum place_kind kind = program_kind(in->program, id);
	const struct object *o = &p->objects[program_object(in->program, id)];
	if ((kind != PLACE_SYMBOL && kind != PLACE_NAMED) || o->kind != OBJECT_ELF)
		return false;
	for (objid i = 0; i < p->n_objects; i++)
		if (p->objects[i].is_main)
			return o->is_main;
	return !strstr(strtab_get(p->strings, o->path), ".so"); /* text data tells no more */
}

/* Whether a linker can place it: it has a name, and code of its own. */
static bool is_movable(const struct report_input *in, symid id)
{
	const struct symbol *s = &in->symbols->at[id];
	return !s->is_nameless && !is_stub(s) && is_of_program(in, id);
}

static void describe_nodes(struct order_problem *p, const struct report_input *in)
{
	const struct callgraph *g = in->graph;
	double ticks = 0, calls = 0;
	for (size_t i = 0; i < p->n; i++) {
		if (!p->movable[i])
			continue;
		ticks += g->nodes[i].self;
		calls += (double)g->nodes[i].calls;
	}
	for (size_t i = 0; i < p->n; i++) {
		const struct symbol *s = &g->symbols->at[i];
		bool both = ticks > 0 && calls > 0, moves = p->movable[i];
		double time_share = ticks > 0 && moves ? g->nodes[i].self / ticks : 0;
		double call_share = calls > 0 && moves ? (double)g->nodes[i].calls / calls : 0;
		p->nodes[i].size = s->end - s->addr;
		p->nodes[i].heat = (time_share + call_share) / (both ? 2 : 1);
		p->addr[i] = s->addr;
	}
}

/* Adds arcs with a weight: the number of calls or, if calls were not counted, of samples. A
 * function should follow the caller with the largest weight. */
static void describe_arcs(struct order_problem *p, const struct callgraph *g)
{
	for (size_t i = 0; i < g->n_arcs && !p->counted; i++)
		p->counted = g->arcs[i].count;
	for (size_t i = 0; i < g->n_arcs; i++) {
		const struct cg_arc *a = &g->arcs[i];
		uint64_t weight = p->counted || !g->measured ? a->count : g->measured[i].samples;
		if (p->movable[a->from] && p->movable[a->to])
			p->arcs[p->n_arcs++] = (struct cluster_arc){ a->from, a->to, weight };
	}
}

static struct order_problem problem_of(const struct report_input *in)
{
	const struct callgraph *g = in->graph;
	struct order_problem p = {
		.nodes = xrealloc(NULL, g->n_symbols + 1, sizeof(*p.nodes)),
		.arcs = xrealloc(NULL, g->n_arcs + 1, sizeof(*p.arcs)),
		.addr = xrealloc(NULL, g->n_symbols + 1, sizeof(*p.addr)),
		.movable = xalloc(g->n_symbols + 1),
		.n = g->n_symbols,
	};
	for (size_t i = 0; i < p.n; i++)
		p.movable[i] = is_movable(in, (symid)i);
	describe_nodes(&p, in);
	describe_arcs(&p, g);
	return p;
}

static void problem_free(struct order_problem *p)
{
	free(p->nodes);
	free(p->arcs);
	free(p->addr);
	free(p->movable);
}

/* ---- gain ---- */

/* Gives functions the addresses of the new order, aligned as compilers do. */
static void rearrange(struct order_problem *p, const struct clustering *c)
{
	uint64_t at = 0;
	for (size_t i = 0; i < c->n; i++) {
		uint64_t next = at + p->nodes[c->order[i]].size + FUNCTION_ALIGN - 1;
		p->addr[c->order[i]] = at;
		at = next < at ? UINT64_MAX : next / FUNCTION_ALIGN * FUNCTION_ALIGN;
	}
}

static void describe_gain(struct kin_table *t, struct order_problem *p, const struct clustering *c)
{
	struct locality before =
		cluster_locality(p->nodes, p->addr, p->n, p->arcs, p->n_arcs, CLUSTER_PAGE);
	rearrange(p, c);
	struct locality after =
		cluster_locality(p->nodes, p->addr, p->n, p->arcs, p->n_arcs, CLUSTER_PAGE);

	table_property(t, "clusters", cell_count(c->n_clusters));
	table_property(t, "call_distance_before", cell_number(before.distance));
	table_property(t, "call_distance_after", cell_number(after.distance));
	table_property(t, "page_changes_before", cell_share(before.page_change));
	table_property(t, "page_changes_after", cell_share(after.page_change));
	table_property(t, "hot_pages_before", cell_count(before.pages));
	table_property(t, "hot_pages_after", cell_count(after.pages));
	if (p->counted)
		table_note(t,
			   "In this order a call leads %.0f bytes far on average (now %.0f), "
			   "%.1f%% of calls to another page (now %.1f%%)",
			   after.distance, before.distance, 100 * after.page_change,
			   100 * before.page_change);
	table_note(t, "Hot code (90%% of heat) spans %llu page%s of 4 KiB in this order, %llu now",
		   (unsigned long long)after.pages, after.pages == 1 ? "" : "s",
		   (unsigned long long)before.pages);
}

/* ---- other names of the functions ---- */

/* Another name of a function. A compiler names a function's section after one of its names, which
 * need not be the one that is shown: for the D1 and D2 of a destructor it is D2. */
struct order_alias {
	symid id;
	const char *name; /* owned by the table */
};
typedef VEC(struct order_alias) alias_list;

struct alias_listing {
	struct kin_table *table;
	const bool *movable;
	alias_list *to;
};

static void add_alias(void *arg, symid id, const char *name)
{
	struct alias_listing *l = arg;
	if (l->movable[id] && !strchr(name, '@'))
		vec_push(l->to, ((struct order_alias){ id, table_text(l->table, name) }));
}

static int by_function(const void *l, const void *r)
{
	const struct order_alias *a = l, *b = r;
	return a->id != b->id ? ORDER(a->id, b->id) : strcmp(a->name, b->name);
}

static alias_list list_aliases(const struct report_input *in, const struct order_problem *p,
			       struct kin_table *t)
{
	alias_list aliases = { 0 };
	struct alias_listing l = { t, p->movable, &aliases };
	symbols_for_each_alias(in->symbols, add_alias, &l);
	if (aliases.n)
		qsort(aliases.at, aliases.n, sizeof(*aliases.at), by_function);
	return aliases;
}

/* The index of the function's first alias, or of where it would be. */
static size_t first_alias(const alias_list *aliases, symid id)
{
	return COUNT_WHILE(aliases->n, i, aliases->at[i].id < id);
}

/* ---- rows ---- */

struct order_listing {
	const struct report_input *in;
	const struct report_opts *o;
	const struct order_layout *layout;
	const struct order_problem *problem;
	struct kin_table *table;
	struct strtab *written; /* names written so far: linkers complain about duplicates */
	struct strtab *names;   /* names of all functions of the program: the first n_names */
	size_t n_names, unwritable, clones;
	alias_list aliases; /* other names of functions, if the layout has sections */
};

/* The length of a name without the suffixes of clones that the compiler made ("f.part.0",
 * "f.constprop.0.isra.0"). Suffixes of cold pieces are kept: cold pieces are parts of their
 * functions. */
static size_t without_clone(const char *name)
{
	static const char *const kinds[] = { ".part.",     ".constprop.", ".isra.",
					     ".lto_priv.", ".localalias", ".llvm." };
	size_t n = strlen(name);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const char *at = strstr(name, kinds[i]);
		if (at && at > name && (size_t)(at - name) < n)
			n = (size_t)(at - name);
	}
	return n;
}

/* The function's name in the program to be linked; NULL: it may have none. Calls were counted in a
 * special build, whose clones need not exist in another build. */
static const char *linked_name(struct order_listing *l, const char *symbol)
{
	size_t n = without_clone(symbol);
	if (!symbol[n] || !l->in->profile->n_arcs)
		return symbol;
	if (strtab_addn(l->names, symbol, n) >= l->n_names) {
		l->clones++;
		return NULL;
	}
	char *name = xprintf("%.*s", (int)n, symbol);
	const char *copy = table_text(l->table, name);
	free(name);
	return copy;
}

/* The line for the function in the linker's file; NULL if there is none, or it was written
 * already. */
static const char *entry(struct order_listing *l, const char *symbol)
{
	symbol = linked_name(l, symbol);
	if (!symbol)
		return NULL;
	if (!can_write(l->layout, symbol)) {
		l->unwritable++;
		return NULL;
	}
	size_t known = strtab_count(l->written);
	strtab_add(l->written, symbol);
	if (strtab_count(l->written) == known)
		return NULL;
	return l->layout->sections ? sections_of(l->table, symbol) : symbol;
}

/* The same, together with the lines for the sections that other names of the function would give
 * it. */
static const char *entries(struct order_listing *l, symid id)
{
	const char *all = entry(l, l->in->symbols->at[id].name);
	for (size_t i = first_alias(&l->aliases, id); i < l->aliases.n && l->aliases.at[i].id == id;
	     i++) {
		const char *name = l->aliases.at[i].name;
		const char *more = can_write(l->layout, name) && !name[without_clone(name)]
					   ? entry(l, name)
					   : NULL;
		if (!more)
			continue;
		char *both = all ? xprintf("%s\n%s", all, more) : NULL;
		all = both ? table_text(l->table, both) : more;
		free(both);
	}
	return all;
}

static void add_row(struct order_listing *l, symid id, const struct clustering *c, uint32_t cluster)
{
	const struct cg_node *n = &l->in->graph->nodes[id];
	const struct symbol *s = &l->in->symbols->at[id];
	const struct cluster_node *node = &l->problem->nodes[id];
	struct kin_cell *cells = table_add_row(l->table, (struct kin_row){ .kind = KIN_ROW_PLAIN });
	const char *line = entries(l, id);

	cells[NAME] = cell_text(report_symbol_name(l->in, l->o, id, l->table));
	cells[CLUSTER] = cell_count((uint64_t)cluster + 1);
	cells[DENSITY] = cell_number(c->density[cluster] * 1024);
	cells[HEAT] = cell_share(node->heat);
	cells[CALLS] = cell_count(n->calls);
	cells[SELF] = cell_time(n->self);
	cells[SIZE] = cell_count(node->size);
	cells[ADDRESS] = cell_address(s->addr);
	cells[SYMBOL] = cell_text(s->name);
	cells[SECTION] = cell_text(section_of(l->table, s->name));
	if (line)
		cells[ENTRY] = cell_text(line);
}

/* *ret: [n_symbols], the requested functions; NULL: all. To be freed. */
static struct kin_error *choose(const struct report_input *in, const struct report_opts *o,
				bool **ret)
{
	*ret = NULL;
	if (!o->subjects || !o->subjects[0])
		return NULL;
	bool *chosen = xalloc(in->graph->n_symbols + 1);
	for (size_t k = 0; o->subjects[k]; k++) {
		size_t n;
		symid *named = report_symbols_named(in->symbols, o->subjects[k], &n);
		for (size_t i = 0; i < n; i++)
			chosen[named[i]] = true;
		free(named);
		if (!n) {
			free(chosen);
			return report_no_function(in, o->subjects[k], "in the profile");
		}
	}
	*ret = chosen;
	return NULL;
}

static void add_rows(struct order_listing *l, const struct clustering *c, const bool *chosen)
{
	for (size_t i = 0; i < c->n; i++) {
		symid id = c->order[i];
		if ((!chosen || chosen[id]) && l->problem->nodes[id].heat >= l->o->min_share)
			add_row(l, id, c, c->cluster[i]);
	}
	if (l->unwritable)
		table_note(
			l->table,
			"%zu functions have names that a file for %s cannot hold: left out there",
			l->unwritable, l->layout->name);
	if (l->clones)
		table_note(
			l->table,
			"%zu clones of functions that the counted build has no other code of are "
			"left out of the file: another build may not have them",
			l->clones);
}

static struct kin_error *order_run(const struct report_input *in, const struct report_opts *o,
				   struct kin_table **ret)
{
	const struct order_layout *layout = NULL;
	bool *chosen = NULL;
	struct kin_error *err = find_layout(o->layout, &layout);
	if (err || (err = choose(in, o, &chosen)))
		return err;

	struct kin_table *t = table_new("order", "Function order", columns, ARRAY_LEN(columns));
	struct order_problem p = problem_of(in);
	struct clustering *c = cluster_new(p.nodes, p.n, p.arcs, p.n_arcs, CLUSTER_PAGE);
	struct order_listing l = { .in = in, .o = o, .layout = layout, .problem = &p, .table = t };

	report_describe(in, t);
	table_property(t, "layout", cell_text(layout->name));
	if (layout->before)
		table_property(t, "before", cell_text(layout->before));
	if (layout->after)
		table_property(t, "after", cell_text(layout->after));
	describe_gain(t, &p, c);
	l.written = strtab_new();
	l.names = strtab_new();
	for (size_t i = 0; i < p.n; i++)
		if (p.movable[i])
			strtab_add(l.names, in->symbols->at[i].name);
	l.n_names = strtab_count(l.names);
	if (layout->sections)
		l.aliases = list_aliases(in, &p, t);
	add_rows(&l, c, chosen);
	vec_free(&l.aliases);
	strtab_free(l.written);
	strtab_free(l.names);
	cluster_free(c);
	problem_free(&p);
	free(chosen);
	*ret = t;
	return NULL;
}

const struct report order_report = {
	.name = "order",
	.help = "an order for the linker: callers beside callees, hot code together",
	.run = order_run,
};
