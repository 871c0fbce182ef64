/* perf_chains.c - call chains below a row, as perf report --stdio draws them: a tree with the share
 * of each branch ("graph", "fractal"), or one chain after another ("flat", "folded"). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/num.h"
#include "perf/perf_page.h"

#define RED   "\033[31m"
#define GREEN "\033[32m"
#define RESET "\033[m"

/* ---- pieces ---- */

char *perf_name(const struct perf_page *p, const char *text)
{
	char *name = escape_copy(text);
	const char *sep = p->o->separator;
	if (sep && *sep && !sep[1])
		for (char *c = name; *c; c++)
			*c = *c == *sep ? '.' : *c;
	return name;
}

/* Converts a share to percent as 100 * part / total would. The share was rounded once, so that 100
 * * share may be 3.4549999999999996 instead of 3.455: rounds this away. */
double perf_percent(double share)
{
	double percent = 100 * share;
	return percent >= 0 && percent < 900 ? (double)(uint64_t)(percent * 1e13 + 0.5) / 1e13
					     : percent;
}

size_t perf_put_percent(struct perf_page *p, double percent, unsigned width)
{
	char buf[NUM_MAX];
	size_t n = num_fixed(buf, percent, 2), pad = n < width ? width - n : 0;
	const char *color = !p->o->color ? NULL : percent >= 5 ? RED : percent > 0.5 ? GREEN : NULL;
	if (color)
		sink_str(&p->s, color);
	sink_pad(&p->s, pad);
	sink_bytes(&p->s, buf, n);
	sink_char(&p->s, '%');
	if (color)
		sink_str(&p->s, RESET);
	return pad + n + 1;
}

static void put_value(struct perf_page *p, const struct perf_hop *h, uint64_t total)
{
	char buf[32];
	bool folded = p->mode == MODE_FOLDED;
	uint64_t sum = folded ? h->hit : h->sum, n = folded ? h->n_hit : h->n_sum;
	if (p->ask->value == VALUE_PERCENT) {
		perf_put_percent(p, total ? (double)sum * 100.0 / (double)total : 0, 0);
		return;
	}
	snprintf(buf, sizeof(buf), "%" PRIu64, p->ask->value == VALUE_COUNT ? n : sum);
	sink_str(&p->s, buf);
}

static void put_margin(struct perf_page *p, size_t margin) { sink_pad(&p->s, 12 + margin); }

/* ---- trees ---- */

static void put_bars(struct perf_page *p, uint32_t depth)
{
	for (uint32_t i = 0; i < depth && i < PERF_MAX_DEPTH; i++)
		sink_str(&p->s, p->open[i] ? "|          " : "           ");
	sink_char(&p->s, '\n');
}

static void put_hop(struct perf_page *p, const struct perf_hop *h, uint32_t depth, bool first,
		    uint64_t total, size_t margin)
{
	put_margin(p, margin);
	for (uint32_t i = 0; i < depth && i < PERF_MAX_DEPTH; i++) {
		sink_char(&p->s, p->open[i] ? '|' : ' ');
		if (first && i == depth - 1) {
			sink_str(&p->s, "--");
			put_value(p, h, total);
			sink_str(&p->s, "--");
		} else {
			sink_str(&p->s, "          ");
		}
	}
	sink_str(&p->s, h->name);
	sink_char(&p->s, '\n');
}

/* The index after the node that begins at i and the hops that are joined with it. */
static size_t node_end(const struct perf_page *p, size_t i)
{
	for (i++; i < p->hops.n && p->hops.at[i].joins; i++)
		;
	return i;
}

struct level {                /* a level of the walk */
	uint64_t total, left; /* base of percentages; the part of it that was not shown yet */
	uint64_t count_left;
	uint32_t shown;
	bool done; /* the print limit was reached */
};

static bool put_rest(struct perf_page *p, const struct level *l, uint32_t depth, size_t margin,
		     bool relative)
{
	struct perf_hop rest = { .name = UNCONST(char *, "[...]"),
				 .sum = l->left,
				 .n_sum = l->count_left };
	if (!relative || !l->left || l->left == l->total || !l->shown)
		return false;
	if (p->ask->value == VALUE_COUNT && !l->count_left)
		return false;
	p->open[depth - 1] = false;
	put_hop(p, &rest, depth, true, l->total, margin);
	return true;
}

/* Prints hops[first ..]. The first of them is at depth `base` of the chains, and printed at level
 * 1. */
