/* perf_stdio.c - perf report --stdio's layout of the report "hists".
 *
 * Columns are two blanks apart, percentages 8 wide, counts 12, names as wide as the longest one in
 * the data, shown or not. Call chains follow below each row: perf_chains.c. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hist_key.h"
#include "base/err.h"
#include "base/escape.h"
#include "perf/perf_keys.h"
#include "perf/perf_page.h"

enum { COUNT_WIDTH = 12, ADDRESS_WIDTH = 16, LEVEL_WIDTH = 4, INDENT = 3 };

/* ---- rows ---- */

static enum hist_key key_at(const struct perf_page *p, size_t i) { return p->keys[p->cols[i]]; }

static bool is_symbol(enum hist_key key) { return key == HIST_SYM || key == HIST_SYMOFF; }

static bool is_ragged(enum hist_key key) { return key != N_HIST_KEYS && perf_key_is_ragged(key); }

/* Names that perf truncates if the column is narrower. */
static bool is_cut(enum hist_key key, const char *name)
{
	if (is_symbol(key))
		return strncmp(name, "0x", 2) != 0 && name[strspn(name, "0")];
	return key != N_HIST_KEYS && perf_key_is_cut(key);
}

/* Formats numbers as perf does: CPUs with as many digits as the column is wide, sockets with three
 * less; sizes are right-aligned. */
static char *more_digits(enum hist_key key, char *name, size_t width)
{
	if (key == HIST_SYMBOL_SIZE) {
		char *right = xprintf("%*s", (int)width, name + strspn(name, " "));
		free(name);
		return right;
	}
	bool cpu = key == HIST_CPU, socket = key == HIST_SOCKET;
	const char *digits = name + strspn(name, " ");
	if ((!cpu && !socket) || !*digits || digits[strspn(digits, "0123456789")])
		return name;
	int n = (int)width - (socket ? 3 : 0);
	char *ret = xprintf("%*.*lu", (int)width, n > 0 ? n : 0, strtoul(digits, NULL, 10));
	free(name);
	return ret;
}

/* Whether the column is another event's value of the figure before it, such as "self_2". In event
 * groups such columns follow the first event's without a gap and without a title. */
static bool goes_on(const struct perf_page *p, size_t i)
{
	const struct kin_column *c = kin_table_column(p->t, p->cols[i]);
	const char *end = strrchr(c->key, '_');
	return c->type != KIN_CELL_TEXT && end && end[1] >= '0' && end[1] <= '9';
}

/* If a sample was taken in no known function, perf makes the column wide enough for an address. */
static size_t room_for_address(const struct perf_page *p, size_t width)
{
	bool wanted = p->layout->unmapped && !p->o->separator && !p->o->widths;
	return wanted && width < ADDRESS_WIDTH ? ADDRESS_WIDTH : width;
}

static size_t width_of(const struct perf_page *p, size_t col)
{
	const struct kin_column *c = kin_table_column(p->t, col);
	enum hist_key key = p->keys[col];
	size_t width = c->type == KIN_CELL_SHARE   ? PERF_PERCENT_WIDTH
		       : c->type == KIN_CELL_COUNT ? COUNT_WIDTH
						   : 0;
	if (key != N_HIST_KEYS) {
		width = p->layout->widths[key] + (is_symbol(key) ? LEVEL_WIDTH : 0);
		width = key == HIST_DSO ? room_for_address(p, width) : width;
	}
	return width < strlen(c->title) ? strlen(c->title) : width;
}

/* The width of a title: the sum of the figure's columns of all events, but no less than the
 * text. */
static size_t find_title_width(const struct perf_page *p, size_t i)
{
	const struct kin_column *c = kin_table_column(p->t, p->cols[i]);
	size_t width = p->widths[i], n = strlen(c->title);
	if (c->type == KIN_CELL_TEXT)
		return width;
	size_t each = width_of(p, p->cols[i]), all = each;
	while (++i < p->n && goes_on(p, i))
		all += each;
	width = p->group_size > 1 && all > width ? all : width;
	return n > width ? n : width;
}

static bool is_last(const struct perf_page *p, size_t i)
{
	for (i++; i < p->n && goes_on(p, i); i++)
		;
	return i == p->n && !p->layout->last_elided;
}

