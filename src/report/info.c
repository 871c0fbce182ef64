/* info.c - what is in the data and in the program, before anything is made of it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/report.h"

enum { ABOUT, FACT, VALUE, DETAIL };

static const struct kin_column columns[] = {
	[ABOUT] = { "about", "about",
		    "what the fact is about: program, file, time, calls, blocks, check",
		    KIN_CELL_TEXT, false, false },
	[FACT] = { "fact", "fact", "what is said", KIN_CELL_TEXT, false, false },
	[VALUE] = { "value", "value", "a number, time or text", KIN_CELL_TEXT, false, false },
	[DETAIL] = { "detail", "detail", "more about it", KIN_CELL_TEXT, false, false },
};

static void add(struct kin_table *t, const char *about, const char *fact, struct kin_cell value,
		const char *detail)
{
	struct kin_cell *c = table_add_row(t, (struct kin_row){ .kind = KIN_ROW_PLAIN });
	c[ABOUT] = cell_text(about);
	c[FACT] = cell_text(fact);
	c[VALUE] = value;
	if (detail)
		c[DETAIL] = cell_text(table_text(t, detail));
}

static void add_text(struct kin_table *t, const char *about, const char *fact, const char *text)
{
	add(t, about, fact, cell_text(table_text(t, text)), NULL);
}

static const char *yes_no(bool yes) { return yes ? "yes" : "no"; }

static void add_program(struct kin_table *t, const struct report_input *in)
{
	struct object_file *o = in->symbols->object;
	struct address_range r = { 0 };
	char range[64];
	size_t functions = 0, lines = 0;

	if (!o)
		return;
	for (size_t i = 0; i < in->symbols->n; i++) {
		functions += in->symbols->at[i].is_function && in->symbols->at[i].owner == i;
		lines += in->symbols->at[i].is_line;
	}
	r = object_profiled(o);
	add_text(t, "program", "path", object_path(o));
	add_text(t, "program", "machine", object_machine(o));
	add_text(t, "program", "byte order", object_big_endian(o) ? "big-endian" : "little-endian");
	add(t, "program", "bits of an address", cell_count(object_is_64bit(o) ? 64 : 32), NULL);
	if (object_build_id(o))
		add_text(t, "program", "build id", object_build_id(o));
	add(t, "program", "functions", cell_count(functions), NULL);
	if (lines)
		add(t, "program", "line places", cell_count(lines), NULL);
	add_text(t, "program", "line information", yes_no(object_has_lines(o)));
	if (r.low < r.high) {
		snprintf(range, sizeof(range), "0x%" PRIx64 "-0x%" PRIx64, r.low, r.high);
		add_text(t, "program", "code that is profiled", range);
	}
}

static void add_sources(struct kin_table *t, const struct profile *p)
{
	char text[160];

	for (size_t i = 0; i < p->n_sources; i++) {
		const struct source *s = &p->sources[i];
		snprintf(text, sizeof(text),
			 "%s, version %d: %" PRIu32 " histogram, %" PRIu32 " call, %" PRIu32
			 " block records",
			 s->kind, s->version, s->n_histograms, s->n_arcs, s->n_blocks);
		add(t, "file", "path", cell_text(table_text(t, strtab_get(p->strings, s->path))),
		    text);
	}
}

static void add_time(struct kin_table *t, const struct report_input *in)
{
	const struct callgraph *g = in->graph;
	const struct profile *p = in->profile;
	double ticks = 0;
	char text[96];

	if (!p->n_histograms)
		return;
	for (size_t i = 0; i < p->n_histograms; i++) {
		const struct histogram *h = &p->histograms[i];
		double in_it = 0;
		for (size_t k = 0; k < h->n_hits; k++)
			in_it += (double)h->hits[k].count;
		ticks += in_it;
		snprintf(text, sizeof(text),
			 "0x%" PRIx64 "-0x%" PRIx64 " in %" PRIu32 " bins of %.4g bytes", h->low,
			 h->high, h->n, h->n ? (double)(h->high - h->low) / h->n : 0);
		add(t, "time", "histogram", cell_number(in_it), text);
	}
	snprintf(text, sizeof(text), "per unit of '%s'", g->dimension);
	add(t, "time", "ticks", cell_number(ticks), NULL);
	add(t, "time", "rate", cell_number(g->rate), text);
	add(t, "time", "total", cell_time(ticks), NULL);
	add(t, "time", "outside all functions", cell_time(g->outside),
	    g->outside > 0 ? "code without a symbol: in no row of any report" : NULL);
	add(t, "time", "of functions", cell_text("measured"), "split where two share a bin");
}

static uint64_t saturating(uint64_t a, uint64_t b)
{
	uint64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static void add_calls(struct kin_table *t, const struct report_input *in)
{
	const struct profile *p = in->profile;
	uint64_t calls = 0, outside = 0, unknown = 0;

	if (!p->n_arcs)
		return;
	for (size_t i = 0; i < p->n_arcs; i++) {
		const struct arc *a = &p->arcs[i];
		calls = saturating(calls, a->count);
		if (symbols_find(in->symbols, a->to) == NONE)
			unknown = saturating(unknown, a->count);
		else if (symbols_find(in->symbols, a->from) == NONE)
			outside = saturating(outside, a->count);
	}
	add(t, "calls", "records", cell_count(p->n_arcs), "pairs of call site and callee");
	add(t, "calls", "calls", cell_count(calls), NULL);
	add(t, "calls", "from elsewhere", cell_count(outside),
	    outside ? "the caller is no function of the program" : NULL);
	add(t, "calls", "to elsewhere", cell_count(unknown),
	    unknown ? "the callee is no function of the program" : NULL);
	add(t, "calls", "cycles", cell_count(in->graph->n_cycles), NULL);
	if (p->n_histograms)
		add(t, "calls", "time with callees", cell_text("estimated"),
		    "apportioned by call counts");
}

static void add_blocks(struct kin_table *t, const struct report_input *in)
{
	const struct profile *p = in->profile;
	size_t outside = 0;

	if (!p->n_blocks)
		return;
	for (size_t i = 0; i < p->n_blocks; i++)
		outside += symbols_find(in->symbols, p->blocks[i].addr) == NONE;
	add(t, "blocks", "records", cell_count(p->n_block_records), NULL);
	add(t, "blocks", "block counts", cell_count(p->n_blocks), NULL);
	add(t, "blocks", "outside all functions", cell_count(outside), NULL);
}

static void add_checks(struct kin_table *t, const struct report_input *in)
{
	add_text(t, "check", "data fits the program", in->n_warnings ? "in doubt" : "yes");
	for (size_t i = 0; i < in->n_warnings; i++)
		add_text(t, "check", "warning", in->warnings[i]);
	add_text(t, "check", "a sum was too large", yes_no(in->profile->saturated));
}

static struct kin_error *run(const struct report_input *in, const struct report_opts *o,
			     struct kin_table **ret)
{
	struct kin_table *t = table_new("info", "What the data holds", columns, ARRAY_LEN(columns));
	(void)o;

	report_describe(in, t);
	add_program(t, in);
	add_sources(t, in->profile);
	add_time(t, in);
	add_calls(t, in);
	add_blocks(t, in);
	add_checks(t, in);
	if (!in->profile->n_histograms)
		table_note(t, "The data holds no samples of time: only what was called or executed "
			      "is known.");
	if (!in->profile->n_arcs)
		table_note(
			t,
			"The data holds no calls: there is time of functions, but no call graph.");
	*ret = t;
	return NULL;
}

const struct report info_report = { "info", "what the data and the program hold", false, run };
