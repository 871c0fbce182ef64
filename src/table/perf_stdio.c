/* perf_stdio.c - perf report --stdio's layout of the report "hists".
 *
 * Columns stand two blanks apart, percentages 8 wide, counts 12, names as wide as the longest one
 * there is, shown or not. Below each row come its call chains: a tree with the share of each branch
 * ("graph", "fractal"), or one chain after the other ("flat", "folded"). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"
#include "base/sink.h"
#include "base/vec.h"
#include "table/render.h"

#define RED   "\033[31m"
#define GREEN "\033[32m"
#define RESET "\033[m"

enum { PERCENT_WIDTH = 8, COUNT_WIDTH = 12, ADDRESS_WIDTH = 16, INDENT = 3, MAX_DEPTH = 512 };

struct hop { /* a row of a chain */
	char *name;
	uint32_t depth;
	bool joins;
	uint64_t sum, hit, n_sum, n_hit;
	bool last; /* of its siblings */
};

struct page {
	struct kin_table *t;
	const struct render_opts *o;
	struct sink s;
	size_t *cols, n; /* shown */
	size_t *widths;  /* [shown] */
	size_t tree, level, sum, hit, n_sum, n_hit, children, self;
	const char *mode, *value;
	uint64_t total, limit;
	bool skip_first, no_children, hierarchy;
	size_t group_size, put; /* characters of this figure's column */
	VEC(struct hop) hops;
	bool open[MAX_DEPTH + 2]; /* [depth]: more siblings follow at that level */
};

/* ---- pieces ---- */

/* A name safe to print; to be freed. The separator of columns is not left in it. */
static char *name_of(const struct page *p, const char *text)
{
	char *name = escape_copy(text);
	const char *sep = p->o->separator;
	if (sep && *sep && !sep[1])
		for (char *c = name; *c; c++)
			*c = *c == *sep ? '.' : *c;
	return name;
}

/* Of a share, which was rounded once: 3.455, where that made it 3.4549999999999996; what
 * 100 * part / total would be. */
static double percent_of(double share)
{
	double percent = 100 * share;
	return percent >= 0 && percent < 900 ? (double)(uint64_t)(percent * 1e13 + 0.5) / 1e13
					     : percent;
}

static void put_percent(struct page *p, double percent, int width)
{
	char buf[400];
	const char *color = !p->o->color ? NULL : percent >= 5 ? RED : percent > 0.5 ? GREEN : NULL;
	if (color)
		sink_str(&p->s, color);
	snprintf(buf, sizeof(buf), "%*.2f%%", width, percent);
	sink_str(&p->s, buf);
	if (color)
		sink_str(&p->s, RESET);
}

static void put_value(struct page *p, const struct hop *h, uint64_t total)
{
	char buf[32];
	bool folded = !strcmp(p->mode, "folded");
	uint64_t sum = folded ? h->hit : h->sum, n = folded ? h->n_hit : h->n_sum;
	if (!strcmp(p->value, "percent")) {
		put_percent(p, total ? (double)sum * 100.0 / (double)total : 0, 0);
		return;
	}
	snprintf(buf, sizeof(buf), "%" PRIu64, !strcmp(p->value, "count") ? n : sum);
	sink_str(&p->s, buf);
}

static void put_margin(struct page *p, size_t margin) { sink_pad(&p->s, 12 + margin); }

/* ---- trees ---- */

static void put_bars(struct page *p, uint32_t depth)
{
	for (uint32_t i = 0; i < depth && i < MAX_DEPTH; i++)
		sink_str(&p->s, p->open[i] ? "|          " : "           ");
	sink_char(&p->s, '\n');
}

static void put_hop(struct page *p, const struct hop *h, uint32_t depth, bool first, uint64_t total,
		    size_t margin)
{
	put_margin(p, margin);
	for (uint32_t i = 0; i < depth && i < MAX_DEPTH; i++) {
		sink_char(&p->s, p->open[i] ? '|' : ' ');
		if (first && i == depth - 1) {
			sink_str(&p->s, "--");
			put_value(p, h, total);
			sink_str(&p->s, "--");
		} else {
			sink_str(&p->s, "          ");
		}
	}
	sink_str(&p->s, h->name);
	sink_char(&p->s, '\n');
}

