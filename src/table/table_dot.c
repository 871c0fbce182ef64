/* table_dot.c - a table of callers and callees as a graph for Graphviz's dot.
 *
 * A node for each function with a block of its own, by its index, and for each caller and callee of
 * one. Colour and size of a node tell its share of the total, the width of an arc that of the call.
 * Arcs whose times are estimated are dashed. Members of a cycle are in one box. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map64.h"
#include "base/people_name.h"
#include "base/short_name.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "table/render.h"
#include "table/table_build.h"

enum { NAME_WIDTH = 48 };

struct drawn_node {
	uint64_t index, calls;
	strid name, object;
	double self, time; /* shares of the total; time: NAN if it has no block of its own */
	uint32_t cycle;    /* 0: none */
};

struct drawn_arc {
	uint32_t from, to; /* nodes */
	double time;       /* share of the total */
	uint64_t calls;
};

struct graph {
	struct {
		size_t index, self, children, called, name, object, cycle;
	} column;
	double total;
	struct strtab *texts;
	struct people_names *names;     /* forms for people; NULL: names are whole */
	struct map64 nodes_at, arcs_at; /* by index; by both ends */
	VEC(struct drawn_node) nodes;
	VEC(struct drawn_arc) arcs;
};

static strid text_of(struct graph *g, const struct kin_cell *c)
{
	return c->type == KIN_CELL_TEXT ? strtab_add(g->texts, c->text) : 0;
}

static double share_of(const struct graph *g, const struct kin_cell *c)
{
	return g->total > 0 && c->type == KIN_CELL_TIME ? c->number / g->total : 0;
}

static double whole_share(const struct graph *g, const struct kin_cell *cells)
{
	return share_of(g, &cells[g->column.self]) + share_of(g, &cells[g->column.children]);
}

/* 3 of "3/7", 10 of "3+7". */
static uint64_t calls_in(const struct kin_cell *c)
{
	return c->type == KIN_CELL_COUNT  ? c->count
	       : c->type == KIN_CELL_OF   ? c->pair.a
	       : c->type == KIN_CELL_PLUS ? c->pair.a + c->pair.b
					  : 0;
}

static uint32_t node_of(struct graph *g, const struct kin_cell *cells)
{
	const struct kin_cell *cycle = &cells[g->column.cycle];
	uint32_t *at = map64_at(&g->nodes_at, cells[g->column.index].count);
	if (*at == NONE) {
		*at = (uint32_t)g->nodes.n;
		vec_push(&g->nodes,
			 ((struct drawn_node){ .index = cells[g->column.index].count,
					       .name = text_of(g, &cells[g->column.name]),
					       .object = text_of(g, &cells[g->column.object]),
					       .time = NAN,
					       .cycle = (uint32_t)calls_in(cycle) }));
	}
	return *at;
}

static void add_function(struct graph *g, const struct kin_cell *cells)
{
	uint32_t at = node_of(g, cells);
	struct drawn_node *n = &g->nodes.at[at];
	n->time = whole_share(g, cells);
	n->self = share_of(g, &cells[g->column.self]);
	n->calls = calls_in(&cells[g->column.called]);
	n->object = text_of(g, &cells[g->column.object]);
}

/* A call is in the blocks of both ends, and in each with the same time. */
static void add_arc(struct graph *g, struct drawn_arc a)
{
	uint32_t *at = map64_at(&g->arcs_at, MAP64_PAIR(a.from, a.to));
	if (*at == NONE) {
		*at = (uint32_t)g->arcs.n;
		vec_push(&g->arcs, a);
	}
}

/* Callers stand before the function of their block. Blocks of cycles repeat the arcs of members. */
static void read_rows(struct graph *g, struct kin_table *t)
{
	struct kin_row row;
	VEC(struct drawn_arc) callers = { 0 };
	uint32_t function = NONE;
	for (kin_table_rewind(t); table_next(t, &row);) {
		const struct kin_cell *cells = row.cells;
		if (row.kind == KIN_ROW_CYCLE) {
			callers.n = 0;
			function = NONE;
		}
		bool named = cells[g->column.index].type == KIN_CELL_COUNT; /* not <spontaneous> */
		if (row.kind == KIN_ROW_CYCLE || row.kind == KIN_ROW_MEMBER || !named)
			continue;
		struct drawn_arc a = { NONE, NONE, whole_share(g, cells),
				       calls_in(&cells[g->column.called]) };
		if (row.kind == KIN_ROW_CALLER) {
			a.from = node_of(g, cells);
			vec_push(&callers, a);
		} else if (row.kind == KIN_ROW_FUNCTION) {
			add_function(g, cells);
			function = node_of(g, cells);
			for (size_t i = 0; i < callers.n; i++) {
				callers.at[i].to = function;
				add_arc(g, callers.at[i]);
			}
			callers.n = 0;
		} else if (function != NONE) {
			a.from = function;
			a.to = node_of(g, cells);
			add_arc(g, a);
		}
	}
	vec_free(&callers);
}

/* In a string in double quotes. */
static void put_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			fprintf(out, "\\\\x%02x", (unsigned char)*text);
		else
			fprintf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	}
}

/* The length of the name without " <cycle 1>", which the box says. */
static size_t without_cycle(const struct drawn_node *n, const char *name)
{
	const char *mark = NULL;
	for (const char *next = name; n->cycle && (next = strstr(next, " <cycle ")); next++)
		mark = next;
	return mark ? (size_t)(mark - name) : strlen(name);
}

