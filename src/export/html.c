#include "export/html.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/map64.h"
#include "export/html/html_page.h" /* made of html/page.css, page.js and page.html */
#include "table/value.h"

/* Of the flame graph: what is narrower than this part of it nobody sees. */
enum { NARROWEST = 20000 };

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
	for (; kin_table_next(t, &row); any = true) {
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
	uint64_t *total; /* [n]: with what is below */
	uint32_t *id;    /* [n]: in the file; NONE: left out */
	size_t n_left_out;
};

static void measure(struct flame *f)
{
	const struct folded_node *nodes = f->tree->nodes;
	size_t n = f->tree->n;
	uint32_t next = 0;
	for (size_t i = 0; i < n; i++)
		f->total[i] = nodes[i].own;
	for (size_t i = n; i-- > 1;)
		if (__builtin_add_overflow(f->total[nodes[i].parent], f->total[i],
					   &f->total[nodes[i].parent]))
			f->total[nodes[i].parent] = UINT64_MAX;
	for (size_t i = 0; i < n; i++) {
		bool seen = !i || (f->id[nodes[i].parent] != NONE &&
				   f->total[i] > f->total[0] / NARROWEST);
		f->id[i] = seen ? next++ : NONE;
		f->n_left_out += !seen;
	}
}

/* Each name once: a node says its number. */
static void put_names(struct sink *s, const struct flame *f, struct map64 *numbers)
{
	uint32_t n = 0;
	sink_str(s, "\"names\":[");
	for (size_t i = 0; i < f->tree->n; i++) {
		strid name = f->tree->nodes[i].name;
		uint32_t *number = map64_at(numbers, name);
		if (f->id[i] == NONE || *number != NONE)
			continue;
		*number = n++;
		sink_str(s, n > 1 ? ",\n" : "\n");
		json_string(s, strtab_get(f->tree->names, name));
	}
	sink_char(s, ']');
}

static void put_numbers(struct sink *s, const struct flame *f, const struct map64 *numbers)
{
	const struct folded_node *nodes = f->tree->nodes;
	static const char *const keys[] = { ",\n\"parent\":[", "],\n\"name\":[",
					    "],\n\"total\":[" };
	for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
		sink_str(s, keys[k]);
		for (size_t i = 0; i < f->tree->n; i++) {
			if (f->id[i] == NONE)
				continue;
			sink_str(s, i ? "," : "");
			value_count(s, k == 0   ? f->id[nodes[i].parent]
				       : k == 1 ? map64_get(numbers, nodes[i].name)
						: f->total[i]);
		}
	}
	sink_char(s, ']');
}

static void put_flame(struct sink *s, const struct html_flame *in)
{
	struct flame f = { .tree = in->tree };
	struct map64 numbers = { 0 };
	f.total = xrealloc(NULL, in->tree->n, sizeof(*f.total));
	f.id = xrealloc(NULL, in->tree->n, sizeof(*f.id));
	measure(&f);
	sink_str(s, "\n{\"event\":");
	json_string(s, in->event);
	sink_str(s, in->is_time ? ",\"unit\":\"ns\",\"left_out\":"
				: ",\"unit\":\"count\",\"left_out\":");
	value_count(s, f.n_left_out);
	sink_char(s, ',');
	put_names(s, &f, &numbers);
	put_numbers(s, &f, &numbers);
	sink_char(s, '}');
	map64_free(&numbers);
	free(f.total);
	free(f.id);
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
	for (; *text; text++)
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		default:
			putc((unsigned char)*text < ' ' ? '?' : *text, out);
		}
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
