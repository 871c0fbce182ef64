/* report_counts.c - how often each function was called, and each basic block executed, by source
 * line. */
#include <stdlib.h>
#include <string.h>

#include "analysis/coverage.h"
#include "base/sort.h"
#include "report/reports.h"

enum { COUNT, OBJECT, NAME, FILE_NAME, LINE, RECURSIVE, OUTSIDE, SYMBOL, ADDRESS };

static const struct kin_column columns[] = {
	[COUNT] = { "count", "count", "calls of the function, or executions of the block",
		    KIN_CELL_COUNT },
	[NAME] = { "name", "name", "the function", KIN_CELL_TEXT, .tree = true, .function = true },
	[FILE_NAME] = { "file", "file", "the source file, as the debug information names it",
			KIN_CELL_TEXT },
	[LINE] = { "line", "line", "where the function or block starts; empty if that is unknown",
		   KIN_CELL_COUNT },
	[RECURSIVE] = { "recursive", "recursive",
			"calls of the function by itself, which are among the count",
			KIN_CELL_COUNT, .hidden = true },
	[OUTSIDE] = { "outside", "outside",
		      "calls from code that does not belong to the program, which are among the "
		      "count",
		      KIN_CELL_COUNT, .hidden = true },
	[SYMBOL] = { "symbol", "symbol", "the function's name as in the object file", KIN_CELL_TEXT,
		     .hidden = true },
	[ADDRESS] = { "address", "address", "where the code starts", KIN_CELL_ADDRESS,
		      .hidden = true },
	[OBJECT] = { "object", "object", "the object file it is in; shown where there are several",
		     KIN_CELL_TEXT, .hidden = true },
};

static const struct selection everything;

/* ---- order ---- */

static int by_place(const struct symbols *s, symid l, symid r)
{
	const struct symbol *a = &s->at[l], *b = &s->at[r];
	if (!a->file != !b->file)
		return a->file ? -1 : 1;
	int files = a->file ? strcmp(a->file, b->file) : 0;
	if (files)
		return files;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return ORDER(l, r);
}

/* The merge sort of glibc 2.36's qsort(): rules may compare by a relation that is no order, so the
 * algorithm determines the result. The array is halved, the first half being the smaller one; of
 * equal elements those in the left half come first. Depth: log2(n). */
static void merge_sort(const struct symbols *s, symid *at, size_t n, symid *scratch,
		       int (*compare)(const struct symbols *s, symid l, symid r))
{
	size_t half = n / 2, i = 0, j = half, k = 0;

	if (n < 2)
		return;
	merge_sort(s, at, half, scratch, compare);
	merge_sort(s, at + half, n - half, scratch, compare);
	while (i < half && j < n)
		scratch[k++] = compare(s, at[i], at[j]) <= 0 ? at[i++] : at[j++];
	while (i < half)
		scratch[k++] = at[i++];
	memcpy(at, scratch, k * sizeof(*at)); /* the rest is already in place */
}

static symid *sorted_symbols(const struct report_input *in, const struct report_opts *o, size_t *n)
{
	const struct selection *sel = o->selection ? o->selection : &everything;
	symid *chosen = xrealloc(NULL, in->symbols->n, sizeof(*chosen));
	symid *scratch = xrealloc(NULL, in->symbols->n, sizeof(*scratch));

	*n = 0;
	for (symid i = 0; i < in->symbols->n; i++) {
		symbols_locate(in->symbols, i);
		if (selection_wants(sel, SEL_INCL_EXEC, i))
			chosen[(*n)++] = i;
	}
	merge_sort(in->symbols, chosen, *n, scratch, o->rules ? o->rules->by_place : by_place);
	free(scratch);
	return chosen;
}

/* ---- rows ---- */

static struct kin_cell *add_row(struct kin_table *t, const struct report_input *in, symid id,
				uint64_t addr, uint64_t count, enum kin_row_kind kind)
{
	struct kin_row row = { .kind = kind, .depth = kind == KIN_ROW_MEMBER };
	struct kin_cell *c = table_add_row(t, row);
	const struct symbol *s = &in->symbols->at[id];

	c[COUNT] = cell_count(count);
	c[NAME] = cell_text(symbols_display(in->symbols, id));
	if (s->file)
		c[FILE_NAME] = cell_text(s->file);
	c[LINE] = s->line ? cell_count(s->line) : cell_none();
	c[SYMBOL] = cell_text(s->name);
	c[ADDRESS] = cell_address(addr);
	c[OBJECT] = cell_text(report_object_name(in, id));
	return c;
}