static void put_tree(struct perf_page *p, size_t first, uint32_t base, uint64_t total,
		     uint64_t n_total, size_t margin)
{
	bool relative = p->mode == MODE_FRACTAL;
	struct level *levels = xalloc((PERF_MAX_DEPTH + 2) * sizeof(*levels));
	uint32_t depth = 0;
	for (size_t i = first, end; i < p->hops.n; i = end) {
		const struct perf_hop *h = &p->hops.at[i];
		uint32_t at = h->depth - base + 1;
		end = node_end(p, i);
		if (at > PERF_MAX_DEPTH)
			continue;
		for (; depth > at; depth--)
			put_rest(p, &levels[depth], depth, margin, relative);
		if (depth < at) {
			depth = at;
			const struct perf_hop *parent = i > first ? &p->hops.at[i - 1] : NULL;
			bool own = relative && parent;
			levels[at] =
				(struct level){ .total = own ? parent->sum - parent->hit : total,
						.count_left = own ? parent->n_sum - parent->n_hit
								  : n_total };
			levels[at].left = levels[at].total;
		}
		struct level *l = &levels[at];
		if (l->done ||
		    (at > 1 && levels[at - 1].done && levels[at - 1].shown > p->ask->print_limit)) {
			l->done = true; /* nor anything below it */
			l->shown = p->ask->print_limit + 1;
			continue;
		}
		l->left -= h->sum < l->left ? h->sum : l->left;
		l->count_left -= h->n_sum < l->count_left ? h->n_sum : l->count_left;
		p->open[at - 1] = true;
		put_margin(p, margin);
		put_bars(p, at);
		if (h->last && !(relative && l->left))
			p->open[at - 1] = false;
		for (size_t k = i; k < end; k++)
			put_hop(p, &p->hops.at[k], at, k == i, l->total, margin);
		p->open[at] = true;
		if (++l->shown == p->ask->print_limit)
			l->done = true;
	}
	for (; depth; depth--)
		put_rest(p, &levels[depth], depth, margin, relative);
	free(levels);
}

static void mark_last(struct perf_page *p)
{
	size_t *next =
		xalloc((PERF_MAX_DEPTH + 2) * sizeof(*next)); /* [depth]: a sibling follows */
	for (size_t i = p->hops.n; i--;) {
		struct perf_hop *h = &p->hops.at[i];
		if (h->joins || h->depth > PERF_MAX_DEPTH)
			continue;
		h->last = !next[h->depth];
		next[h->depth] = 1;
		for (size_t d = h->depth + 1; d < PERF_MAX_DEPTH + 2 && next[d]; d++)
			next[d] = 0;
	}
	free(next);
}

/* Prints the tree. A single root common to all chains has no percentage. */
static void put_graph(struct perf_page *p, uint64_t row_sum)
{
	size_t first = 0, margin = 0;
	uint32_t printed = 0, base = 1;
	bool relative = p->mode == MODE_FRACTAL, any = false;
	uint64_t total = relative ? row_sum : p->total, n_total = 0;
	if (!p->hops.n)
		return;
	mark_last(p);
	for (size_t i = 0; i < p->hops.n; i++)
		n_total +=
			p->hops.at[i].depth == 1 && !p->hops.at[i].joins ? p->hops.at[i].n_sum : 0;
	if (p->hops.at[0].last && p->hops.at[0].sum == row_sum) {
		first = node_end(p, 0);
		for (size_t i = 0; i < first; i++) {
			if (!i && p->layout->skip_first_hop)
				continue;
			put_margin(p, margin);
			if (!any) {
				sink_str(&p->s, "|\n");
				put_margin(p, margin);
				sink_str(&p->s, "---");
				margin = 3;
				any = true;
			}
			sink_str(&p->s, p->hops.at[i].name);
			sink_char(&p->s, '\n');
			if (++printed == p->ask->print_limit)
				break;
		}
		base = 2;
		n_total = p->hops.at[first - 1].n_sum - p->hops.at[first - 1].n_hit;
	}
	memset(p->open, 0, sizeof(p->open));
	put_tree(p, first, base, total, n_total, margin);
	if (any || first < p->hops.n)
		sink_char(&p->s, '\n');
}

/* ---- whole chains ---- */

static void put_chains(struct perf_page *p)
{
	bool folded = p->mode == MODE_FOLDED;
	const char *sep = p->o->separator ? p->o->separator : ";";
	uint32_t printed = 0;
	for (size_t i = 0, end; i < p->hops.n; i = end) {
		end = node_end(p, i);
		if (!folded)
			sink_str(&p->s, "           ");
		put_value(p, &p->hops.at[end - 1], p->total);
		sink_char(&p->s, folded ? ' ' : '\n');
		for (size_t k = i; k < end; k++) {
			sink_str(&p->s, !folded ? "                " : k > i ? sep : "");
			sink_str(&p->s, p->hops.at[k].name);
			if (!folded)
				sink_char(&p->s, '\n');
		}
		sink_char(&p->s, '\n');
		if (++printed == p->ask->print_limit)
			break;
	}
}

void perf_put_chains(struct perf_page *p, uint64_t row_sum)
{
	if (p->mode == MODE_GRAPH || p->mode == MODE_FRACTAL)
		put_graph(p, row_sum);
	else
		put_chains(p);
	for (size_t i = 0; i < p->hops.n; i++)
		free(p->hops.at[i].name);
	p->hops.n = 0;
}

void perf_keep_hop(struct perf_page *p, const struct kin_row *row)
{
	const struct kin_cell *c = row->cells;
	vec_push(&p->hops, ((struct perf_hop){ .name = escape_copy(c[p->tree].text),
					       .depth = row->depth,
					       .joins = row->kind == KIN_ROW_MEMBER,
					       .sum = c[p->sum].count,
					       .hit = c[p->hit].count,
					       .n_sum = c[p->n_sum].count,
					       .n_hit = c[p->n_hit].count }));
}
