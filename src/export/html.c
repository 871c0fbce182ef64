/* html.c - writes tables and flame graphs as JSON into the page. */
#include "export/html.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/strtab.h"
#include "export/html/html_page.h" /* made of the files of html/ */
#include "table/table_build.h"
#include "table/value.h"

/* Of a flame graph: as many frames as a page shows quickly. */
enum { FRAMES_MAX = 100000 };

/* ---- values ---- */

/* Nine digits are more than a page shows; all that there are would be most of the file. */
static void put_double(struct sink *s, double v)
{
	char text[32];
	if (!isfinite(v))
		sink_str(s, "null");
	else
		sink_bytes(s, text, (size_t)snprintf(text, sizeof(text), "%.9g", v));
}

static void put_pair(struct sink *s, uint64_t a, char between, uint64_t b)
{
	sink_char(s, '"');
	value_count(s, a);
	sink_char(s, between);
	value_count(s, b);
	sink_char(s, '"');
}

static void put_cell(struct sink *s, const struct kin_cell *c, double rate)
{
	switch (c->type) {
	case KIN_CELL_NONE:
		sink_str(s, "null");
		break;
	case KIN_CELL_COUNT:
		value_count(s, c->count);
		break;
	case KIN_CELL_ADDRESS:
		sink_char(s, '"');
		value_address(s, c->count);
		sink_char(s, '"');
		break;
	case KIN_CELL_TIME:
		put_double(s, c->number / rate);
		break;
	case KIN_CELL_SHARE:
	case KIN_CELL_NUMBER:
		put_double(s, c->number);
		break;
	case KIN_CELL_TEXT:
		json_string(s, c->text);
		break;
	case KIN_CELL_OF:
		put_pair(s, c->pair.a, '/', c->pair.b);
		break;
	case KIN_CELL_PLUS:
		put_pair(s, c->pair.a, '+', c->pair.b);
		break;
	}
}

/* ---- tables: rows are arrays, as their keys would be most of the file ---- */

static void put_properties(struct sink *s, const struct kin_table *t)
{
	sink_str(s, "\"properties\":{");
	for (size_t i = 0; i < kin_table_n_properties(t); i++) {
		const struct kin_property *p = kin_table_property_at(t, i);
		sink_str(s, i ? "," : "");
		json_string(s, p->key);
		sink_char(s, ':');
		put_cell(s, &p->value, kin_table_rate(t));
	}
	sink_str(s, "},\"notes\":[");
	for (size_t i = 0; i < kin_table_n_notes(t); i++) {
		sink_str(s, i ? "," : "");
		json_string(s, kin_table_note_at(t, i));
	}
	sink_str(s, "]");
}

static void put_rows(struct sink *s, struct kin_table *t)
{
	struct kin_row row;
	bool any = false;
	kin_table_rewind(t);
	for (; table_next(t, &row); any = true) {
		sink_str(s, any ? ",\n[\"" : "\n[\"");
		sink_str(s, value_row_kind(row.kind));
		sink_str(s, "\",");
		value_count(s, row.group);
		for (size_t i = 0; i < kin_table_n_columns(t); i++) {
			sink_char(s, ',');
			put_cell(s, &row.cells[i], kin_table_rate(t));
		}
		sink_char(s, ']');
	}
}

static void put_table(struct sink *s, const char *name, struct kin_table *t)
{
	if (!t)
		return;
	sink_str(s, ",\n\"");
	sink_str(s, name);
	sink_str(s, "\":{");
	put_properties(s, t);
	sink_str(s, ",\"columns\":[\"kind\",\"group\"");
	for (size_t i = 0; i < kin_table_n_columns(t); i++) {
		sink_char(s, ',');
		json_string(s, kin_table_column(t, i)->key);
	}
	sink_str(s, "],\"rows\":[");
	put_rows(s, t);
	sink_str(s, "]}");
}

/* ---- the flame graphs ---- */

struct flame {
	const struct folded_tree *tree;
	uint64_t *total;  /* [n]: with what is below */
	uint32_t *id;     /* [n]: in the file; NONE: left out */
	uint64_t *hidden; /* [n]: of kept ones, what was left out right below */
	size_t n_kept, n_left_out;
	/* By name, for all frames: what a search has to know of those left out. */
	uint64_t *weight; /* of stacks that have it, once or more */
	uint32_t *number; /* in the file */
	size_t n_names;
};

static void add_up(uint64_t *to, uint64_t more)
{
	if (__builtin_add_overflow(*to, more, to))
		*to = UINT64_MAX;
}

static void measure(struct flame *f)
{
	const struct folded_node *nodes = f->tree->nodes;
	for (size_t i = 0; i < f->tree->n; i++)
		f->total[i] = nodes[i].own;
	for (size_t i = f->tree->n; i-- > 1;)
		add_up(&f->total[nodes[i].parent], f->total[i]);
}

