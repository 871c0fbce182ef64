/* histogram.c - credits the ticks of histogram bins to the places whose code the bins cover.
 *
 * A bin that covers several places is divided between them in proportion to the bytes of each. A
 * function gets nothing from bins that it shares if nothing else shows that it ran: no calls of it
 * or by it were counted, and none of its own bins was hit. */
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis_private.h"

static const struct selection everything;

static const struct selection *selection_of(const struct callgraph_opts *o)
{
	return o->selection ? o->selection : &everything;
}

static double smaller(double a, double b) { return a < b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }

/* Where bin i of a histogram starts, in bytes from its low end. The kernel-less profil() of the C
 * library finds the bin of a program counter as ((pc - low) / 2 * scale) >> 16 with a scale that
 * monstartup() computes in single precision and cuts to an integer (glibc gmon/gmon.c,
 * __monstartup; sysdeps/posix/profil.c, profil_count). Other writers divide evenly. */
struct bins {
	double width;   /* bytes per bin, if bins are even */
	uint64_t scale; /* profil()'s scale; 0: bins are even */
};

static struct bins bins_of(const struct histogram *h)
{
	uint64_t span = h->high - h->low;
	struct bins b = { .width = h->n ? (double)span / h->n : 0 };
	uint64_t plain = span / 2 / sizeof(uint16_t);                /* bins of 4 bytes */
	uint64_t padded = (span / 2 + 7) / 8 * 8 / sizeof(uint16_t); /* rounded up to whole words */

	if (span % 4 == 0 && h->n == padded && h->n != plain)
		b.scale = (uint64_t)((float)(2 * (uint64_t)h->n) / (float)span * 65536);
	return b;
}

static double bin_edge(const struct bins *b, const struct histogram *h, uint32_t i)
{
	double edge = b->scale ? 2.0 * (double)(((uint64_t)i * 65536 + b->scale - 1) / b->scale)
			       : i * b->width;
	return (double)h->low + smaller(edge, (double)(h->high - h->low));
}

/* ---- functions that nothing shows to have run ---- */

static void see_calls(const struct symbols *s, const struct profile *p, bool *seen)
{
	for (size_t i = 0; i < p->n_arcs; i++) {
		struct arc a = arc_at(&p->arcs, i);
		symid from = symbols_find_function(s, a.from), to = symbols_find_function(s, a.to);
		if (from != NONE)
			seen[from] = true;
		if (to != NONE)
			seen[to] = true;
	}
}

static void see_hits(const struct symbols *s, const struct histogram *h, bool *seen)
{
	struct bins b = bins_of(h);
	struct hit hit;
	for (size_t at = 0; histogram_next(h, &at, &hit);) {
		uint64_t low = (uint64_t)bin_edge(&b, h, hit.bin);
		uint64_t last = (uint64_t)(bin_edge(&b, h, hit.bin + 1) + 0.999) - 1;
		symid function = symbols_find_function(s, low);
		if (function != NONE && symbols_find_function(s, last) == function)
			seen[function] = true;
	}
}

/* [n]: the functions that calls or bins of their own show to have run, and those without bins of
 * their own; to be freed. If calls were not counted, none. */
static bool *find_seen(const struct callgraph *g, const struct profile *p)
{
	const struct symbols *s = g->symbols;
	bool *seen = xalloc(s->n + 1);
	for (symid i = 0, end; i < s->n && p->n_arcs; i = end) {
		for (end = i + 1; end < s->n && !s->at[end].is_function; end++)
			;
		seen[i] = (double)(s->at[end - 1].end - s->at[i].addr) < 2 * g->bin_bytes;
	}
	if (!p->n_arcs)
		return seen;
	see_calls(s, p, seen);
	for (size_t i = 0; i < p->n_histograms; i++)
		see_hits(s, &p->histograms[i], seen);
	return seen;
}

/* ---- credit ---- */

static double common_bytes(const struct symbol *s, double low, double high)
{
	double from = larger((double)s->addr, low), to = smaller((double)s->end, high);
	return to > from ? to - from : 0;
}