static void put_gap(struct perf_page *p, size_t i)
{
	if (goes_on(p, i))
		return;
	if (p->o->separator)
		sink_str(&p->s, i ? p->o->separator : "");
	else
		sink_str(&p->s, "  ");
}

/* Pads a figure before a separator. In event groups the padding of all columns follows the last
 * one. */
static void put_padding(struct perf_page *p, size_t i, size_t n, bool wanted)
{
	p->put += n;
	if (i + 1 < p->n && goes_on(p, i + 1))
		return;
	size_t first = i;
	while (first && goes_on(p, first))
		first--;
	size_t width = p->title_widths[first];
	sink_pad(&p->s, wanted && p->put < width ? width - p->put : 0);
	p->put = 0;
}

static void put_text(struct perf_page *p, size_t i, const struct kin_cell *cell,
		     const struct kin_row *row, bool last)
{
	enum hist_key key = key_at(p, i);
	size_t width = p->widths[i], mark = is_symbol(key) ? LEVEL_WIDTH : 0;
	char *name = more_digits(key, perf_name(p, cell->text), width);
	size_t n = strlen(name);
	if (is_cut(key, name) && n + mark > width && width >= mark)
		name[n = width - mark] = '\0';
	if (mark) {
		const struct kin_cell *level = &row->cells[p->level];
		sink_char(&p->s, '[');
		sink_str(&p->s, level->type == KIN_CELL_TEXT ? level->text : ".");
		sink_str(&p->s, "] ");
	}
	sink_str(&p->s, name);
	free(name);
	n += mark;
	if (n < width && !(last && is_ragged(key)))
		sink_pad(&p->s, width - n);
}

/* Prints a cell. With a separator there is one blank and no alignment, as in perf. */
static void put_cell(struct perf_page *p, size_t i, const struct kin_cell *cell,
		     const struct kin_row *row, bool last)
{
	size_t width = p->widths[i], n;
	bool sep = p->o->separator;
	char buf[64];
	switch (cell->type) {
	case KIN_CELL_SHARE:
		sink_char(&p->s, ' ');
		n = perf_put_percent(p, perf_percent(cell->number),
				     sep || width < 2 ? 0 : (unsigned)width - 2);
		put_padding(p, i, n + 1, !last);
		break;
	case KIN_CELL_COUNT:
		snprintf(buf, sizeof(buf), " %*" PRIu64, sep ? 0 : (int)width - 1, cell->count);
		sink_str(&p->s, buf);
		put_padding(p, i, strlen(buf), !last);
		break;
	case KIN_CELL_TEXT:
		put_text(p, i, cell, row, last);
		break;
	case KIN_CELL_NONE:
		if (goes_on(p, i))
			break;
		sink_pad(&p->s, width > 3 ? width - 3 : 0);
		sink_str(&p->s, "N/A");
		sink_pad(&p->s, last ? 0 : p->title_widths[i] - width);
		break;
	case KIN_CELL_TIME:
	case KIN_CELL_NUMBER:
	case KIN_CELL_ADDRESS:
	case KIN_CELL_OF:
	case KIN_CELL_PLUS:
		break;
	}
}

static void put_row(struct perf_page *p, const struct kin_row *row)
{
	for (size_t i = 0; i < p->n; i++) {
		put_gap(p, i);
		put_cell(p, i, &row->cells[p->cols[i]], row, is_last(p, i));
	}
	sink_char(&p->s, '\n');
}

/* The width of a level's names: that of the widest, or of the title. */
static size_t level_width(const struct perf_page *p, enum hist_key key)
{
	size_t width = p->layout->widths[key], title = strlen(perf_key_title(key));
	width = width < title ? title : width;
	return key == HIST_DSO ? room_for_address(p, width) : width;
}

static void put_level_name(struct perf_page *p, const struct kin_row *row)
{
	enum hist_key key = p->ask->keys.at[row->depth];
	char *whole = perf_name(p, row->cells[p->tree].text), *name = whole + strspn(whole, " ");
	size_t n = strlen(whole), width = level_width(p, key);
	if (key == HIST_COMM && strlen(name) > width)
		name[width] = '\0';
	if (is_symbol(key))
		put_cell(p, p->n - 1, &row->cells[p->tree], row, true);
	else
		sink_str(&p->s, name);
	if (n < width && !is_ragged(key))
		sink_pad(&p->s, width - n);
	free(whole);
}

