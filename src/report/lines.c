/* lines.c - time per source line of a function, and calls of functions by where they start. */
#include <stdlib.h>
#include <string.h>

#include "analysis/coverage.h"
#include "report/report.h"

enum { SHARE, SELF, CALLS, COUNT, FILE_NAME, LINE, NAME, PATH, SYMBOL, ADDRESS };

static const struct kin_column columns[] = {
	[SHARE] = { "share", "% time", "the line's time as a share of the total", KIN_CELL_SHARE,
		    false, false },
	[SELF] = { "self", "self", "time in the line's code, seconds", KIN_CELL_TIME, false,
		   false },
	[CALLS] = { "calls", "calls",
		    "how often the function that starts here was called, + by itself",
		    KIN_CELL_COUNT, false, false },
	[COUNT] = { "count", "count", "how often the most executed block on the line was executed",
		    KIN_CELL_COUNT, false, true },
	[FILE_NAME] = { "file", "file", "the source file", KIN_CELL_TEXT, false, false },
	[LINE] = { "line", "line", "its number in the file", KIN_CELL_COUNT, false, false },
	[NAME] = { "name", "function", "the function the code belongs to", KIN_CELL_TEXT, false,
		   false },
	[PATH] = { "path", "path",
		   "the source file with its folders, as the debug information names it",
		   KIN_CELL_TEXT, false, true },
	[SYMBOL] = { "symbol", "symbol", "the function's name as in the object file", KIN_CELL_TEXT,
		     false, true },
	[ADDRESS] = { "address", "address", "of the first of the line's code", KIN_CELL_ADDRESS,
		      false, true },
};

struct entry { /* the code of one line within one function, wherever it is */
	symid first;
	double self;
	uint64_t calls, self_calls, most;
	bool has_blocks;
};

/* ---- entries ---- */

static int compare_lines(const struct symbols *s, symid l, symid r)
{
	const struct symbol *a = &s->at[l], *b = &s->at[r];
	int files = strcmp(a->file ? a->file : "", b->file ? b->file : "");
	if (files)
		return files;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int by_line(const void *l, const void *r, void *arg)
{
	symid a = *(const symid *)l, b = *(const symid *)r;
	int lines = compare_lines(arg, a, b);
	return lines ? lines : (a > b) - (a < b);
}

static int by_time(const void *l, const void *r, void *arg)
{
	const struct entry *a = l, *b = r;
	uint64_t calls_a = a->calls + a->self_calls, calls_b = b->calls + b->self_calls;
	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->most != b->most)
		return a->most > b->most ? -1 : 1;
	if (calls_a != calls_b)
		return calls_a > calls_b ? -1 : 1;
	int lines = compare_lines(arg, a->first, b->first);
	return lines ? lines : (a->first > b->first) - (a->first < b->first);
}

static void add_place(struct entry *e, const struct callgraph *g, const struct blocks *b, symid id)
{
	e->self += g->nodes[id].self;
	e->calls += g->nodes[id].calls;
	e->self_calls += g->nodes[id].self_calls;
	for (uint32_t k = b->first[id]; k < b->first[id + 1]; k++) {
		e->has_blocks = true;
		e->most = b->at[k].count > e->most ? b->at[k].count : e->most;
	}
}

/* Places without a line are of one entry with no other. */
static bool same_entry(const struct symbols *s, symid a, symid b)
{
	return s->at[a].file && s->at[b].file && !compare_lines(s, a, b);
}

static struct entry *gather(const struct report_input *in, const struct report_opts *o,
			    const struct blocks *blocks, size_t *n)
{
	static const struct selection everything;
	const struct selection *sel = o->selection ? o->selection : &everything;
	struct symbols *s = in->symbols;
	symid *places = xrealloc(NULL, s->n, sizeof(*places));
	struct entry *entries = xrealloc(NULL, s->n, sizeof(*entries));
	size_t n_places = 0;

	for (symid i = 0; i < s->n; i++) {
		symbols_locate(s, i);
		if (selection_wants(sel, SEL_INCL_FLAT, i) && report_is_subject(in, o, i))
			places[n_places++] = i;
	}
	qsort_r(places, n_places, sizeof(*places), by_line, s);
	*n = 0;
	for (size_t i = 0; i < n_places; i++) {
		if (!i || !same_entry(s, places[i - 1], places[i]))
			entries[(*n)++] = (struct entry){ .first = places[i] };
		add_place(&entries[*n - 1], in->graph, blocks, places[i]);
	}
	free(places);
	return entries;
}

/* ---- rows ---- */

static bool is_shown(const struct entry *e, const struct report_opts *o, double total)
{
	if (o->min_share > 0 && e->self < o->min_share * total)
		return false;
	return o->zeroes || e->self > 0 || e->calls || e->self_calls;
}

static void add_row(struct kin_table *t, const struct report_input *in, const struct report_opts *o,
		    const struct entry *e)
{
	struct kin_cell *c = table_add_row(t, (struct kin_row){ .kind = KIN_ROW_PLAIN });
	const struct symbol *s = &in->symbols->at[e->first];

	c[SHARE] = cell_share(in->graph->total > 0 ? e->self / in->graph->total : 0);
	c[SELF] = cell_time(e->self);
	if (e->self_calls)
		c[CALLS] = cell_plus(e->calls, e->self_calls);
	else if (e->calls)
		c[CALLS] = cell_count(e->calls);
	if (e->has_blocks)
		c[COUNT] = cell_count(e->most);
	if (s->file) {
		c[FILE_NAME] = cell_text(report_file_name(o, s->file));
		c[PATH] = cell_text(s->file);
		c[LINE] = cell_count(s->line);
	}
	c[NAME] = cell_text(symbols_display(in->symbols, e->first));
	c[SYMBOL] = cell_text(s->name);
	c[ADDRESS] = cell_address(s->addr);
}

static struct kin_error *run(const struct report_input *in, const struct report_opts *o,
			     struct kin_table **ret)
{
	struct kin_error *err = report_check_subjects(in, o);
	if (err)
		return err;

	struct kin_table *t = table_new("lines", "Source lines", columns, ARRAY_LEN(columns));
	struct blocks *blocks = blocks_new(in->profile, in->symbols, o->gnu);
	size_t n;
	struct entry *entries = gather(in, o, blocks, &n);

	report_describe(in, t);
	qsort_r(entries, n, sizeof(*entries), by_time, in->symbols);
	for (size_t i = 0; i < n; i++)
		if (is_shown(&entries[i], o, in->graph->total))
			add_row(t, in, o, &entries[i]);
	if (!symbols_has_lines(in->symbols))
		table_note(t, "%s has no line information: build it with -g to see lines.",
			   symbols_path(in->symbols));
	if (in->graph->outside > 0)
		table_note(t, "%.2f %s fell on code without a symbol and are in no row.",
			   in->graph->outside / in->graph->rate, in->graph->dimension);
	free(entries);
	blocks_free(blocks);
	*ret = t;
	return NULL;
}

const struct report lines_report = { "lines", "time per source line", true, false, run };
