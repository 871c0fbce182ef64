/* gnu_flat.c - GNU gprof's flat profile, and the older layout of its -T. */
#include <string.h>

#include "table/gnu.h"

enum { SELF, CHILDREN, CALLS, NAME, CYCLE, INDEX, LISTED, N_KEYS };

static const char *const keys[N_KEYS] = { "self", "children", "calls", "name", "cycle", "index", "listed" };

/* SI prefixes from the largest: what a time in seconds is multiplied by to be shown in that unit. */
static const struct unit {
	char prefix;
	double scale;
} units[] = { { 'T', 1e-12 }, { 'G', 1e-9 }, { 'M', 1e-6 }, { 'K', 1e-3 }, { ' ', 1 },
	      { 'm', 1e3 },   { 'u', 1e6 },  { 'n', 1e9 },  { 'p', 1e12 }, { 'f', 1e15 },
	      { 'a', 1e18 } };

/* The unit in which the largest time per call has one to three digits before the point. Without
 * calls: the first, as ever. What is smaller than the last unit can show is shown in that. */
static const struct unit *choose_unit(const struct kin_table *t)
{
	double largest = gnu_number(t, "largest_per_call");
	if (!(largest > 0))
		return &units[0];
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		double shown = units[i].scale * (largest / kin_table_rate(t));
		if (shown >= 1 && shown < 1000)
			return &units[i];
	}
	return &units[largest / kin_table_rate(t) >= 1 ? 0 : ARRAY_LEN(units) - 1];
}

static void put_header(const struct kin_table *t, const struct unit *unit, FILE *out)
{
	const char *dimension = gnu_text(t, "dimension");
	char per_call[8] = { unit->prefix };
	strcpy(per_call + 1, gnu_text(t, "abbrev"));
	strcat(per_call, "/call");

	fprintf(out, "%5.5s %10.10s %8.8s %8.8s %8.8s %8.8s  %-8.8s\n", "%  ", "cumulative", "self  ", "",
		"self  ", "total ", "");
	fprintf(out, "%5.5s %9.9s  %8.8s %8.8s %8.8s %8.8s  %-8.8s\n", "time", dimension, dimension,
		"calls", per_call, per_call, "name");
}

static void put_row(struct line *l, const struct kin_table *t, const struct kin_cell *c[N_KEYS],
		    double cumulative, double scale, bool traditional)
{
	double total = gnu_number(t, "total"), rate = kin_table_rate(t), self = c[SELF]->number;
	double percent = total > 0 ? 100 * self / total : 0;

	line_fixed(l, percent, traditional ? 5 : 6, traditional ? 1 : 2);
	line_text(l, " ");
	line_fixed(l, cumulative / rate, traditional ? 10 : 9, 2);
	line_text(l, " ");
	line_fixed(l, self / rate, 8, 2);
	if (c[CALLS]->type == KIN_CELL_NONE) {
		line_field(l, "", 29, 0);
		return;
	}
	double calls = (double)c[CALLS]->count;
	line_text(l, " ");
	line_count(l, c[CALLS]->count, 8);
	line_text(l, " ");
	line_fixed(l, scale * self / rate / calls, 8, 2);
	line_text(l, " ");
	line_fixed(l, scale * (self + c[CHILDREN]->number) / rate / calls, 8, 2);
	line_text(l, "  ");
}

static void put_index(struct line *l, const struct kin_cell *c[N_KEYS])
{
	if (c[CYCLE]->type == KIN_CELL_COUNT) {
		line_text(l, " <cycle ");
		line_count(l, c[CYCLE]->count, 0);
		line_text(l, ">");
	}
	line_text(l, c[LISTED]->count ? " [" : " (");
	line_count(l, c[INDEX]->count, 0);
	line_text(l, c[LISTED]->count ? "]" : ")");
}

static void put_rows(struct kin_table *t, const struct render_opts *o, const size_t *at, double scale,
		     bool traditional, FILE *out)
{
	struct line l = { 0 };
	struct kin_row row;
	double cumulative = 0;
	bool indexed = traditional && kin_table_property(t, "has_arcs")->count;

	for (kin_table_rewind(t); kin_table_next(t, &row);) {
		const struct kin_cell *c[N_KEYS];
		for (size_t i = 0; i < N_KEYS; i++)
			c[i] = &row.cells[at[i]];
		cumulative += c[SELF]->number;
		put_row(&l, t, c, cumulative, scale, traditional);
		line_name(&l, c[NAME]->text, o);
		if (indexed)
			put_index(&l, c);
		line_end(&l, out);
	}
	line_done(&l);
}

static struct kin_error *render(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	size_t at[N_KEYS];
	struct kin_error *err = gnu_columns(t, "gnu-flat", keys, N_KEYS, at);
	if (err)
		return err;

	const struct unit *unit = choose_unit(t);
	fprintf(out, "Flat profile:\n\nEach sample counts as %g %s.\n", 1.0 / kin_table_rate(t),
		gnu_text(t, "dimension"));
	if (!(gnu_number(t, "total") > 0))
		fputs(" no time accumulated\n\n", out);
	put_header(t, unit, out);
	put_rows(t, o, at, unit->scale, false, out);
	if (!o->brief)
		fputs(gnu_flat_blurb, out);
	return NULL;
}

static struct kin_error *render_traditional(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	static const struct unit milliseconds = { 'm', 1e3 };
	size_t at[N_KEYS];
	struct kin_error *err = gnu_columns(t, "gnu-flat-traditional", keys, N_KEYS, at);
	if (err)
		return err;

	if (!o->brief)
		fprintf(out, "\n\n\nflat profile:\n%s", gnu_flat_blurb);
	fputc('\n', out);
	gnu_granularity(t, o, gnu_number(t, "total"), "", out);
	put_header(t, &milliseconds, out);
	put_rows(t, o, at, milliseconds.scale, true, out);
	return NULL;
}

const struct renderer gnu_flat_renderer = { "gnu-flat", "GNU gprof's flat profile", render };
const struct renderer gnu_flat_traditional_renderer = { "gnu-flat-traditional", "the flat profile of gprof -T", render_traditional };