/* Prints the figures first, then the name, indented by its level. */
static void put_level_row(struct perf_page *p, const struct kin_row *row)
{
	sink_pad(&p->s, row->depth * INDENT);
	for (size_t i = 0; i < p->n; i++) {
		if (kin_table_column(p->t, p->cols[i])->tree)
			continue;
		put_gap(p, i);
		put_cell(p, i, &row->cells[p->cols[i]], row, false);
	}
	if (!p->o->separator)
		sink_pad(&p->s, (p->ask->keys.n - 1) * INDENT);
	sink_str(&p->s, p->o->separator ? p->o->separator : "  ");
	put_level_name(p, row);
	sink_char(&p->s, '\n');
}

/* ---- headers ---- */

static void put_dots(struct perf_page *p, size_t n)
{
	for (; n; n--)
		sink_char(&p->s, '.');
}

static void put_title(struct perf_page *p, size_t i)
{
	const struct kin_column *c = kin_table_column(p->t, p->cols[i]);
	size_t n = strlen(c->title), width = p->title_widths[i], pad = n < width ? width - n : 0;
	bool left = c->type == KIN_CELL_TEXT;
	sink_pad(&p->s, left ? 0 : pad);
	sink_bytes(&p->s, c->title, left && n > width ? width : n);
	sink_pad(&p->s, left ? pad : 0);
}

/* Prints "Command / Shared Object / Symbol"; returns its width. */
static size_t put_level_titles(struct perf_page *p)
{
	size_t width = 0;
	for (size_t i = 0; i < p->ask->keys.n; i++) {
		const char *title = perf_key_title(p->ask->keys.at[i]);
		title += strspn(title, " ");
		sink_str(&p->s, i ? " / " : "");
		sink_str(&p->s, title);
		width += strlen(title) + (i ? strlen(" / ") : 0);
	}
	return width;
}

/* The width of the widest name of all levels, with its indent. */
static size_t lowest_width(const struct perf_page *p)
{
	size_t widest = 0;
	for (size_t i = 0; i < p->ask->keys.n; i++) {
		enum hist_key key = p->ask->keys.at[i];
		size_t title = strlen(perf_key_title(key)),
		       width = p->layout->widths[key] + (is_symbol(key) ? LEVEL_WIDTH : 0);
		width = width < title ? title : width;
		if (key == HIST_DSO && p->layout->unmapped && width < ADDRESS_WIDTH)
			width = ADDRESS_WIDTH;
		widest = width + INDENT * i > widest ? width + INDENT * i : widest;
	}
	return widest;
}

static void put_level_header(struct perf_page *p)
{
	const char *sep = p->o->separator;
	size_t figures = 0, indent = sep ? 0 : (p->ask->keys.n - 1) * INDENT;
	sink_str(&p->s, "# ");
	sink_pad(&p->s, indent);
	for (size_t i = 0; i < p->n; i++)
		if (!kin_table_column(p->t, p->cols[i])->tree && !goes_on(p, i)) {
			put_title(p, i);
			sink_str(&p->s, sep ? sep : "  ");
		}
	size_t width = put_level_titles(p), lowest = lowest_width(p);
	sink_str(&p->s, "\n# ");
	put_dots(p, indent);
	for (size_t i = 0; i < p->n; i++)
		if (!kin_table_column(p->t, p->cols[i])->tree && !goes_on(p, i)) {
			sink_str(&p->s, !figures++ ? "" : sep ? sep : "..");
			put_dots(p, p->title_widths[i]);
		}
	sink_str(&p->s, sep ? sep : "  ");
	put_dots(p, width > lowest ? width : lowest);
	sink_str(&p->s, "\n#\n");
}

static void put_column_header(struct perf_page *p)
{
	const char *sep = p->o->separator;
	sink_str(&p->s, "# ");
	for (size_t i = 0; i < p->n; i++) {
		if (goes_on(p, i))
			continue;
		sink_str(&p->s, !i ? "" : sep ? sep : "  ");
		put_title(p, i);
	}
	sink_char(&p->s, '\n');
	if (sep)
		return;
	sink_str(&p->s, "# ");
	for (size_t i = 0; i < p->n; i++) {
		if (goes_on(p, i))
			continue;
		sink_str(&p->s, i ? "  " : "");
		put_dots(p, p->title_widths[i]);
	}
	sink_str(&p->s, "\n#\n");
}

