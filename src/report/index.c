/* index.c - all functions by name, then the cycles, with their numbers in the call graph. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

enum { INDEX, NAME, FILE_NAME, LISTED, SYMBOL };

static const struct kin_column columns[] = {
	[INDEX] = { "index", "index", "number in the call graph", KIN_CELL_COUNT, false, false },
	[NAME] = { "name", "name", "the function", KIN_CELL_TEXT, false, false },
	[FILE_NAME] = { "file", "file", "source file of a static function", KIN_CELL_TEXT, false, false },
	[LISTED] = { "listed", "listed", "1 if it has an entry of its own in the call graph", KIN_CELL_COUNT, false, true },
	[SYMBOL] = { "symbol", "symbol", "its name as in the object file", KIN_CELL_TEXT, false, true },
};

static int by_name(const void *l, const void *r, void *arg)
{
	const struct symbols *s = arg;
	symid a = *(const symid *)l, b = *(const symid *)r;
	int names = strcmp(s->at[a].name, s->at[b].name);
	return names ? names : (a > b) - (a < b);
}

static void add_function(struct kin_table *t, const struct report_input *in,
			 const struct report_opts *o, symid id)
{
	const struct cg_node *n = &in->graph->nodes[id];
	struct kin_cell *c = table_add_row(t, (struct kin_row){ .kind = KIN_ROW_PLAIN });

	c[INDEX] = cell_count(n->index);
	c[NAME] = cell_text(report_symbol_name(in, o, id, t));
	c[LISTED] = cell_count(n->shown);
	c[SYMBOL] = cell_text(in->symbols->at[id].name);
	if (in->symbols->at[id].is_static && !in->symbols->opts.lines) {
		const char *file = symbols_locate(in->symbols, id)->file;
		if (file)
			c[FILE_NAME] = cell_text(report_file_name(o, file));
	}
}

static void add_cycle(struct kin_table *t, const struct cg_node *cycle)
{
	char name[32];
	struct kin_cell *c = table_add_row(t, (struct kin_row){ .kind = KIN_ROW_CYCLE });

	snprintf(name, sizeof(name), "<cycle %u>", cycle->cycle);
	c[INDEX] = cell_count(cycle->index);
	c[NAME] = c[SYMBOL] = cell_text(table_text(t, name));
	c[LISTED] = cell_count(cycle->shown);
}

static struct kin_error *run(const struct report_input *in, const struct report_opts *o,
			     struct kin_table **ret)
{
	const struct callgraph *g = in->graph;
	struct kin_table *t = table_new("index", "Index by function name", columns, ARRAY_LEN(columns));
	symid *chosen = xrealloc(NULL, g->n_symbols, sizeof(*chosen));
	size_t n = 0;

	for (symid i = 0; i < g->n_symbols; i++)
		if ((o->zeroes || g->nodes[i].calls || g->nodes[i].self != 0) && in->symbols->at[i].owner == i)
			chosen[n++] = i;
	qsort_r(chosen, n, sizeof(*chosen), by_name, in->symbols);
	for (size_t i = 0; i < n; i++)
		add_function(t, in, o, chosen[i]);
	for (size_t i = 0; i < g->n_cycles; i++)
		add_cycle(t, &g->nodes[g->n_symbols + i]);
	free(chosen);
	*ret = t;
	return NULL;
}

const struct report index_report = { "index", "functions by name, with their numbers in the call graph", false, run };
