/* layout_graph.c - GNU gprof's call graph, and the older layout of its -T. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "gnu/cells.h"
#include "table/table_build.h"

enum { INDEX, SELF, CHILDREN, CALLED, NAME, LISTED, N_KEYS };

static const char *const keys[N_KEYS] = { "index", "self", "children", "called", "name", "listed" };

struct graph_layout {
	unsigned child_width; /* of the column that holds the callees' time */
	bool traditional;
	const char *descendants; /* the traditional heading of that column */
	char before_index_of_cycle;
	const char *notes; /* further explanations; NULL: none */
};

/* The fields of a row are written one after another into room reserved for all of them: call graphs
 * have millions of rows, and nothing else takes as much time. Each function returns the start of
 * the next field. */

static char *put_blanks(char *p, size_t n)
{
	enum { FEW = 16 };
	if (n <= FEW)
		memset(p, ' ', FEW);
	else
		memset(p, ' ', n);
	return p + n;
}

/* Names that need no escaping, by index: most names are shown many times. */
struct plain_names {
	uint64_t *bits;
	uint64_t n; /* number of indices */
};

/* State shared by all rows of a table. */
struct graph_rows {
	const struct graph_layout *layout;
	const struct render_opts *o;
	double rate, total;
	double nothing; /* smaller times are shown as 0.00 */
	struct plain_names plain;
	struct last {
		uint64_t calls;
		char text[NUM_MAX + 8];
		unsigned n;
	} last; /* written last: all callers of a function have the same number */
};

/* "%-7lu " */
static char *put_all_calls(char *p, struct last *last, uint64_t calls)
{
	enum { FEW = 16 };
	if (calls != last->calls || !last->n) {
		char *end = num_put_left(last->text, 7, calls);
		*end++ = ' ';
		last->calls = calls;
		last->n = (unsigned)(end - last->text);
	}
	if (last->n <= FEW)
		memcpy(p, last->text, FEW);
	else
		memcpy(p, last->text, last->n);
	return p + last->n;
}

static char *put_called(char *p, const struct kin_cell *c, struct last *last)
{
	uint64_t first = c->type == KIN_CELL_COUNT ? c->count : c->pair.a;

	*p++ = ' ';
	if (c->type == KIN_CELL_NONE)
		return put_blanks(p, 16);
	p = num_put_u64(p, 7, first);
	if (c->type == KIN_CELL_COUNT)
		return put_blanks(p, 9);
	*p++ = c->type == KIN_CELL_OF ? '/' : '+';
	return put_all_calls(p, last, c->pair.b);
}

/* Most times are less than half of a hundredth of a second, and so 0.00. */
static inline char *put_time(char *p, const struct kin_cell *c, const struct graph_rows *r,
			     unsigned width)
{
	static const char none[] = "0.00";
	enum { NONE_SIZE = sizeof(none) - 1 };

	*p++ = ' ';
	if (c->type == KIN_CELL_NONE)
		return put_blanks(p, width);
	if (!(c->number < r->nothing) || signbit(c->number))
		return num_put_fixed(p, width, c->number / r->rate, 2);
	p = put_blanks(p, width - NONE_SIZE);
	memcpy(p, none, NONE_SIZE);
	return p + NONE_SIZE;
}

/* Writes the index in six characters, truncated if longer, and the share. */
static char *put_heading(char *p, const struct kin_cell *c[N_KEYS], double total)
{
	char *end = num_put_u64(p + 1, 0, c[INDEX]->count);

	*p = '[';
	put_blanks(end, 6);
	*end = ']';
	p[6] = ' ';
	return num_put_fixed(
		p + 7, 5, 100 * (c[SELF]->number + c[CHILDREN]->number) / (total > 0 ? total : 1),
		1);
}

static bool is_plain(struct plain_names *known, const struct kin_cell *name, uint64_t index)
{
	if (index >= known->n) {
		uint64_t n = (index / 64 + 1) * 2;
		known->bits = xrealloc(known->bits, n, sizeof(*known->bits));
		memset(known->bits + known->n / 64, 0, (n - known->n / 64) * sizeof(*known->bits));
		known->n = n * 64;
	}
	uint64_t *word = &known->bits[index / 64], bit = (uint64_t)1 << index % 64;
	if (!(*word & bit) && name_is_plain(name->text, name->length))
		*word |= bit;
	return *word & bit;
}

static char *put_index(char *p, const struct kin_cell *c[N_KEYS], char gap)
{
	bool listed = c[LISTED]->count;

	*p++ = gap;
	*p++ = listed ? '[' : '(';
	p = num_put_u64(p, 0, c[INDEX]->count);
	*p++ = listed ? ']' : ')';
	return p;
}