/* The end of the node that begins at i: behind the hops that join it. */
static size_t node_end(const struct page *p, size_t i)
{
	for (i++; i < p->hops.n && p->hops.at[i].joins; i++)
		;
	return i;
}

struct level {                /* of the walk */
	uint64_t total, left; /* what percentages are of; what of it was not shown yet */
	uint64_t count_left;
	uint32_t shown;
	bool done; /* the limit was reached */
};

static bool put_rest(struct page *p, const struct level *l, uint32_t depth, size_t margin,
		     bool relative)
{
	struct hop rest = { .name = UNCONST(char *, "[...]"),
			    .sum = l->left,
			    .n_sum = l->count_left };
	if (!relative || !l->left || l->left == l->total || !l->shown)
		return false;
	if (!strcmp(p->value, "count") && !l->count_left)
		return false;
	p->open[depth - 1] = false;
	put_hop(p, &rest, depth, true, l->total, margin);
	return true;
}

/* hops[first ..), the first of them at depth `base` of the chains and printed as level 1. */
static void put_tree(struct page *p, size_t first, uint32_t base, uint64_t total, uint64_t n_total,
		     size_t margin)
{
	bool relative = !strcmp(p->mode, "fractal");
	struct level *levels = xalloc((MAX_DEPTH + 2) * sizeof(*levels));
	uint32_t depth = 0;
	for (size_t i = first, end; i < p->hops.n; i = end) {
		const struct hop *h = &p->hops.at[i];
		uint32_t at = h->depth - base + 1;
		end = node_end(p, i);
		if (at > MAX_DEPTH)
			continue;
		for (; depth > at; depth--)
			put_rest(p, &levels[depth], depth, margin, relative);
		if (depth < at) {
			depth = at;
			const struct hop *parent = i > first ? &p->hops.at[i - 1] : NULL;
			bool own = relative && parent;
			levels[at] =
				(struct level){ .total = own ? parent->sum - parent->hit : total,
						.count_left = own ? parent->n_sum - parent->n_hit
								  : n_total };
			levels[at].left = levels[at].total;
		}
		struct level *l = &levels[at];
		if (l->done || (at > 1 && levels[at - 1].done && levels[at - 1].shown > p->limit)) {
			l->done = true; /* and nothing below it */
			l->shown = (uint32_t)p->limit + 1;
			continue;
		}
		l->left -= h->sum < l->left ? h->sum : l->left;
		l->count_left -= h->n_sum < l->count_left ? h->n_sum : l->count_left;
		p->open[at - 1] = true;
		put_margin(p, margin);
		put_bars(p, at);
		if (h->last && !(relative && l->left))
			p->open[at - 1] = false;
		for (size_t k = i; k < end; k++)
			put_hop(p, &p->hops.at[k], at, k == i, l->total, margin);
		p->open[at] = true;
		if (++l->shown == p->limit)
			l->done = true;
	}
	for (; depth; depth--)
		put_rest(p, &levels[depth], depth, margin, relative);
	free(levels);
}

static void mark_last(struct page *p)
{
	size_t *next = xalloc((MAX_DEPTH + 2) * sizeof(*next)); /* [depth]: a sibling follows */
	for (size_t i = p->hops.n; i--;) {
		struct hop *h = &p->hops.at[i];
		if (h->joins || h->depth > MAX_DEPTH)
			continue;
		h->last = !next[h->depth];
		next[h->depth] = 1;
		for (size_t d = h->depth + 1; d < MAX_DEPTH + 2 && next[d]; d++)
			next[d] = 0;
	}
	free(next);
}

