/* credit.c - computes time and calls from a histogram and arcs as GNU gprof 2.40 does.
 *
 * Ticks are credited in units of two bytes. Bins have the first histogram's width. Bin edges are
 * rounded down to units, but the width that credit is divided by is not. The last symbol gets
 * nothing, since its upper end is read from uninitialised memory (zero in a fresh heap). Functions
 * excluded from the flat profile are excluded from the graph, too. */
#include "analysis/callgraph.h"
#include "gnu/rules.h"

/* ---- time ---- */

static double bin_bytes(const struct histogram *first)
{
	return 2 * ((double)((first->high - first->low) / 2) / first->n);
}

static void credit_histogram(struct callgraph *g, const struct profile *p,
			     const struct histogram *h, const struct selection *sel)
{
	(void)p;
	const struct symbols *s = g->symbols;
	double scale = g->bin_bytes / 2;
	uint64_t base = h->low / 2;
	struct hit hit;
	size_t k = 0;

	for (size_t at = 0; histogram_next(h, &at, &hit);) {
		uint32_t bin = hit.bin;
		uint64_t low = base + (uint64_t)(scale * bin);
		uint64_t high = base + (uint64_t)(scale * ((uint64_t)bin + 1));
		double count = (double)hit.count;
		g->total += count;
		while (k + 1 < s->n && s->at[k + 1].addr / 2 <= low)
			k++;
		for (size_t j = k; j + 1 < s->n && s->at[j].addr / 2 <= high; j++) {
			uint64_t from = s->at[j].addr / 2, to = s->at[j + 1].addr / 2;
			if (from < low)
				from = low;
			if (to > high)
				to = high;
			if (to <= from)
				continue;
			double credit = (double)(to - from) * count / scale;
			if (selection_wants(sel, SEL_INCL_FLAT, (symid)j))
				g->nodes[j].self += credit;
			else
				g->total -= credit;
		}
	}
}

/* ---- calls in the code ---- */

static bool is_target(const struct profile *p, uint64_t addr)
{
	for (size_t i = 0; i < p->n_histograms; i++)
		if (addr >= p->histograms[i].low && addr < p->histograms[i].high)
			return true;
	return false;
}

/* Reduces [low, high) to the part that is searched: that in the only histogram which it meets. If
 * it meets several, the search is refused. */
static void clip_to_histogram(struct callgraph *g, const struct profile *p, uint64_t *low,
			      uint64_t *high)
{
	bool found = false;
	for (size_t i = 0; i < p->n_histograms; i++) {
		uint64_t l = *low > p->histograms[i].low ? *low : p->histograms[i].low;
		uint64_t h = *high < p->histograms[i].high ? *high : p->histograms[i].high;
		if (l >= h)
			continue;
		g->refuses_scan = g->refuses_scan || found;
		found = true;
		*low = l;
		*high = h;
	}
	if (!found)
		*high = *low;
}

static void clip(struct callgraph *g, const struct profile *p, symid id,
		 struct address_range *range)
{
	if (id + 1 == g->n_symbols)
		*range = (struct address_range){ 0 }; /* its end is uninitialised in GNU */
	else
		clip_to_histogram(g, p, &range->low, &range->high);
}

const struct callgraph_rules gnu_callgraph_rules = {
	.credit = { .bare_rate = true, .bin_bytes = bin_bytes, .credit = credit_histogram },
	.arcs = { .inner_only = true,
		  .clip = clip,
		  .is_target = is_target,
		  .calls = &gnu_call_rules },
	.cycles_inherit = true,
	.members_as_found = true,
};
