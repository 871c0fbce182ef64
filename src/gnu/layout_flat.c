/* layout_flat.c - GNU gprof's flat profile, and the older layout of its -T. */
#include <string.h>

#include "gnu/cells.h"
#include "table/table_build.h"

enum { SELF, CHILDREN, CALLS, NAME, CYCLE, INDEX, LISTED, N_KEYS };

static const char *const keys[N_KEYS] = { "self",  "children", "calls", "name",
					  "cycle", "index",    "listed" };

/* SI prefixes, largest first. A time in seconds, multiplied by the scale, is shown in that unit. */
static const struct unit {
	char prefix;
	double scale;
} units[] = { { 'T', 1e-12 }, { 'G', 1e-9 }, { 'M', 1e-6 }, { 'K', 1e-3 },
	      { ' ', 1 },     { 'm', 1e3 },  { 'u', 1e6 },  { 'n', 1e9 },
	      { 'p', 1e12 },  { 'f', 1e15 }, { 'a', 1e18 } };

/* The unit in which the largest time per call has one to three digits before the point. Without
 * calls it is the first unit; times too small for the last unit are shown in the last. */
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

struct flat_layout {
	unsigned percent_width;
	unsigned percent_decimals;
	unsigned cumulative_width;
	unsigned seconds_decimals, call_decimals; /* of times in seconds, and per call */
	bool share_of_uncalled; /* BSD: functions without counted calls show their own share */
	bool indexed;           /* names have cycle and index */
	double scale;           /* factor of times per call */
	const char *notes;      /* further explanations; NULL: none */
};

/* "ms/call". A file's unit may have a letter 0: GNU's text ends there. */
static void put_per_call(const struct kin_table *t, char prefix, char ret[16])
{
	const char *letter = gnu_text(t, "abbrev");
	snprintf(ret, 16, "%c%s%s", prefix, letter, *letter ? "/call" : "");
}

static void put_header(const char *second_title, const char *dimension, const char *per_call,
		       FILE *out)
{
	fprintf(out, "%5.5s %10.10s %8.8s %8.8s %8.8s %8.8s  %-8.8s\n", "%  ", "cumulative",
		"self  ", "", "self  ", "total ", "");
	fprintf(out, "%5.5s %s %8.8s %8.8s %8.8s %8.8s  %-8.8s\n", "time", second_title, dimension,
		"calls", per_call, per_call, "name");
}

/* Writes the three columns of calls. If no call was counted, they are empty, or have the own share
 * of share_of_uncalled. */
static void put_calls(struct line *l, const struct kin_table *t, const struct kin_cell *c[N_KEYS],
		      const struct flat_layout *layout)
{
	double rate = kin_table_rate(t), self = c[SELF]->number, all = self + c[CHILDREN]->number;
	bool counted = c[CALLS]->type != KIN_CELL_NONE;

	if (!counted && (!layout->share_of_uncalled || all == 0)) {
		line_blanks(l, 29);
		return;
	}
	line_char(l, ' ');
	line_count(l, counted ? c[CALLS]->count : 0, 8);
	line_char(l, ' ');
	if (!counted) {
		line_fixed(l, 100 * self / all, 7, 2);
		line_text(l, "%           ");
		return;
	}
	double calls = (double)c[CALLS]->count;
	line_fixed(l, layout->scale * self / rate / calls, 8, layout->call_decimals);
	line_char(l, ' ');
	line_fixed(l, layout->scale * all / rate / calls, 8, layout->call_decimals);
	line_text(l, "  ");
}

static void put_row(struct line *l, const struct kin_table *t, const struct kin_cell *c[N_KEYS],
		    double cumulative, const struct flat_layout *layout)
{
	double total = gnu_number(t, "total"), rate = kin_table_rate(t), self = c[SELF]->number;

	/* The total may be 0 although a function's time is not, since it is computed by
	 * subtraction. */
	line_fixed(l, 100 * self / (total > 0 ? total : 1), layout->percent_width,
		   layout->percent_decimals);
	line_char(l, ' ');
	line_fixed(l, cumulative / rate, layout->cumulative_width, layout->seconds_decimals);
	line_char(l, ' ');
	line_fixed(l, self / rate, 8, layout->seconds_decimals);
	put_calls(l, t, c, layout);
}

static void put_index(struct line *l, const struct kin_cell *c[N_KEYS])
{
	if (c[CYCLE]->type == KIN_CELL_COUNT) {
		line_text(l, " <cycle ");
		line_count(l, c[CYCLE]->count, 0);
		line_char(l, '>');
	}
	line_text(l, c[LISTED]->count ? " [" : " (");
	line_count(l, c[INDEX]->count, 0);
	line_text(l, c[LISTED]->count ? "]" : ")");
}

