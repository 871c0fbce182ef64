/* layout_graph.c - GNU gprof's call graph, and the older layout of its -T. */
#include "gnu/cells.h"
#include "table/table_build.h"

enum { INDEX, SELF, CHILDREN, CALLED, NAME, LISTED, N_KEYS };

static const char *const keys[N_KEYS] = { "index", "self", "children", "called", "name", "listed" };

struct layout {
	int child_width; /* of the column that holds the callees' time */
	bool traditional;
	const char *descendants; /* the traditional heading of that column */
	char before_index_of_cycle;
	const char *notes; /* more to explain; NULL: nothing */
};

static void put_called(struct line *l, const struct kin_cell *c)
{
	uint64_t first = c->type == KIN_CELL_COUNT ? c->count : c->pair.a;

	line_char(l, ' ');
	if (c->type == KIN_CELL_NONE) {
		line_blanks(l, 16);
		return;
	}
	line_count(l, first, 7);
	if (c->type == KIN_CELL_COUNT) {
		line_blanks(l, 9);
		return;
	}
	line_char(l, c->type == KIN_CELL_OF ? '/' : '+');
	line_count(l, c->pair.b, -7);
	line_char(l, ' ');
}

static void put_time(struct line *l, const struct kin_cell *c, double rate, int width)
{
	line_char(l, ' ');
	if (c->type == KIN_CELL_NONE)
		line_blanks(l, (size_t)width);
	else
		line_fixed(l, c->number / rate, width, 2);
}

static void put_name(struct line *l, const struct kin_cell *c[N_KEYS], char gap,
		     const struct render_opts *o)
{
	line_namen(l, c[NAME]->text, c[NAME]->length, o);
	if (c[INDEX]->type == KIN_CELL_NONE)
		return;
	line_char(l, gap);
	line_char(l, c[LISTED]->count ? '[' : '(');
	line_count(l, c[INDEX]->count, 0);
	line_char(l, c[LISTED]->count ? ']' : ')');
}

static void put_row(struct line *l, const struct kin_table *t, enum kin_row_kind kind,
		    const struct kin_cell *c[N_KEYS], const struct render_opts *o,
		    const struct layout *layout)
{
	bool primary = kind == KIN_ROW_FUNCTION || kind == KIN_ROW_CYCLE;
	double rate = kin_table_rate(t);

	if (primary) {
		char index[24];
		double total = gnu_number(t, "graph_total");
		snprintf(index, sizeof(index), "[%u]", (unsigned)c[INDEX]->count);
		line_field(l, index, -6, 6);
		line_char(l, ' ');
		line_fixed(l,
			   100 * (c[SELF]->number + c[CHILDREN]->number) / (total > 0 ? total : 1),
			   5, 1);
	} else {
		line_blanks(l, 12);
	}
	put_time(l, c[SELF], rate, 7);
	put_time(l, c[CHILDREN], rate, layout->child_width);
	put_called(l, c[CALLED]);
	if (!primary)
		line_blanks(l, 4);
	put_name(l, c, kind == KIN_ROW_CYCLE ? layout->before_index_of_cycle : ' ', o);
}

/* GNU calls the unit seconds here, whatever the data says it is. */
static void put_granularity(const struct kin_table *t, const struct render_opts *o, FILE *out)
{
	gnu_granularity(t, o, gnu_number(t, "graph_total"),
			o->raw ? "seconds" : gnu_text(t, "dimension"), " no time propagated", out);
}

static void put_rule(struct line *l, const struct layout *layout)
{
	line_text(l, layout->traditional ? "\n" : "");
	line_text(l, "-----------------------------------------------\n");
	line_text(l, layout->traditional ? "\n" : "");
}

static struct kin_error *put_entries(struct kin_table *t, const struct render_opts *o,
				     const struct layout *layout, const size_t *at, FILE *out)
{
	struct line l = { 0 };
	struct kin_row row;
	uint32_t group = 0;
	bool any = false;

	for (kin_table_rewind(t); table_next(t, &row);) {
		const struct kin_cell *c[N_KEYS];
		for (size_t i = 0; i < N_KEYS; i++)
			c[i] = &row.cells[at[i]];
		if (any && row.group != group)
			put_rule(&l, layout);
		any = true;
		group = row.group;
		put_row(&l, t, row.kind, c, o, layout);
		line_end(&l, out);
	}
	if (any)
		put_rule(&l, layout);
	line_done(&l);
	return NULL;
}

static struct kin_error *render(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	static const struct layout layout = { 7, false, NULL, ' ', NULL };
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
					 const struct layout *layout, FILE *out)
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
	static const struct layout layout = { 11, true, "descendants", ' ', NULL };
	return put_traditional(t, o, &layout, out);
}

static struct kin_error *render_bsd(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	static const struct layout layout = { 11, true, "descendents", '\t', bsd_graph_notes };
	return put_traditional(t, o, &layout, out);
}

const struct renderer gnu_graph_renderer = { "gnu-graph", "GNU gprof's call graph", render };
const struct renderer gnu_graph_traditional_renderer = { "gnu-graph-traditional",
							 "the call graph of gprof -T",
							 render_traditional };
const struct renderer bsd_graph_renderer = { "bsd-graph", "the call graph of BSD gprof",
					     render_bsd };