static void put_elided(struct perf_page *p)
{
	for (size_t i = 0; i < p->layout->n_elided; i++) {
		char *name = escape_copy(p->layout->elided[i]);
		sink_str(&p->s, "# ");
		sink_str(&p->s, name);
		sink_char(&p->s, '\n');
		free(name);
	}
}

/* Prints the lines above the first event; false: there are no events. */
static bool put_first_heading(struct perf_page *p)
{
	char buf[64];
	if (!p->ask->given->headed)
		sink_str(&p->s, "# To display the perf.data header info, please use "
				"--header/--header-only options.\n#\n");
	if (!p->ask->n_events)
		return false;
	put_elided(p);
	snprintf(buf, sizeof(buf), "#\n# Total Lost Samples: %" PRIu64 "\n#\n",
		 render_count(p->t, "lost"));
	sink_str(&p->s, buf);
	return true;
}

/* "# Samples: 12K of event 'cycles' (time slices: 10%-20%)"; thousands are cut off, not rounded. */
static void put_samples(struct perf_page *p)
{
	static const char units[] = " KMG";
	char buf[64];
	uint64_t samples = render_count(p->t, "samples");
	size_t unit = 0;
	for (; samples > 1000 && unit < 3; unit++)
		samples /= 1000;
	const char *event = render_text(p->t, "event"), *times = p->ask->given->times;
	char *safe = escape_copy(event ? event : "");
	snprintf(buf, sizeof(buf), "# Samples: %" PRIu64 "%c of event%s '", samples, units[unit],
		 p->group_size > 1 ? "s" : "");
	sink_str(&p->s, buf);
	sink_str(&p->s, safe);
	sink_char(&p->s, '\'');
	free(safe);
	if (times) {
		sink_str(&p->s, " (time slices: ");
		sink_str(&p->s, times);
		sink_char(&p->s, ')');
	}
	sink_char(&p->s, '\n');
}

static void put_line(struct perf_page *p, const char *label, const char *text)
{
	char *safe = escape_copy(text);
	sink_str(&p->s, label);
	sink_str(&p->s, safe);
	sink_char(&p->s, '\n');
	free(safe);
}

static bool is_first(const struct perf_page *p) { return !p->ask->given->event; }

static bool is_last_event(const struct perf_page *p)
{
	return p->ask->given->event + 1 >= p->ask->n_events;
}

static void put_heading(struct perf_page *p)
{
	char buf[64];
	if (is_first(p) && !put_first_heading(p))
		return;
	put_samples(p);
	const char *order = p->layout->sort_order, *socket = p->ask->given->socket;
	snprintf(buf, sizeof(buf), "# %s: %" PRIu64 "\n",
		 order ? "Total weight " : "Event count (approx.)", render_count(p->t, "weight"));
	sink_str(&p->s, buf);
	if (socket)
		put_line(p, "# Processor Socket: ", socket);
	if (order)
		put_line(p, "# Sort order   : ", order);
	sink_str(&p->s, "#\n");
	if (p->ask->given->hierarchy)
		put_level_header(p);
	else
		put_column_header(p);
}

/* ---- the page ---- */

static const char *behind_comma(const char *list)
{
	const char *comma = strchr(list, ',');
	return comma ? comma + 1 : "";
}

static bool is_elided(const struct perf_page *p, size_t i)
{
	const struct kin_column *c = kin_table_column(p->t, i);
	return c->hidden && c->type == KIN_CELL_TEXT && i != p->level;
}