static void put_row(struct line *l, struct graph_rows *r, enum kin_row_kind kind,
		    const struct kin_cell *c[N_KEYS])
{
	enum { FIELDS = 6, OTHERS = 64 }; /* numbers, and all characters between them */
	bool primary = kind == KIN_ROW_FUNCTION || kind == KIN_ROW_CYCLE;
	bool numbered = c[INDEX]->type != KIN_CELL_NONE;
	size_t room = FIELDS * NUM_MAX + OTHERS, n = c[NAME]->length;
	char *start = line_room(l, room + n), *p = start;

	p = primary ? put_heading(p, c, r->total) : put_blanks(p, 12);
	p = put_time(p, c[SELF], r, 7);
	p = put_time(p, c[CHILDREN], r, r->layout->child_width);
	p = put_called(p, c[CALLED], &r->last);
	if (!primary)
		p = put_blanks(p, 4);
	if (r->o->raw || (numbered && is_plain(&r->plain, c[NAME], c[INDEX]->count))) {
		memcpy(p, c[NAME]->text, n);
		p += n;
	} else {
		l->n += (size_t)(p - start);
		line_namen(l, c[NAME]->text, n, r->o);
		p = start = line_room(l, room);
	}
	if (numbered)
		p = put_index(p, c, kind == KIN_ROW_CYCLE ? r->layout->before_index_of_cycle : ' ');
	*p++ = '\n';
	l->n += (size_t)(p - start);
}

/* GNU calls the unit seconds here, whatever the data calls it. */
static void put_granularity(const struct kin_table *t, const struct render_opts *o, FILE *out)
{
	gnu_granularity(t, o, gnu_number(t, "graph_total"),
			o->exact ? "seconds" : gnu_text(t, "dimension"), " no time propagated",
			out);
}

static void put_rule(struct line *l, const struct graph_layout *layout)
{
	line_text(l, layout->traditional ? "\n" : "");
	line_text(l, "-----------------------------------------------\n");
	line_text(l, layout->traditional ? "\n" : "");
}

static struct kin_error *put_entries(struct kin_table *t, const struct render_opts *o,
				     const struct graph_layout *layout, const size_t *at, FILE *out)
{
	struct graph_rows r = { .layout = layout,
				.o = o,
				.rate = kin_table_rate(t),
				.total = gnu_number(t, "graph_total"),
				.nothing = 0.00499 * kin_table_rate(t) };
	struct line l = { 0 };
	const struct kin_cell *c[N_KEYS] = { 0 }, *cells = NULL;
	struct kin_row row;
	uint32_t group = 0;
	bool any = false;

	for (kin_table_rewind(t); table_next(t, &row);) {
		for (size_t i = 0; i < N_KEYS && row.cells != cells; i++)
			c[i] = &row.cells[at[i]];
		cells = row.cells; /* mostly the same array */
		if (any && row.group != group)
			put_rule(&l, layout);
		any = true;
		group = row.group;
		put_row(&l, &r, row.kind, c);
		line_end_bare(&l, out);
	}
	if (any)
		put_rule(&l, layout);
	line_done(&l);
	free(r.plain.bits);
	return NULL;
}

static struct kin_error *render(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	static const struct graph_layout layout = { 7, false, NULL, ' ', NULL };
	size_t at[N_KEYS];
	struct kin_error *err = gnu_columns(t, "gnu-graph", keys, N_KEYS, at);
	if (err)
		return err;

	fputs(o->brief ? "\t\t\tCall graph\n\n" : "\t\t     Call graph (explanation follows)\n\n",
	      out);
	fputc('\n', out);
	put_granularity(t, o, out);
	fputs("index % time    self  children    called     name\n", out);
	err = put_entries(t, o, &layout, at, out);
	if (!o->brief)
		fputs(gnu_graph_blurb, out);
	return err;
}

static struct kin_error *put_traditional(struct kin_table *t, const struct render_opts *o,
					 const struct graph_layout *layout, FILE *out)
{
	size_t at[N_KEYS];
	struct kin_error *err = gnu_columns(t, "gnu-graph-traditional", keys, N_KEYS, at);
	if (err)
		return err;

	if (!o->brief)
		fprintf(out, "\n\n\ncall graph profile:\n%s%s", gnu_graph_blurb,
			layout->notes ? layout->notes : "");
	fputc('\n', out);
	put_granularity(t, o, out);
	fprintf(out, "%6.6s %5.5s %7.7s %11.11s %7.7s/%-7.7s     %-8.8s\n", "", "", "", "",
		"called", "total", "parents");
	fprintf(out, "%-6.6s %5.5s %7.7s %11.11s %7.7s+%-7.7s %-8.8s\t%5.5s\n", "index", "%time",
		"self", layout->descendants, "called", "self", "name", "index");
	fprintf(out, "%6.6s %5.5s %7.7s %11.11s %7.7s/%-7.7s     %-8.8s\n\n", "", "", "", "",
		"called", "total", "children");
	return put_entries(t, o, layout, at, out);
}

static struct kin_error *render_traditional(struct kin_table *t, const struct render_opts *o,
					    FILE *out)
{
	static const struct graph_layout layout = { 11, true, "descendants", ' ', NULL };
	return put_traditional(t, o, &layout, out);
}

static struct kin_error *render_bsd(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	static const struct graph_layout layout = { 11, true, "descendents", '\t',
						    bsd_graph_notes };
	return put_traditional(t, o, &layout, out);
}

const struct renderer gnu_graph_renderer = { "gnu-graph", "GNU gprof's call graph", render };
const struct renderer gnu_graph_traditional_renderer = { "gnu-graph-traditional",
							 "the call graph of gprof -T",
							 render_traditional };
const struct renderer bsd_graph_renderer = { "bsd-graph", "the call graph of BSD gprof",
					     render_bsd };