/* A single root that everything goes through stands without a percentage. */
static void put_graph(struct page *p, uint64_t row_sum)
{
	size_t first = 0, margin = 0;
	uint32_t printed = 0, base = 1;
	bool relative = !strcmp(p->mode, "fractal"), any = false;
	uint64_t total = relative ? row_sum : p->total, n_total = 0;
	if (!p->hops.n)
		return;
	mark_last(p);
	for (size_t i = 0; i < p->hops.n; i++)
		n_total +=
			p->hops.at[i].depth == 1 && !p->hops.at[i].joins ? p->hops.at[i].n_sum : 0;
	if (p->hops.at[0].last && p->hops.at[0].sum == row_sum) {
		first = node_end(p, 0);
		for (size_t i = 0; i < first; i++) {
			if (!i && p->skip_first)
				continue;
			put_margin(p, margin);
			if (!any) {
				sink_str(&p->s, "|\n");
				put_margin(p, margin);
				sink_str(&p->s, "---");
				margin = 3;
				any = true;
			}
			sink_str(&p->s, p->hops.at[i].name);
			sink_char(&p->s, '\n');
			if (++printed == p->limit)
				break;
		}
		base = 2;
		n_total = p->hops.at[first - 1].n_sum - p->hops.at[first - 1].n_hit;
	}
	memset(p->open, 0, sizeof(p->open));
	put_tree(p, first, base, total, n_total, margin);
	if (any || first < p->hops.n)
		sink_char(&p->s, '\n');
}

/* ---- whole chains ---- */

static void put_chains(struct page *p)
{
	bool folded = !strcmp(p->mode, "folded");
	const char *sep = p->o->separator ? p->o->separator : ";";
	uint32_t printed = 0;
	for (size_t i = 0, end; i < p->hops.n; i = end) {
		end = node_end(p, i);
		if (!folded)
			sink_str(&p->s, "           ");
		put_value(p, &p->hops.at[end - 1], p->total);
		sink_char(&p->s, folded ? ' ' : '\n');
		for (size_t k = i; k < end; k++) {
			sink_str(&p->s, !folded ? "                " : k > i ? sep : "");
			sink_str(&p->s, p->hops.at[k].name);
			if (!folded)
				sink_char(&p->s, '\n');
		}
		sink_char(&p->s, '\n');
		if (++printed == p->limit)
			break;
	}
}

static void flush_chains(struct page *p, uint64_t row_sum)
{
	if (!strcmp(p->mode, "graph") || !strcmp(p->mode, "fractal"))
		put_graph(p, row_sum);
	else
		put_chains(p);
	for (size_t i = 0; i < p->hops.n; i++)
		free(p->hops.at[i].name);
	p->hops.n = 0;
}

static void keep_hop(struct page *p, const struct kin_row *row)
{
	const struct kin_cell *c = row->cells;
	vec_push(&p->hops, ((struct hop){ .name = escape_copy(c[p->tree].text),
					  .depth = row->depth,
					  .joins = row->kind == KIN_ROW_MEMBER,
					  .sum = c[p->sum].count,
					  .hit = c[p->hit].count,
					  .n_sum = c[p->n_sum].count,
					  .n_hit = c[p->n_hit].count }));
}

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
static bool goes_on(const struct page *p, size_t i)
{
	const struct kin_column *c = kin_table_column(p->t, p->cols[i]);
	const char *end = strrchr(c->key, '_');
	return c->type != KIN_CELL_TEXT && end && end[1] >= '0' && end[1] <= '9';
}

/* Where a sample was taken in no object perf sees to it that the column has room for an address. */
static size_t room_for_address(const struct page *p, size_t width)
{
	bool wanted = render_count(p->t, "unmapped") && !p->o->separator && !p->o->widths;
	return wanted && width < ADDRESS_WIDTH ? ADDRESS_WIDTH : width;
}