static void set_widths(struct perf_page *p)
{
	const char *given = p->o->widths;
	for (size_t i = 0; i < p->n; i++) {
		char *end;
		p->widths[i] = width_of(p, p->cols[i]);
		/* elided columns have widths in the list, too */
		for (size_t k = i ? p->cols[i - 1] + 1 : 0; given && k < p->cols[i]; k++)
			given = is_elided(p, k) ? behind_comma(given) : given;
		if (!given || !*given)
			continue;
		unsigned long n = strtoul(given, &end, 10);
		p->widths[i] = end != given && n && n < 10000 ? n : p->widths[i];
		while (i + 1 < p->n && goes_on(p, i + 1)) { /* the same for all events */
			p->widths[i + 1] = p->widths[i];
			i++;
		}
		given = *end == ',' ? end + 1 : "";
	}
	for (size_t i = 0; i < p->n; i++)
		p->title_widths[i] = find_title_width(p, i);
}

static void put_rows(struct perf_page *p)
{
	struct kin_row row;
	uint64_t row_sum = 0;
	bool pending = false;
	kin_table_rewind(p->t);
	while (table_next(p->t, &row)) {
		if (row.kind != KIN_ROW_PLAIN) {
			perf_keep_hop(p, &row);
			continue;
		}
		if (pending)
			perf_put_chains(p, row_sum);
		const struct kin_cell *sum =
			&row.cells[p->ask->opts.no_children ? p->self : p->children];
		row_sum = sum->type == KIN_CELL_COUNT ? sum->count : 0;
		if (p->ask->given->hierarchy)
			put_level_row(p, &row);
		else
			put_row(p, &row);
		pending = p->mode != MODE_NONE;
	}
	if (pending)
		perf_put_chains(p, row_sum);
}

static struct kin_error *find_columns(struct perf_page *p)
{
	static const char *const keys[] = {
		"level",         "chain_weight",      "chain_end_weight",
		"chain_samples", "chain_end_samples", "children_weight",
		"self_weight"
	};
	size_t *const to[] = { &p->level, &p->sum,      &p->hit, &p->n_sum,
			       &p->n_hit, &p->children, &p->self };
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		*to[i] = kin_table_find_column(p->t, keys[i]);
		if (*to[i] == kin_table_n_columns(p->t))
			return err_new(KIN_ERROR_USAGE, "the format perf is for the report hists");
	}
	for (size_t i = 0; i < kin_table_n_columns(p->t); i++)
		if (kin_table_column(p->t, i)->tree)
			p->tree = i;
	return NULL;
}

/* Finds the key of each column. */
static void find_keys(struct perf_page *p)
{
	size_t n = kin_table_n_columns(p->t);
	p->keys = xalloc((n + 1) * sizeof(*p->keys));
	for (size_t i = 0; i < n; i++) {
		p->keys[i] = 0;
		while (p->keys[i] < N_HIST_KEYS &&
		       strcmp(hist_keys[p->keys[i]].column, kin_table_column(p->t, i)->key) != 0)
			p->keys[i]++;
	}
}

static struct kin_error *render(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	const struct perf_layout *layout = perf_layout_of(t);
	if (!layout)
		return err_new(KIN_ERROR_USAGE, "the format perf is for the report hists");
	struct perf_page *p = xalloc(sizeof(*p));
	p->t = t;
	p->o = o;
	p->layout = layout;
	p->ask = layout->state->ask;
	sink_init(&p->s, out);
	struct kin_error *err = find_columns(p);
	if (err) {
		free(p);
		return err;
	}
	struct columns shown = render_shown(t);
	p->cols = shown.at;
	p->n = shown.n;
	find_keys(p);
	p->widths = xalloc((p->n + 1) * sizeof(*p->widths));
	p->title_widths = xalloc((p->n + 1) * sizeof(*p->title_widths));
	p->mode = layout->state->chains ? p->ask->mode : MODE_NONE;
	p->total = layout->state->hists->unfiltered[0].weight;
	p->group_size = p->ask->opts.n_events;
	set_widths(p);
	if (!o->quiet)
		put_heading(p);
	else if (is_first(p))
		put_elided(p); /* perf prints these even if quiet */
	put_rows(p);
	if (p->ask->n_events)
		sink_str(&p->s, "\n\n");
	if (p->ask->n_events && !o->quiet && is_last_event(p))
		sink_str(&p->s, "#\n#\n");
	sink_flush(&p->s);
	vec_free(&p->hops);
	free(p->widths);
	free(p->title_widths);
	free(p->keys);
	columns_free(&shown);
	free(p);
	return NULL;
}

const struct renderer perf_renderer = { "perf", "as perf report --stdio", render };
