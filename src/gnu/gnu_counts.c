/* gnu_counts.c - executions of basic blocks as GNU gprof 2.40 keeps them: only if places are lines;
 * only the first ten addresses of a place, in the order in which they were read, while records of
 * further addresses are lost; with sums that wrap. Also the counts of source lines that result. */
#include "gnu/gnu_counts.h"

#include "gnu/rules.h"

enum { BLOCKS_PER_PLACE = 10 };

/* ---- counts of places ---- */

/* Adds up the counts of equal addresses. A slot with address 0 is free: the count of a block there
 * goes to the next block of the place, and is not shown. */
static size_t sum(struct blocks *b, struct block_count *at, size_t n)
{
	(void)b;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;
		while (k < kept && at[k].addr && at[k].addr != at[i].addr)
			k++;
		if (k < kept)
			at[k] = (struct block_count){ at[i].addr, at[k].count + at[i].count };
		else if (kept < BLOCKS_PER_PLACE)
			at[kept++] = at[i];
	}
	return kept && !at[kept - 1].addr ? kept - 1 : kept;
}

const struct block_rules gnu_block_rules = { .of_lines = true, .sum = sum };

/* ---- counts of lines ---- */

/* Counts lines only by calls of their places, without recursion. */
static void count_lines(struct coverage *c)
{
	for (size_t i = 0; i < c->n_lines; i++) {
		struct coverage_line *l = &c->lines[i];
		for (uint32_t k = 0; k < l->n_places; k++) {
			const struct cg_node *n = &c->graph->nodes[c->places[l->first_place + k]];
			l->total += n->calls;
			l->calls += n->calls;
			l->self += n->self;
		}
	}
}

/* A line represents its first place: blocks of its other places are lost, and their calls are added
 * to its own (and are shown only if it is a function). `last` is the count before the line. */
static void list_line(struct coverage *c, struct coverage_line *l, bool carry, uint64_t *last)
{
	symid id = c->places[l->first_place];
	const struct symbol *s = &c->graph->symbols->at[id];
	const struct block_count *b = c->blocks->at + c->blocks->first[id];
	size_t n = c->blocks->first[id + 1] - c->blocks->first[id];
	uint64_t start = l->n_places > 1 ? 0 : s->addr, shown = UINT64_MAX;

	l->first_count = (uint32_t)c->counts.n;
	if (s->is_function)
		*last = l->total;
	if (s->is_function || (carry && n && b[0].addr > start)) {
		vec_push(&c->counts, *last);
		l->sum = shown = *last;
	}
	for (size_t i = 0; i < n; i++) {
		*last = b[i].count;
		l->sum += *last;
		if (carry && *last == shown)
			continue;
		vec_push(&c->counts, *last);
		shown = *last;
	}
	if (carry && c->counts.n == l->first_count) {
		vec_push(&c->counts, *last);
		l->sum = *last;
	}
	l->n_counts = (uint32_t)(c->counts.n - l->first_count);
	l->is_known = l->is_executed = l->n_counts > 0;
}

void counts_list(struct coverage *c, struct coverage_file *f, uint32_t last_line, bool carry,
		 uint64_t *last)
{
	for (uint32_t i = 0; i < f->n_lines; i++) {
		struct coverage_line *l = &c->lines[f->first_line + i];
		if (l->line > last_line)
			break;
		list_line(c, l, carry, last);
	}
}

const struct coverage_rules gnu_coverage_rules = { .blocks = &gnu_block_rules,
						   .count = count_lines };
