/* rows.c - the rows of reports as GNU gprof 2.40 has them. */
#include <string.h>

#include "base/sort.h"
#include "gnu/rules.h"
#include "report/reports.h"

/* Symbols without a file are compared with all others by address. That is no consistent order, so
 * the result depends on the sorting algorithm. */
static int by_place(const struct symbols *s, symid l, symid r)
{
	const struct symbol *a = &s->at[l], *b = &s->at[r];
	if (a->file && b->file) {
		int files = strcmp(a->file, b->file);
		if (files)
			return files;
		if (a->line != b->line)
			return (int)(a->line - b->line);
	}
	return ORDER(a->addr, b->addr);
}

/* Counts calls of lines as well, without recursion. */
static bool count_calls(const struct callgraph *g, const struct blocks *blocks,
			const bool *on_stacks, symid id, uint64_t *ret)
{
	(void)blocks;
	(void)on_stacks;
	*ret = g->nodes[id].calls;
	return true;
}

const struct report_rules gnu_report_rules = {
	.no_cycles_by_line = true,
	.blocks = &gnu_block_rules,
	.by_place = by_place,
	.count_calls = count_calls,
};