static size_t wider_than(const struct flame *f, uint64_t width)
{
	size_t n = 0;
	for (size_t i = 0; i < f->tree->n; i++)
		n += f->total[i] > width;
	return n;
}

/* The least width that leaves no more than FRAMES_MAX that are wider. */
static uint64_t narrowest(const struct flame *f)
{
	uint64_t low = 0, high = f->total[0];
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (wider_than(f, middle) <= FRAMES_MAX)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The widest ones: a caller is as wide as what it calls, so the rest of a kept one is kept. */
static void choose(struct flame *f)
{
	const struct folded_node *nodes = f->tree->nodes;
	bool all = f->tree->n <= FRAMES_MAX;
	uint64_t width = all ? 0 : narrowest(f);
	for (size_t i = 0; i < f->tree->n; i++) {
		bool under = !i || f->id[nodes[i].parent] != NONE;
		bool kept = !i || (under && (all || f->total[i] > width));
		f->id[i] = kept ? (uint32_t)f->n_kept++ : NONE;
		f->n_left_out += !kept;
		if (under && !kept)
			add_up(&f->hidden[nodes[i].parent], f->total[i]);
	}
}

/* The frames by depth: first[i] is called by i, next[i] by the same as i; 0: none. */
struct order {
	uint32_t *first, *next;
};

static struct order order_of(const struct folded_tree *t)
{
	struct order o = { xalloc(t->n * sizeof(*o.first)), xalloc(t->n * sizeof(*o.next)) };
	for (size_t i = t->n; i-- > 1;) {
		uint32_t parent = t->nodes[i].parent;
		o.next[i] = o.first[parent];
		o.first[parent] = (uint32_t)i;
	}
	return o;
}

/* One walk along all stacks: of a name that comes back only the outermost frame counts. */
static void weigh_names(struct flame *f)
{
	const struct folded_node *nodes = f->tree->nodes;
	uint32_t *above = xalloc(strtab_count(f->tree->names) * sizeof(*above));
	struct order o = order_of(f->tree);
	uint32_t at = o.first[0];
	while (at) {
		if (!above[nodes[at].name]++)
			add_up(&f->weight[nodes[at].name], f->total[at]);
		if (o.first[at]) {
			at = o.first[at];
			continue;
		}
		for (; at && !o.next[at]; at = nodes[at].parent)
			above[nodes[at].name]--;
		if (at)
			above[nodes[at].name]--;
		at = o.next[at];
	}
	free(above);
	free(o.first);
	free(o.next);
}

/* Each name once: a node says its number. */
static void put_names(struct sink *s, struct flame *f)
{
	sink_str(s, "\"names\":[");
	for (size_t i = 0; i < f->tree->n; i++) {
		strid name = f->tree->nodes[i].name;
		if (f->number[name] != NONE)
			continue;
		f->number[name] = (uint32_t)f->n_names++;
		sink_str(s, f->n_names > 1 ? ",\n" : "\n");
		json_string(s, strtab_get(f->tree->names, name));
	}
	sink_str(s, "],\n\"weight\":[");
	for (size_t i = 0, n = 0; i < f->tree->n; i++) {
		strid name = f->tree->nodes[i].name;
		if (f->number[name] != n)
			continue;
		sink_str(s, n++ ? "," : "");
		value_count(s, f->weight[name]);
	}
	sink_char(s, ']');
}

enum field { FIELD_PARENT, FIELD_NAME, FIELD_TOTAL };

static uint64_t field_of(const struct flame *f, size_t i, enum field field)
{
	switch (field) {
	case FIELD_PARENT:
		return f->id[f->tree->nodes[i].parent];
	case FIELD_NAME:
		return f->number[f->tree->nodes[i].name];
	case FIELD_TOTAL:
		return f->total[i];
	}
	return 0;
}

/* Of the frame that stands for those left out below i; its name is behind all names. */
static uint64_t field_of_hidden(const struct flame *f, size_t i, enum field field)
{
	switch (field) {
	case FIELD_PARENT:
		return f->id[i];
	case FIELD_NAME:
		return f->n_names;
	case FIELD_TOTAL:
		return f->hidden[i];
	}
	return 0;
}

static void put_numbers(struct sink *s, const struct flame *f)
{
	static const char *const keys[] = { [FIELD_PARENT] = ",\n\"parent\":[",
					    [FIELD_NAME] = "],\n\"name\":[",
					    [FIELD_TOTAL] = "],\n\"total\":[" };
	for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
		sink_str(s, keys[k]);
		for (size_t i = 0; i < f->tree->n; i++) {
			if (f->id[i] == NONE)
				continue;
			sink_str(s, i ? "," : "");
			value_count(s, field_of(f, i, (enum field)k));
		}
		for (size_t i = 0; i < f->tree->n; i++) {
			if (!f->hidden[i])
				continue;
			sink_char(s, ',');
			value_count(s, field_of_hidden(f, i, (enum field)k));
		}
	}
	sink_char(s, ']');
}

