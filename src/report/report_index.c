/* report_index.c - all functions by name, then the cycles, with their numbers in the call graph. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "report/reports.h"

enum { INDEX, NAME, FILE_NAME, LISTED, SYMBOL, N_COLUMNS };

static const struct kin_column columns[] = {
	[INDEX] = { "index", "index", "number in the call graph", KIN_CELL_COUNT },
	[NAME] = { "name", "name", "the function", KIN_CELL_TEXT, .function = true },
	[FILE_NAME] = { "file", "file", "source file of a static function", KIN_CELL_TEXT },
	[LISTED] = { "listed", "listed", "1 if it has an entry of its own in the call graph",
		     KIN_CELL_COUNT, .hidden = true },
	[SYMBOL] = { "symbol", "symbol", "its name as in the object file", KIN_CELL_TEXT,
		     .hidden = true },
};

/* ---- rows, made as they are read: first the functions, then the cycles ---- */

struct index_state {
	struct report_input in;
	const struct report_opts *o;
	struct kin_table *table;
	symid *functions;
	size_t n_functions, next;
	struct kin_cell cells[N_COLUMNS];
};

static void set_function(struct index_state *s, symid id)
{
	const struct cg_node *n = &s->in.graph->nodes[id];
	const struct symbol *symbol = &s->in.symbols->at[id];
	const char *file = NULL;

	if (symbol->is_static && !s->in.symbols->opts.lines)
		file = symbols_locate(s->in.symbols, id)->file;
	s->cells[INDEX] = cell_count(n->index);
	s->cells[NAME] = cell_text(report_symbol_name(&s->in, s->o, id, s->table));
	s->cells[FILE_NAME] = file ? cell_text(report_file_name(s->o, file)) : cell_none();
	s->cells[LISTED] = cell_count(n->shown);
	s->cells[SYMBOL] = cell_text(symbol->name);
}

static void set_cycle(struct index_state *s, const struct cg_node *cycle)
{
	char name[32];

	snprintf(name, sizeof(name), "<cycle %u>", cycle->cycle);
	s->cells[INDEX] = cell_count(cycle->index);
	s->cells[NAME] = s->cells[SYMBOL] = cell_text(table_text(s->table, name));
	s->cells[FILE_NAME] = cell_none();
	s->cells[LISTED] = cell_count(cycle->shown);
}

/* The next functions are anywhere in memory. */
static void prefetch(const struct index_state *s)
{
	enum { NAME_AHEAD = 8, AHEAD = 16 };
	if (s->next + AHEAD >= s->n_functions)
		return;
	symid id = s->functions[s->next + AHEAD];
	const struct cg_node *n = &s->in.graph->nodes[id];
	prefetch_line(&n->index);
	symbols_prefetch_display(s->in.symbols, id);
	symbols_prefetch_text(s->in.symbols, s->functions[s->next + NAME_AHEAD]);
}

static bool next(void *state, struct kin_row *row)
{
	struct index_state *s = state;
	const struct callgraph *g = s->in.graph;
	size_t i = s->next;

	if (i == s->n_functions + g->n_cycles)
		return false;
	prefetch(s);
	s->next++;
	if (i < s->n_functions)
		set_function(s, s->functions[i]);
	else
		set_cycle(s, &g->nodes[g->n_symbols + i - s->n_functions]);
	*row = (struct kin_row){ .kind = i < s->n_functions ? KIN_ROW_PLAIN : KIN_ROW_CYCLE,
				 .cells = s->cells };
	return true;
}

static void rewind_rows(void *state) { ((struct index_state *)state)->next = 0; }

static void free_state(void *state)
{
	struct index_state *s = state;
	free(s->functions);
	free(s);
}

static const struct table_source source = { rewind_rows, next, free_state };

static void choose(struct index_state *s)
{
	const struct callgraph *g = s->in.graph;
	struct sort_name *names = xrealloc(NULL, g->n_symbols, sizeof(*names));
	size_t n = 0;

	for (symid i = 0; i < g->n_symbols; i++)
		if ((s->o->zeroes || g->nodes[i].calls || g->nodes[i].self != 0) &&
		    s->in.symbols->at[i].owner == i)
			names[n++] = (struct sort_name){ s->in.symbols->at[i].name, i };
	sort_names(names, n);
	s->functions = xrealloc(NULL, n, sizeof(*s->functions));
	s->n_functions = n;
	for (size_t i = 0; i < n; i++)
		s->functions[i] = names[i].index;
	free(names);
}

static struct kin_error *index_run(const struct report_input *in, const struct report_opts *o,
				   struct kin_table **ret)
{
	struct index_state *s = xalloc(sizeof(*s));

	s->in = *in;
	s->o = o;
	s->table = table_new("index", "Index by function name", columns, ARRAY_LEN(columns));
	choose(s);
	table_set_source(s->table, &source, s);
	*ret = s->table;
	return NULL;
}

const struct report index_report = {
	.name = "index",
	.help = "functions by name, with their numbers in the call graph",
	.run = index_run,
	.inlines = true,
};
