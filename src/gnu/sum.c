/* sum.c - writes histograms, arcs and blocks of gmon.sum in GNU's order. */
#include "gnu/sum.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/blocks.h"
#include "base/capped.h"
#include "base/err.h"
#include "base/out.h"
#include "gnu/rules.h"

struct sum_writer {
	struct out *out;
	struct input_target target;
};

static void put(const struct sum_writer *w, uint64_t v, size_t bytes)
{
	uint8_t *to = out_space(w->out, bytes);
	for (size_t i = 0; i < bytes; i++) {
		size_t shift = w->target.big_endian ? bytes - 1 - i : i;
		to[i] = (uint8_t)(v >> 8 * shift);
	}
}

static void put_word(const struct sum_writer *w, uint64_t v)
{
	put(w, v, w->target.is_64bit ? 8 : 4);
}

static void put_bins(const struct sum_writer *w, const struct histogram *h)
{
	size_t at = 0;

	for (uint32_t i = 0; i < h->n; i++)
		put(w, histogram_bin(h, &at, i), 2);
}

static void put_histogram(const struct sum_writer *w, const struct histogram *h,
			  const struct histogram *first)
{
	put(w, 0, 1);
	put_word(w, h->low);
	put_word(w, h->high);
	put(w, h->n, 4);
	put(w, first->rate, 4);
	out_put(w->out, first->dimension, 15);
	put(w, (uint8_t)first->abbrev, 1);
	put_bins(w, h);
}

/* Writes arcs by caller; the callees of a caller newest first. */
static void put_arcs(const struct sum_writer *w, const struct callgraph *g, bool tagged,
		     size_t count_bytes)
{
	for (size_t i = 0; i < g->n_symbols; i++) {
		const struct cg_node *n = &g->nodes[i];
		for (uint32_t k = n->n_out; k-- > 0;) {
			const struct cg_arc *a = &g->arcs[n->first_out + k];
			if (tagged)
				put(w, 1, 1);
			put_word(w, g->symbols->at[a->from].addr);
			put_word(w, g->symbols->at[a->to].addr);
			put(w, a->count, count_bytes);
		}
	}
}

static void put_blocks(const struct sum_writer *w, const struct profile *p, const struct symbols *s)
{
	struct blocks *b = blocks_new(p, s, &gnu_block_rules);
	put(w, 2, 1);
	put(w, b->n, 4);
	for (size_t i = 0; i < b->n; i++) {
		put_word(w, b->at[i].addr);
		put_word(w, b->at[i].count);
	}
	blocks_free(b);
}

static void put_gmon(const struct sum_writer *w, const struct profile *p, const struct symbols *s,
		     const struct callgraph *g)
{
	out_put(w->out, "gmon", 4);
	put(w, 1, 4);
	put(w, 0, 8);
	put(w, 0, 4);
	for (size_t i = 0; i < p->n_histograms; i++)
		put_histogram(w, &p->histograms[i], &p->histograms[0]);
	put_arcs(w, g, true, 4);
	if (p->n_block_records)
		put_blocks(w, p, s);
}

static void put_bsd(const struct sum_writer *w, const struct histogram *h,
		    const struct callgraph *g, bool bsd44)
{
	size_t word = w->target.is_64bit ? 8 : 4, header = 2 * word + 4 + (bsd44 ? 20 : 0);

	put_word(w, h->low);
	put_word(w, h->high);
	put(w, h->n * (uint64_t)2 + header, 4);
	if (bsd44) {
		put(w, 0x51879, 4);
		put(w, h->rate, 4);
		put(w, 0, 8);
		put(w, 0, 4);
	}
	put_bins(w, h);
	put_arcs(w, g, false, word);
}

bool sum_fits_gnu(const struct profile *p)
{
	uint64_t calls = 0;
	struct hit hit;

	for (size_t i = 0; i < p->n_histograms; i++)
		for (size_t at = 0; histogram_next(&p->histograms[i], &at, &hit);)
			if (hit.count > UINT16_MAX)
				return false;
	for (size_t i = 0; i < p->n_arcs; i++)
		capped_add(&calls, arc_at(&p->arcs, i).count);
	return calls <= UINT32_MAX;
}

struct kin_error *sum_write_gnu(const char *path, const struct profile *p, struct symbols *s,
				const struct selection *sel, const struct input_target *target,
				enum input_format format)
{
	bool bsd = format == INPUT_BSD || format == INPUT_44BSD;
	if (bsd && !p->n_histograms)
		return err_new(KIN_ERROR_UNSUPPORTED, "%s: the BSD formats need a histogram", path);

	struct sum_writer w = { NULL, *target };
	struct kin_error *err = out_open(path, profile_file_mode(p), &w.out);
	if (err)
		return err;
	struct callgraph *g = callgraph_new(
		p, s, &(struct callgraph_opts){ .rules = &gnu_callgraph_rules, .selection = sel });
	if (bsd)
		put_bsd(&w, p->histograms, g,
			format == INPUT_44BSD ||
				p->histograms[0].rate != (uint32_t)sysconf(_SC_CLK_TCK));
	else
		put_gmon(&w, p, s, g);
	callgraph_free(g);
	return out_close(w.out);
}