static struct flame flame_of(const struct folded_tree *t)
{
	size_t n_names = strtab_count(t->names);
	struct flame f = { .tree = t,
			   .total = xalloc(t->n * sizeof(*f.total)),
			   .id = xalloc(t->n * sizeof(*f.id)),
			   .hidden = xalloc(t->n * sizeof(*f.hidden)),
			   .weight = xalloc(n_names * sizeof(*f.weight)),
			   .number = xalloc(n_names * sizeof(*f.number)) };
	memset(f.number, 0xff, n_names * sizeof(*f.number));
	measure(&f);
	choose(&f);
	weigh_names(&f);
	return f;
}

static void flame_done(struct flame *f)
{
	free(f->total);
	free(f->id);
	free(f->hidden);
	free(f->weight);
	free(f->number);
}

static void put_flame(struct sink *s, const struct html_flame *in)
{
	struct flame f = flame_of(in->tree);
	sink_str(s, "\n{\"event\":");
	json_string(s, in->event);
	sink_str(s, in->is_time ? ",\"unit\":\"ns\",\"left_out\":"
				: ",\"unit\":\"count\",\"left_out\":");
	value_count(s, f.n_left_out);
	sink_char(s, ',');
	put_names(s, &f);
	put_numbers(s, &f);
	sink_char(s, '}');
	flame_done(&f);
}

static void put_flames(struct sink *s, const struct html_input *in)
{
	sink_str(s, ",\n\"flames\":[");
	for (size_t i = 0; i < in->n_flames; i++) {
		sink_str(s, i ? "," : "");
		put_flame(s, &in->flames[i]);
	}
	sink_char(s, ']');
}

/* ---- all of it ---- */

static void put_data(struct sink *s, const struct html_input *in)
{
	sink_str(s, "{\"title\":");
	json_string(s, in->title);
	sink_str(s, ",\"version\":\"" KIN_VERSION "\",\"warnings\":[");
	for (size_t i = 0; i < in->n_warnings; i++) {
		sink_str(s, i ? "," : "");
		json_string(s, in->warnings[i]);
	}
	sink_char(s, ']');
	put_table(s, "info", in->info);
	put_table(s, "functions", in->functions);
	put_table(s, "graph", in->graph);
	put_flames(s, in);
	sink_str(s, "}\n");
}

/* In JSON '<' is only in strings, where it may as well be written like this; and without one there
 * is no "</script>" nor "<!--". */
static void put_without_tags(FILE *out, const char *json, size_t n)
{
	while (n) {
		const char *tag = memchr(json, '<', n);
		size_t run = tag ? (size_t)(tag - json) : n;
		fwrite(json, 1, run, out);
		if (!tag)
			return;
		fputs("\\u003c", out);
		json += run + 1;
		n -= run + 1;
	}
}

static void put_text(FILE *out, const char *text)
{
	char *safe = escape_copy(text);
	for (text = safe; *text; text++)
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		default:
			putc(*text, out);
		}
	free(safe);
}

/* The page is cut at what it says goes there: "@title@", "@style@", "@data@", "@code@". */
static void put_page(FILE *out, const struct html_input *in, const char *json, size_t n)
{
	for (const char *p = page_html; *p;) {
		if (!strncmp(p, "@title@", 7)) {
			put_text(out, in->title);
			p += 7;
		} else if (!strncmp(p, "@style@", 7)) {
			fputs(page_css, out);
			p += 7;
		} else if (!strncmp(p, "@data@", 6)) {
			put_without_tags(out, json, n);
			p += 6;
		} else if (!strncmp(p, "@code@", 6)) {
			fputs(search_js, out);
			fputs(page_js, out);
			p += 6;
		} else {
			putc(*p++, out);
		}
	}
}

struct kin_error *html_write(FILE *out, const struct html_input *in)
{
	char *json = NULL;
	size_t n = 0;
	FILE *memory = open_memstream(&json, &n);
	if (!memory)
		return err_os(errno, "writing a page");
	struct sink s;
	sink_init(&s, memory);
	put_data(&s, in);
	sink_flush(&s);
	bool lost = ferror(memory);
	fclose(memory);
	errno = 0;
	put_page(out, in, json, n);
	free(json);
	if (lost || fflush(out) || ferror(out))
		return err_os(lost ? ENOMEM : errno ? errno : EIO, "writing a page");
	return NULL;
}