static size_t width_of(const struct page *p, const struct kin_column *c)
{
	char key[64];
	size_t width = c->type == KIN_CELL_SHARE   ? PERCENT_WIDTH
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
static size_t title_width(const struct page *p, size_t i)
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

static bool is_last(const struct page *p, size_t i)
{
	for (i++; i < p->n && goes_on(p, i); i++)
		;
	return i == p->n && !render_count(p->t, "last_elided");
}

static void put_gap(struct page *p, size_t i)
{
	if (goes_on(p, i))
		return;
	if (p->o->separator)
		sink_str(&p->s, i ? p->o->separator : "");
	else
		sink_str(&p->s, "  ");
}

/* Behind a figure before a separator: that of all events of a group comes behind the last one. */
static void put_padding(struct page *p, size_t i, size_t n, bool wanted)
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

/* With a separator, one blank and no alignment: perf's way. */
static void put_cell(struct page *p, size_t i, const struct kin_cell *cell,
		     const struct kin_row *row, bool last)
{
	const struct kin_column *column = kin_table_column(p->t, p->cols[i]);
	size_t width = p->widths[i], n;
	bool sep = p->o->separator;
	char buf[64], *name;
	switch (cell->type) {
	case KIN_CELL_SHARE:
		snprintf(buf, sizeof(buf), "%.2f%%", percent_of(cell->number));
		sink_char(&p->s, ' ');
		put_percent(p, percent_of(cell->number), sep || width < 2 ? 0 : (int)width - 2);
		n = sep || strlen(buf) + 1 > width ? strlen(buf) + 1 : width;
		put_padding(p, i, n, !last);
		return;
	case KIN_CELL_COUNT:
		snprintf(buf, sizeof(buf), " %*" PRIu64, sep ? 0 : (int)width - 1, cell->count);
		sink_str(&p->s, buf);
		put_padding(p, i, strlen(buf), !last);
		return;
	case KIN_CELL_TEXT:
		break;
	case KIN_CELL_NONE:
		if (goes_on(p, i))
			return;
		sink_pad(&p->s, width > 3 ? width - 3 : 0);
		sink_str(&p->s, "N/A");
		sink_pad(&p->s, last ? 0 : title_width(p, i) - width);
		return;
	case KIN_CELL_TIME:
	case KIN_CELL_NUMBER:
	case KIN_CELL_ADDRESS:
	case KIN_CELL_OF:
	case KIN_CELL_PLUS:
		return;
	}
	name = more_digits(column, name_of(p, cell->text), width);
	n = strlen(name);
	size_t mark = is_symbol(column) ? 4 : 0;
	if (is_cut(column, name) && n + mark > width && width >= mark)
		name[n = width - mark] = '\0';
	if (is_symbol(column)) {
		const struct kin_cell *level = &row->cells[p->level];
		sink_char(&p->s, '[');
		sink_str(&p->s, level->type == KIN_CELL_TEXT ? level->text : ".");
		sink_str(&p->s, "] ");
		n += 4;
	}
	sink_str(&p->s, name);
	free(name);
	if (n < width && !(last && ends_ragged(column->key)))
		sink_pad(&p->s, width - n);
}

static void put_row(struct page *p, const struct kin_row *row)
{
	for (size_t i = 0; i < p->n; i++) {
		put_gap(p, i);
		put_cell(p, i, &row->cells[p->cols[i]], row, is_last(p, i));
	}
	sink_char(&p->s, '\n');
}

/* Figures first, then the name, indented by its level. */
static void put_level_row(struct page *p, const struct kin_row *row)
{
	size_t n_levels = render_count(p->t, "levels");
	char width_key[64];
	sink_pad(&p->s, row->depth * INDENT);
	for (size_t i = 0; i < p->n; i++) {
		const struct kin_column *c = kin_table_column(p->t, p->cols[i]);
		if (c->tree)
			continue;
		put_gap(p, i);
		put_cell(p, i, &row->cells[p->cols[i]], row, false);
	}
	if (!p->o->separator)
		sink_pad(&p->s, (n_levels - 1) * INDENT);
	sink_str(&p->s, p->o->separator ? p->o->separator : "  ");
	snprintf(width_key, sizeof(width_key), "level_key_%u", (unsigned)row->depth);
	const char *key = render_text(p->t, width_key);
	char *whole = name_of(p, row->cells[p->tree].text), *name = whole + strspn(whole, " ");
	bool symbol = key && (!strcmp(key, "symbol") || !strcmp(key, "symoff"));
	snprintf(width_key, sizeof(width_key), "width_%s", key ? key : "");
	size_t n = strlen(whole), width = (size_t)render_count(p->t, width_key);
	snprintf(width_key, sizeof(width_key), "title_%s", key ? key : "");
	const char *title = render_text(p->t, width_key);
	if (title && strlen(title) > width)
		width = strlen(title);
	if (key && !strcmp(key, "dso"))
		width = room_for_address(p, width);
	if (key && !symbol && !strcmp(key, "comm") && strlen(name) > width)
		name[width] = '\0';
	if (symbol)
		put_cell(p, p->n - 1, &row->cells[p->tree], row, true);
	else
		sink_str(&p->s, name);
	if (n < width && !ends_ragged(key))
		sink_pad(&p->s, width - n);
	free(whole);
	sink_char(&p->s, '\n');
}

/* ---- headers ---- */

static void put_dots(struct page *p, size_t n)
{
	for (; n; n--)
		sink_char(&p->s, '.');
}

static void put_title(struct page *p, size_t i)
{
	const struct kin_column *c = kin_table_column(p->t, p->cols[i]);
	size_t n = strlen(c->title), width = title_width(p, i), pad = n < width ? width - n : 0;
	bool left = c->type == KIN_CELL_TEXT;
	sink_pad(&p->s, left ? 0 : pad);
	sink_bytes(&p->s, c->title, left && n > width ? width : n);
	sink_pad(&p->s, left ? pad : 0);
}

static void put_level_header(struct page *p)
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

static void put_column_header(struct page *p)
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

static void put_elided(struct page *p)
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

static void put_heading(struct page *p)
{
	static const char units[] = " KMG";
	char buf[128];
	uint64_t samples = render_count(p->t, "samples");
	size_t unit = 0;
	for (; samples > 1000 && unit < 3; unit++)
		samples /= 1000;
	if (kin_table_property(p->t, "first")) {
		if (!render_count(p->t, "headed"))
			sink_str(&p->s, "# To display the perf.data header info, please use "
					"--header/--header-only options.\n#\n");
		if (!render_count(p->t, "n_events"))
			return;
		put_elided(p);
		snprintf(buf, sizeof(buf), "#\n# Total Lost Samples: %" PRIu64 "\n#\n",
			 render_count(p->t, "lost"));
		sink_str(&p->s, buf);
	}
	char *event = escape_copy(render_text(p->t, "event") ? render_text(p->t, "event") : "");
	snprintf(buf, sizeof(buf), "# Samples: %" PRIu64 "%c of event%s '", samples, units[unit],
		 p->group_size > 1 ? "s" : "");
	sink_str(&p->s, buf);
	sink_str(&p->s, event);
	free(event);
	sink_char(&p->s, '\'');
	if (render_text(p->t, "times")) {
		sink_str(&p->s, " (time slices: ");
		sink_str(&p->s, render_text(p->t, "times"));
		sink_char(&p->s, ')');
	}
	const char *order = render_text(p->t, "sort_order");
	snprintf(buf, sizeof(buf), "\n# %s: %" PRIu64 "\n",
		 order ? "Total weight " : "Event count (approx.)", render_count(p->t, "weight"));
	sink_str(&p->s, buf);
	if (render_text(p->t, "socket")) {
		sink_str(&p->s, "# Processor Socket: ");
		sink_str(&p->s, render_text(p->t, "socket"));
		sink_char(&p->s, '\n');
	}
	if (order) {
		char *safe = escape_copy(order);
		sink_str(&p->s, "# Sort order   : ");
		sink_str(&p->s, safe);
		sink_char(&p->s, '\n');
		free(safe);
	}
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

static bool is_elided(const struct page *p, size_t i)
{
	const struct kin_column *c = kin_table_column(p->t, i);
	return c->hidden && c->type == KIN_CELL_TEXT && i != p->level;
}

static void set_widths(struct page *p)
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

static void put_rows(struct page *p)
{
	struct kin_row row;
	uint64_t row_sum = 0;
	bool pending = false;
	kin_table_rewind(p->t);
	while (kin_table_next(p->t, &row)) {
		if (row.kind != KIN_ROW_PLAIN) {
			keep_hop(p, &row);
			continue;
		}
		if (pending)
			flush_chains(p, row_sum);
		const struct kin_cell *sum = &row.cells[p->no_children ? p->self : p->children];
		row_sum = sum->type == KIN_CELL_COUNT ? sum->count : 0;
		if (p->hierarchy)
			put_level_row(p, &row);
		else
			put_row(p, &row);
		pending = strcmp(p->mode, "none") != 0;
	}
	if (pending)
		flush_chains(p, row_sum);
}

static struct kin_error *find_columns(struct page *p)
{
	static const char *const keys[] = {
		"level",         "chain_weight",      "chain_end_weight",
		"chain_samples", "chain_end_samples", "children_weight",
		"self_weight"
	};
	size_t *const to[] = { &p->level, &p->sum,      &p->hit, &p->n_sum,
			       &p->n_hit, &p->children, &p->self };
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		*to[i] = render_column(p->t, keys[i]);
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
	struct page *p = xalloc(sizeof(*p));
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