/* The bytes of places in a bin: `all`, and those of functions that were seen; 0: of no place, or of
 * all. *several: they are several functions. */
static double seen_bytes(const struct symbols *s, const bool *seen, size_t first, double low,
			 double high, double *all, bool *several)
{
	double sum = 0;
	symid last = NONE, last_seen = NONE;
	bool several_seen = false;
	*all = 0;
	*several = false;
	for (size_t j = first; j < s->n && (double)s->at[j].addr < high; j++) {
		double bytes = common_bytes(&s->at[j], low, high);
		symid function = bytes > 0 ? symbols_find_function(s, s->at[j].addr) : NONE;
		if (function == NONE)
			continue;
		*all += bytes;
		*several |= last != NONE && last != function;
		last = function;
		if (!seen[function])
			continue;
		sum += bytes;
		several_seen |= last_seen != NONE && last_seen != function;
		last_seen = function;
	}
	*several = sum > 0 ? several_seen : *several;
	return sum < *all ? sum : 0;
}

static void histogram_credit(struct callgraph *g, const struct profile *p,
			     const struct histogram *h, const struct selection *sel)
{
	const struct symbols *s = g->symbols;
	struct bins b = bins_of(h);
	bool *seen = NULL; /* until a bin is shared */
	struct hit hit;
	size_t k = 0;

	for (size_t at = 0; histogram_next(h, &at, &hit);) {
		uint32_t bin = hit.bin;
		double low = bin_edge(&b, h, bin), high = bin_edge(&b, h, bin + 1);
		double count = (double)hit.count, left = count;
		g->total += count;
		while (k < s->n && (double)s->at[k].end <= low)
			k++;
		double all = 0, of_seen = 0;
		bool several = false;
		bool is_shared = k + 1 < s->n && (double)s->at[k + 1].addr < high;
		if (is_shared && !seen)
			seen = find_seen(g, p);
		if (is_shared)
			of_seen = seen_bytes(s, seen, k, low, high, &all, &several);
		g->split += several ? count : 0;
		for (size_t j = k; j < s->n && (double)s->at[j].addr < high; j++) {
			double bytes = common_bytes(&s->at[j], low, high);
			if (!(bytes > 0))
				continue;
			if (of_seen > 0) {
				symid function = symbols_find_function(s, s->at[j].addr);
				if (function == NONE || !seen[function])
					continue;
				bytes *= all / of_seen;
			}
			symid owner = s->at[j].owner;
			double credit = count * (bytes / (high - low));
			g->nodes[owner].self += credit;
			left -= credit;
			if (!selection_wants(sel, SEL_INCL_FLAT, owner))
				g->total -= credit;
		}
		g->outside += left > count * 1e-9 ? left : 0;
	}
	free(seen);
}

static double histogram_bin_bytes(const struct histogram *first)
{
	return first->n ? (double)(first->high - first->low) / first->n : 0;
}

const struct callgraph_rules callgraph_rules = {
	.credit = { .bin_bytes = histogram_bin_bytes, .credit = histogram_credit },
};

void callgraph_credit_histograms(struct callgraph *g, const struct profile *p,
				 const struct callgraph_opts *o)
{
	const struct credit_rules *rules = &callgraph_rules_of(o)->credit;
	uint32_t unknown_rate = rules->bare_rate ? 0 : 1;

	g->rate = unknown_rate;
	strcpy(g->dimension, "seconds");
	g->abbrev = 's';
	if (!p->n_histograms) {
		if (o->samples && o->samples->n_events)
			callgraph_set_unit(g, o->samples);
		return;
	}

	const struct histogram *first = &p->histograms[0];
	g->rate = first->rate ? first->rate : unknown_rate;
	memcpy(g->dimension, first->dimension, sizeof(g->dimension));
	g->abbrev = first->abbrev;
	g->bin_bytes = rules->bin_bytes(first);
	for (size_t i = 0; i < p->n_histograms; i++)
		rules->credit(g, p, &p->histograms[i], selection_of(o));
	if (o->consume)
		profile_release_hits(o->consume);
}