static void put_rows(struct kin_table *t, const struct render_opts *o, const size_t *at,
		     const struct flat_layout *layout, FILE *out)
{
	struct line l = { 0 };
	struct kin_row row;
	double cumulative = 0;

	for (kin_table_rewind(t); table_next(t, &row);) {
		const struct kin_cell *c[N_KEYS];
		for (size_t i = 0; i < N_KEYS; i++)
			c[i] = &row.cells[at[i]];
		cumulative += c[SELF]->number;
		put_row(&l, t, c, cumulative, layout);
		line_namen(&l, c[NAME]->text, c[NAME]->length, o);
		if (layout->indexed)
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
	struct flat_layout layout = { 6, 2, 9, 2, 2, false, false, unit->scale, NULL };
	const char *dimension = gnu_text(t, "dimension");
	char second[16], per_call[16];
	snprintf(second, sizeof(second), "%9.9s ", dimension);
	put_per_call(t, unit->prefix, per_call);

	fputs("Flat profile:\n\n", out);
	if (gnu_is_of_stacks(t, o))
		fprintf(out, "Times are those of sampled stacks, in %s.\n", dimension);
	else
		fprintf(out, "Each sample counts as %g %s.\n", 1.0 / kin_table_rate(t), dimension);
	if (!(gnu_number(t, "total") > 0))
		fputs(" no time accumulated\n\n", out);
	put_header(second, dimension, per_call, out);
	put_rows(t, o, at, &layout, out);
	if (!o->brief)
		fputs(gnu_flat_blurb, out);
	return NULL;
}

static struct kin_error *put_traditional(struct kin_table *t, const struct render_opts *o,
					 const char *format, const char *second,
					 const char *per_call, const struct flat_layout *layout,
					 FILE *out)
{
	size_t at[N_KEYS];
	struct kin_error *err = gnu_columns(t, format, keys, N_KEYS, at);
	if (err)
		return err;

	if (!o->brief)
		fprintf(out, "\n\n\nflat profile:\n%s%s", gnu_flat_blurb,
			layout->notes ? layout->notes : "");
	fputc('\n', out);
	gnu_granularity(t, o, gnu_number(t, "total"), gnu_text(t, "dimension"),
			" no time accumulated", out);
	put_header(second, gnu_text(t, "dimension"), per_call, out);
	put_rows(t, o, at, layout, out);
	return NULL;
}

static struct kin_error *render_traditional(struct kin_table *t, const struct render_opts *o,
					    FILE *out)
{
	struct flat_layout layout = {
		5, 1, 10, 2, 2, false, kin_table_property(t, "has_arcs")->count, 1e3, NULL
	};
	char second[16], per_call[16];
	snprintf(second, sizeof(second), "%9.9s ", gnu_text(t, "dimension"));
	put_per_call(t, 'm', per_call);
	return put_traditional(t, o, "gnu-flat-traditional", second, per_call, &layout, out);
}

/* Uses finer units for faster clocks. */
static struct kin_error *render_freebsd(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	double rate = kin_table_rate(t);
	struct flat_layout layout = { 5, 1, 10, 2, 2, true, true, 1e3, freebsd_flat_notes };
	const char *per_call = "ms/call";

	if (rate >= 10000) {
		per_call = rate >= 10000000 ? "ns/call" : "us/call";
		layout.scale = rate >= 10000000 ? 1e9 : 1e6;
		layout.seconds_decimals = 3;
		layout.call_decimals = 0;
	}
	return put_traditional(t, o, "freebsd-flat", "  seconds ", per_call, &layout, out);
}

static struct kin_error *render_openbsd(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	static const struct flat_layout layout = { 5, 1, 10, 2, 2, false, true, 1e3, NULL };
	return put_traditional(t, o, "openbsd-flat", "  seconds ", "ms/call", &layout, out);
}

const struct renderer gnu_flat_renderer = { "gnu-flat", "GNU gprof's flat profile", render };
const struct renderer gnu_flat_traditional_renderer = { "gnu-flat-traditional",
							"the flat profile of gprof -T",
							render_traditional };
const struct renderer freebsd_flat_renderer = { "freebsd-flat",
						"the flat profile of FreeBSD's gprof",
						render_freebsd };
const struct renderer openbsd_flat_renderer = { "openbsd-flat",
						"the flat profile of OpenBSD's gprof",
						render_openbsd };
