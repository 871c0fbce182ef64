/* perf_stdio.c - perf report --stdio's layout of the report "hists".
 *
 * Columns stand two blanks apart, percentages 8 wide, counts 12, names as wide as the longest one
 * there is, shown or not. Below each row come its call chains: perf_chains.c. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"
#include "table/perf_private.h"

enum { COUNT_WIDTH = 12, ADDRESS_WIDTH = 16, INDENT = 3 };

/* ---- rows ---- */

static bool is_any(const char *key, const char *const *keys, size_t n)
{
	for (size_t i = 0; key && i < n; i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

static bool is_symbol(const struct kin_column *c)
{
	return !strcmp(c->key, "symbol") || !strcmp(c->key, "symoff");
}

/* perf leaves the blanks behind these out at the end of a line. */
static bool ends_ragged(const char *key)
{
	static const char *const keys[] = {
		"symbol",    "symoff",       "srcline",      "srcfile",     "time",      "cgroup",
		"cgroup_id", "addr_from",    "addr_to",      "symbol_from", "symbol_to", "locked",
		"blocked",   "symbol_daddr", "symbol_iaddr", "dcacheline"
	};
	return is_any(key, keys, ARRAY_LEN(keys));
}

/* Names that perf cuts where the column is narrower. */
static bool is_cut(const struct kin_column *c, const char *name)
{
	static const char *const keys[] = { "comm",   "dso",     "dso_from", "dso_to",
					    "parent", "srcline", "srcfile",  "time" };
	if (is_symbol(c))
		return strncmp(name, "0x", 2) != 0 && name[strspn(name, "0")];
	return is_any(c->key, keys, ARRAY_LEN(keys));
}

/* perf writes as many digits as the column is wide, or three less; sizes stand at its right. */
static char *more_digits(const struct kin_column *c, char *name, size_t width)
{
	if (!strcmp(c->key, "symbol_size")) {
		char *right = xprintf("%*s", (int)width, name + strspn(name, " "));
		free(name);
		return right;
	}
	bool cpu = !strcmp(c->key, "cpu"), socket = !strcmp(c->key, "socket");
	const char *digits = name + strspn(name, " ");
	if ((!cpu && !socket) || !*digits || digits[strspn(digits, "0123456789")])
		return name;
	int n = (int)width - (socket ? 3 : 0);
	char *ret = xprintf("%*.*lu", (int)width, n > 0 ? n : 0, strtoul(digits, NULL, 10));
	free(name);
	return ret;
}

/* Of figures that all events of a group have, those of the others follow the first one's: "self_2"
 * without a gap and without a title of its own. */
static bool goes_on(const struct perf_page *p, size_t i)
{
	const struct kin_column *c = kin_table_column(p->t, p->cols[i]);
	const char *end = strrchr(c->key, '_');
	return c->type != KIN_CELL_TEXT && end && end[1] >= '0' && end[1] <= '9';
}

/* Where a sample was taken in no object perf sees to it that the column has room for an address. */
static size_t room_for_address(const struct perf_page *p, size_t width)
{
	bool wanted = render_count(p->t, "unmapped") && !p->o->separator && !p->o->widths;
	return wanted && width < ADDRESS_WIDTH ? ADDRESS_WIDTH : width;
}

static size_t width_of(const struct perf_page *p, const struct kin_column *c)
{
	char key[64];
	size_t width = c->type == KIN_CELL_SHARE   ? PERF_PERCENT_WIDTH
		       : c->type == KIN_CELL_COUNT ? COUNT_WIDTH
						   : 0;
	if (c->type == KIN_CELL_TEXT) {
		snprintf(key, sizeof(key), "width_%s", c->key);
		width = (size_t)render_count(p->t, key) + (is_symbol(c) ? 4 : 0);
		width = !strcmp(c->key, "dso") ? room_for_address(p, width) : width;
	}
	return width < strlen(c->title) ? strlen(c->title) : width;
}

/* Of all events together, and no narrower than the title. */
static size_t title_width(const struct perf_page *p, size_t i)
{
	const struct kin_column *c = kin_table_column(p->t, p->cols[i]);
	size_t width = p->widths[i], n = strlen(c->title);
	if (c->type == KIN_CELL_TEXT)
		return width;
	size_t each = width_of(p, c), all = each;
	while (++i < p->n && goes_on(p, i))
		all += each;
	width = p->group_size > 1 && all > width ? all : width;
	return n > width ? n : width;
}

static bool is_last(const struct perf_page *p, size_t i)
{
	for (i++; i < p->n && goes_on(p, i); i++)
		;
	return i == p->n && !render_count(p->t, "last_elided");
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

/* Behind a figure before a separator: that of all events of a group comes behind the last one. */
static void put_padding(struct perf_page *p, size_t i, size_t n, bool wanted)
{
	p->put += n;
	if (i + 1 < p->n && goes_on(p, i + 1))
		return;
	size_t first = i;
	while (first && goes_on(p, first))
		first--;
	size_t width = title_width(p, first);
	sink_pad(&p->s, wanted && p->put < width ? width - p->put : 0);
	p->put = 0;
}

static void put_text(struct perf_page *p, size_t i, const struct kin_cell *cell,
		     const struct kin_row *row, bool last)
{
	const struct kin_column *column = kin_table_column(p->t, p->cols[i]);
	size_t width = p->widths[i], mark = is_symbol(column) ? 4 : 0;
	char *name = more_digits(column, perf_name(p, cell->text), width);
	size_t n = strlen(name);
	if (is_cut(column, name) && n + mark > width && width >= mark)
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
	if (n < width && !(last && ends_ragged(column->key)))
		sink_pad(&p->s, width - n);
}

/* With a separator, one blank and no alignment: perf's way. */
static void put_cell(struct perf_page *p, size_t i, const struct kin_cell *cell,
		     const struct kin_row *row, bool last)
{
	size_t width = p->widths[i], n;
	bool sep = p->o->separator;
	char buf[64];
	switch (cell->type) {
	case KIN_CELL_SHARE:
		snprintf(buf, sizeof(buf), "%.2f%%", perf_percent(cell->number));
		sink_char(&p->s, ' ');
		perf_put_percent(p, perf_percent(cell->number),
				 sep || width < 2 ? 0 : (int)width - 2);
		n = sep || strlen(buf) + 1 > width ? strlen(buf) + 1 : width;
		put_padding(p, i, n, !last);
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
		sink_pad(&p->s, last ? 0 : title_width(p, i) - width);
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

/* How wide the names of a level are: as the widest, or the title. */
static size_t level_width(const struct perf_page *p, const char *key)
{
	char name[64];
	snprintf(name, sizeof(name), "width_%s", key);
	size_t width = (size_t)render_count(p->t, name);
	snprintf(name, sizeof(name), "title_%s", key);
	const char *title = render_text(p->t, name);
	if (title && strlen(title) > width)
		width = strlen(title);
	return !strcmp(key, "dso") ? room_for_address(p, width) : width;
}

static void put_level_name(struct perf_page *p, const struct kin_row *row)
{
	char name_of_key[32];
	snprintf(name_of_key, sizeof(name_of_key), "level_key_%u", (unsigned)row->depth);
	const char *given = render_text(p->t, name_of_key), *key = given ? given : "";
	char *whole = perf_name(p, row->cells[p->tree].text), *name = whole + strspn(whole, " ");
	size_t n = strlen(whole), width = level_width(p, key);
	if (!strcmp(key, "comm") && strlen(name) > width)
		name[width] = '\0';
	if (!strcmp(key, "symbol") || !strcmp(key, "symoff"))
		put_cell(p, p->n - 1, &row->cells[p->tree], row, true);
	else
		sink_str(&p->s, name);
	if (n < width && !ends_ragged(key))
		sink_pad(&p->s, width - n);
	free(whole);
}

/* Figures first, then the name, indented by its level. */
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
		sink_pad(&p->s, (render_count(p->t, "levels") - 1) * INDENT);
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
	size_t n = strlen(c->title), width = title_width(p, i), pad = n < width ? width - n : 0;
	bool left = c->type == KIN_CELL_TEXT;
	sink_pad(&p->s, left ? 0 : pad);
	sink_bytes(&p->s, c->title, left && n > width ? width : n);
	sink_pad(&p->s, left ? pad : 0);
}

static void put_level_header(struct perf_page *p)
{
	const char *sep = p->o->separator;
	size_t n_levels = render_count(p->t, "levels"), figures = 0,
	       indent = sep ? 0 : (n_levels - 1) * INDENT;
	const char *titles = render_text(p->t, "levels_title");
	sink_str(&p->s, "# ");
	sink_pad(&p->s, indent);
	for (size_t i = 0; i < p->n; i++)
		if (!kin_table_column(p->t, p->cols[i])->tree && !goes_on(p, i)) {
			put_title(p, i);
			sink_str(&p->s, sep ? sep : "  ");
		}
	sink_str(&p->s, titles);
	sink_str(&p->s, "\n# ");
	put_dots(p, indent);
	for (size_t i = 0; i < p->n; i++)
		if (!kin_table_column(p->t, p->cols[i])->tree && !goes_on(p, i)) {
			sink_str(&p->s, !figures++ ? "" : sep ? sep : "..");
			put_dots(p, title_width(p, i));
		}
	size_t width = strlen(titles), lowest = render_count(p->t, "levels_width");
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
		put_dots(p, title_width(p, i));
	}
	sink_str(&p->s, "\n#\n");
}

static void put_elided(struct perf_page *p)
{
	char key[32];
	for (size_t i = 0; snprintf(key, sizeof(key), "elided_%zu", i), render_text(p->t, key);
	     i++) {
		char *name = escape_copy(render_text(p->t, key));
		sink_str(&p->s, "# ");
		sink_str(&p->s, name);
		sink_char(&p->s, '\n');
		free(name);
	}
}

/* Above the first event; false: there is none. */
static bool put_first_heading(struct perf_page *p)
{
	char buf[64];
	if (!render_count(p->t, "headed"))
		sink_str(&p->s, "# To display the perf.data header info, please use "
				"--header/--header-only options.\n#\n");
	if (!render_count(p->t, "n_events"))
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
	const char *event = render_text(p->t, "event"), *times = render_text(p->t, "times");
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

static void put_heading(struct perf_page *p)
{
	char buf[64];
	if (kin_table_property(p->t, "first") && !put_first_heading(p))
		return;
	put_samples(p);
	const char *order = render_text(p->t, "sort_order"), *socket = render_text(p->t, "socket");
	snprintf(buf, sizeof(buf), "# %s: %" PRIu64 "\n",
		 order ? "Total weight " : "Event count (approx.)", render_count(p->t, "weight"));
	sink_str(&p->s, buf);
	if (socket)
		put_line(p, "# Processor Socket: ", socket);
	if (order)
		put_line(p, "# Sort order   : ", order);
	sink_str(&p->s, "#\n");
	if (p->hierarchy)
		put_level_header(p);
	else
		put_column_header(p);
}

/* ---- all of it ---- */

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
		p->widths[i] = width_of(p, kin_table_column(p->t, p->cols[i]));
		/* those that are elided have widths, too */
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
}

static void put_rows(struct perf_page *p)
{
	struct kin_row row;
	uint64_t row_sum = 0;
	bool pending = false;
	kin_table_rewind(p->t);
	while (kin_table_next(p->t, &row)) {
		if (row.kind != KIN_ROW_PLAIN) {
			perf_keep_hop(p, &row);
			continue;
		}
		if (pending)
			perf_put_chains(p, row_sum);
		const struct kin_cell *sum = &row.cells[p->no_children ? p->self : p->children];
		row_sum = sum->type == KIN_CELL_COUNT ? sum->count : 0;
		if (p->hierarchy)
			put_level_row(p, &row);
		else
			put_row(p, &row);
		pending = strcmp(p->mode, "none") != 0;
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
	p->mode = render_text(p->t, "chains");
	p->value = render_text(p->t, "chain_value");
	if (!p->mode || !p->value)
		return err_new(KIN_ERROR_USAGE, "the format perf is for the report hists");
	return NULL;
}

static struct kin_error *render(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	struct perf_page *p = xalloc(sizeof(*p));
	p->t = t;
	p->o = o;
	sink_init(&p->s, out);
	struct kin_error *err = find_columns(p);
	if (err) {
		free(p);
		return err;
	}
	struct columns shown = render_shown(t);
	p->cols = shown.at;
	p->n = shown.n;
	p->widths = xalloc((p->n + 1) * sizeof(*p->widths));
	p->total = render_count(p->t, "chain_total");
	p->limit = render_count(p->t, "chain_limit");
	p->skip_first = render_count(p->t, "chain_skip_first");
	p->no_children = render_count(p->t, "no_children");
	p->hierarchy = render_count(p->t, "hierarchy");
	p->group_size = (size_t)render_count(p->t, "group_size");
	set_widths(p);
	if (!o->quiet)
		put_heading(p);
	else if (kin_table_property(t, "first"))
		put_elided(p); /* by perf even then */
	put_rows(p);
	if (render_count(t, "n_events"))
		sink_str(&p->s, "\n\n");
	if (render_count(t, "n_events") && !o->quiet && kin_table_property(t, "last"))
		sink_str(&p->s, "#\n#\n");
	sink_flush(&p->s);
	vec_free(&p->hops);
	free(p->widths);
	columns_free(&shown);
	free(p);
	return NULL;
}

const struct renderer perf_renderer = { "perf", "as perf report --stdio", render };