/* The number of calls of a function; false: there is none, or it is not known. Line places are not
 * called, and how often they were executed without a block of their own is not known. If a function
 * was executed without a call from counted code, its number of calls is not known, and is not 0. */
static bool count_calls(const struct callgraph *g, const struct blocks *blocks,
			const bool *on_stacks, symid id, uint64_t *ret)
{
	const struct cg_node *n = &g->nodes[id];
	const struct symbol *s = &g->symbols->at[id];

	if (s->is_line || s->owner != id)
		return false;
	if (__builtin_add_overflow(n->calls, n->self_calls, ret))
		*ret = UINT64_MAX;
	return *ret || !coverage_was_executed(g, blocks, on_stacks, id);
}

static void add_symbol(struct kin_table *t, const struct report_input *in,
		       const struct report_opts *o, const struct blocks *blocks,
		       const bool *on_stacks, symid id)
{
	const struct cg_node *n = &in->graph->nodes[id];
	const struct symbol *s = &in->symbols->at[id];
	uint64_t calls;

	if (!(o->rules ? o->rules->count_calls : count_calls)(in->graph, blocks, on_stacks, id,
							      &calls) ||
	    (!calls && !o->zeroes))
		return;
	struct kin_cell *c = add_row(t, in, id, s->addr, calls, KIN_ROW_FUNCTION);
	if (n->self_calls)
		c[RECURSIVE] = cell_count(n->self_calls);
	if (n->outside_calls)
		c[OUTSIDE] = cell_count(n->outside_calls);
}

/* Adds rows for blocks. If places are functions, the line of each block is looked up. */
static void add_blocks(struct kin_table *t, const struct report_input *in,
		       const struct report_opts *o, const struct blocks *blocks, symid id)
{
	for (uint32_t k = blocks->first[id]; k < blocks->first[id + 1]; k++) {
		const struct block_count *b = &blocks->at[k];
		struct srcloc at;
		if (!b->count && !o->zeroes)
			continue;
		struct kin_cell *c = add_row(t, in, id, b->addr, b->count, KIN_ROW_MEMBER);
		if (!in->symbols->opts.lines && symbols_place(in->symbols, b->addr, &at) &&
		    at.file && at.line) {
			c[FILE_NAME] = cell_text(at.file);
			c[LINE] = cell_count(at.line);
		}
	}
}

static bool is_called(const struct callgraph *g, symid id)
{
	return g->nodes[id].calls || g->nodes[id].self_calls;
}

static struct kin_error *counts_run(const struct report_input *in, const struct report_opts *o,
				    struct kin_table **ret)
{
	struct kin_error *err = report_check_subjects(in, o);
	if (err)
		return err;

	struct kin_table *t = table_new("counts", "Execution counts", columns, ARRAY_LEN(columns));
	struct blocks *blocks =
		blocks_new(report_flat(in), in->symbols, o->rules ? o->rules->blocks : NULL);
	bool *on_stacks = in->program
				  ? coverage_on_stacks(&in->profile->samples,
						       program_places(in->program), in->symbols->n)
				  : NULL;
	size_t n;
	symid *chosen = sorted_symbols(in, o, &n);

	table_property(t, "by_line", cell_count(in->symbols->opts.lines));
	table_property(t, "has_arcs", cell_count(in->graph->has_arcs));
	table_property(t, "has_blocks", cell_count(blocks->n > 0));
	table_show(t, "object", report_has_objects(in, is_called));
	for (size_t i = 0; i < n; i++) {
		if (!report_is_subject(in, o, chosen[i]))
			continue;
		add_symbol(t, in, o, blocks, on_stacks, chosen[i]);
		add_blocks(t, in, o, blocks, chosen[i]);
	}
	if (!report_is_empty(in, t) && !in->graph->has_arcs && !in->profile->n_blocks)
		table_note(t, "The data holds no calls and no block counts, only samples of time.");
	report_note_subjects(in, o, t);
	if (blocks->n_outside)
		table_note(t, "%zu block counts have addresses outside the program, and no row.",
			   blocks->n_outside);
	if (blocks->has_saturated || in->profile->saturated)
		table_note(t, "Some counts were too large for 64 bits; they are shown as the "
			      "largest number.");
	blocks_free(blocks);
	free(on_stacks);
	free(chosen);
	*ret = t;
	return NULL;
}

const struct report counts_report = {
	.name = "counts",
	.help = "calls of each function, and executions of each basic block",
	.run = counts_run,
	.by = REPORT_BY_PART | REPORT_BY_OBJECT,
};