/* From white over yellow to red. */
static void put_node(const struct graph *g, const struct drawn_node *n, const char *indent,
		     FILE *out)
{
	const char *name = strtab_get(g->texts, n->name), *object = strtab_get(g->texts, n->object);
	bool has_block = !isnan(n->time);
	double heat = has_block ? sqrt(n->time < 1 ? n->time : 1) : 0;
	char *plain = xprintf("%.*s", (int)without_cycle(n, name), name);
	char *shown = short_name(
		g->names ? people_names_in(g->names, plain, *object ? object : NULL) : plain,
		NAME_WIDTH);
	fprintf(out, "%sn%llu [label=\"", indent, (unsigned long long)n->index);
	put_text(shown, out);
	if (has_block)
		fprintf(out, "\\n%.2f%%\\n(%.2f%%)", 100 * n->time, 100 * n->self);
	if (n->calls)
		fprintf(out, "\\n%llu\u00d7", (unsigned long long)n->calls);
	fputs("\", tooltip=\"", out);
	put_text(plain, out);
	if (*object) {
		fputs(" in ", out);
		put_text(object, out);
	}
	fprintf(out, "\", fillcolor=\"%.3f %.3f 1.000\", fontsize=%.1f];\n", 0.17 - 0.15 * heat,
		0.9 * heat, 10 + 8 * heat);
	free(shown);
	free(plain);
}

static int compare_cycles(const void *a, const void *b)
{
	const struct drawn_node *const *l = a, *const *r = b;
	return (*l)->cycle != (*r)->cycle  ? ((*l)->cycle < (*r)->cycle ? -1 : 1)
	       : (*l)->index < (*r)->index ? -1
					   : (*l)->index > (*r)->index;
}

static void put_nodes(const struct graph *g, FILE *out)
{
	const struct drawn_node **order = xalloc((g->nodes.n + 1) * sizeof(*order));
	for (size_t i = 0; i < g->nodes.n; i++)
		order[i] = &g->nodes.at[i];
	qsort(order, g->nodes.n, sizeof(*order), compare_cycles);
	for (size_t i = 0; i < g->nodes.n; i++) {
		uint32_t cycle = order[i]->cycle;
		if (cycle && (!i || order[i - 1]->cycle != cycle))
			fprintf(out, "\tsubgraph cluster_cycle%u {\n\t\tlabel=\"cycle %u\";\n",
				cycle, cycle);
		put_node(g, order[i], cycle ? "\t\t" : "\t", out);
		if (cycle && (i + 1 == g->nodes.n || order[i + 1]->cycle != cycle))
			fputs("\t}\n", out);
	}
	free(order);
}

static void put_arcs(const struct graph *g, bool estimated, FILE *out)
{
	for (size_t i = 0; i < g->arcs.n; i++) {
		const struct drawn_arc *a = &g->arcs.at[i];
		double width = a->time < 1 ? a->time : 1;
		fprintf(out, "\tn%llu -> n%llu [label=\"%.2f%%",
			(unsigned long long)g->nodes.at[a->from].index,
			(unsigned long long)g->nodes.at[a->to].index, 100 * a->time);
		if (a->calls)
			fprintf(out, "\\n%llu\u00d7", (unsigned long long)a->calls);
		fprintf(out, "\", penwidth=%.2f, weight=%d%s];\n", 0.5 + 4 * width,
			1 + (int)(100 * width), estimated ? ", style=dashed" : "");
	}
}

static bool find_columns(struct graph *g, struct kin_table *t)
{
	size_t n = kin_table_n_columns(t);
	const struct {
		const char *key;
		size_t *at;
	} wanted[] = {
		{ "index", &g->column.index },       { "self", &g->column.self },
		{ "children", &g->column.children }, { "called", &g->column.called },
		{ "name", &g->column.name },         { "object", &g->column.object },
		{ "cycle", &g->column.cycle },
	};
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		if ((*wanted[i].at = kin_table_find_column(t, wanted[i].key)) >= n)
			return false;
	return true;
}

static struct kin_error *render(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	struct graph g = { 0 };
	const struct kin_cell *total = kin_table_property(t, "total");
	if (!find_columns(&g, t))
		return err_new(KIN_ERROR_USAGE, "dot draws the report graph only");
	g.total = total ? total->number : 0;
	g.texts = strtab_new();
	g.names = o->full_names ? NULL : people_names_new();
	read_rows(&g, t);
	fputs("digraph kin {\n\tgraph [fontname=\"sans-serif\", nodesep=0.15, ranksep=0.35];\n"
	      "\tnode [shape=box, style=filled, fontname=\"sans-serif\", color=\"gray50\"];\n"
	      "\tedge [fontname=\"sans-serif\", fontsize=9, arrowsize=0.6, color=\"gray30\"];\n",
	      out);
	put_nodes(&g, out);
	put_arcs(&g, !kin_table_property(t, "measured"), out);
	fputs("}\n", out);
	people_names_free(g.names);
	strtab_free(g.texts);
	map64_free(&g.nodes_at);
	map64_free(&g.arcs_at);
	vec_free(&g.nodes);
	vec_free(&g.arcs);
	return NULL;
}

const struct renderer dot_renderer = { "dot", "the call graph as input of Graphviz's dot", render };
