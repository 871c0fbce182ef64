/* html_write.c - writes tables, paths and samples into the page. */
#include "page/html_write.h"

#include <errno.h>
#include <libdeflate.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "page/html/page_files.h" /* made of the files of html/ */
#include "page/html_columns.h"
#include "table/table_build.h"
#include "table/value.h"

/* ---- values ---- */

/* Nine digits are more than the page shows; all digits would make up most of the file. */
static void put_number(struct sink *s, double v)
{
	char text[32];
	sink_bytes(s, text, (size_t)snprintf(text, sizeof(text), "%.9g", v));
}

static void put_double(struct sink *s, double v)
{
	if (isfinite(v))
		put_number(s, v);
	else
		sink_str(s, "null");
}

static void put_time(struct sink *s, double ticks, double rate) { put_double(s, ticks / rate); }

static void put_pair(struct sink *s, enum kin_cell_type type, uint64_t a, uint64_t b)
{
	sink_char(s, '"');
	value_count(s, a);
	sink_char(s, type == KIN_CELL_OF ? '/' : '+');
	value_count(s, b);
	sink_char(s, '"');
}

static const struct value_json_rules as_shown = { put_time, put_number, put_pair };

/* ---- tables: rows are arrays, because repeated keys would make up most of the file ---- */

static void put_properties(struct sink *s, const struct kin_table *t)
{
	sink_str(s, "\"properties\":{");
	for (size_t i = 0; i < kin_table_n_properties(t); i++) {
		const struct kin_property *p = kin_table_property_at(t, i);
		sink_str(s, i ? "," : "");
		json_string(s, p->key);
		sink_char(s, ':');
		value_json(s, &p->value, kin_table_rate(t), &as_shown);
	}
	sink_str(s, "},\"notes\":[");
	for (size_t i = 0; i < kin_table_n_notes(t); i++) {
		sink_str(s, i ? "," : "");
		json_string(s, kin_table_note_at(t, i));
	}
	sink_str(s, "]");
}

/* Makes the names of functions in a row known, without marks of cycles: the page adds these. */
static void learn_names(struct kin_table *t, const struct kin_row *row, struct people_names *names)
{
	for (size_t i = 0; i < kin_table_n_columns(t); i++) {
		if (!kin_table_column(t, i)->function || row->cells[i].type != KIN_CELL_TEXT)
			continue;
		const char *name = row->cells[i].text, *cycle = strstr(name, " <cycle ");
		char *plain =
			xprintf("%.*s", (int)(cycle ? (size_t)(cycle - name) : strlen(name)), name);
		people_names_at(names, plain);
		free(plain);
	}
}

static void put_rows(struct sink *s, struct kin_table *t, struct people_names *names)
{
	struct kin_row row;
	bool any = false;
	kin_table_rewind(t);
	for (; table_next(t, &row); any = true) {
		if (names)
			learn_names(t, &row, names);
		sink_str(s, any ? ",\n[\"" : "\n[\"");
		sink_str(s, value_row_kind(row.kind));
		sink_str(s, "\",");
		value_count(s, row.group);
		for (size_t i = 0; i < kin_table_n_columns(t); i++) {
			sink_char(s, ',');
			value_json(s, &row.cells[i], kin_table_rate(t), &as_shown);
		}
		sink_char(s, ']');
	}
}

static void put_table(struct sink *s, struct kin_table *t, struct people_names *names)
{
	sink_char(s, '{');
	put_properties(s, t);
	sink_str(s, ",\"columns\":[\"kind\",\"group\"");
	for (size_t i = 0; i < kin_table_n_columns(t); i++) {
		sink_char(s, ',');
		json_string(s, kin_table_column(t, i)->key);
	}
	sink_str(s, "],\"rows\":[");
	put_rows(s, t, names);
	sink_str(s, "]}");
}

char *html_table_json(struct kin_table *t, struct people_names *names)
{
	char *text = NULL;
	size_t size;
	FILE *f = xopen_memstream(&text, &size);
	struct sink s;
	sink_init(&s, f);
	put_table(&s, t, names);
	sink_flush(&s);
	xclose_memstream(f, &text);
	return text;
}

static void put_tables(struct sink *s, const struct html_table *tables)
{
	bool any = false;
	sink_str(s, ",\n\"tables\":{");
	for (; tables->key; tables++) {
		if (!tables->json)
			continue;
		sink_str(s, any ? ",\n" : "\n");
		json_string(s, tables->key);
		sink_char(s, ':');
		sink_str(s, tables->json);
		any = true;
	}
	sink_char(s, '}');
}

/* ---- what samples refer to ---- */

static void put_texts(struct sink *s, const char *key, const struct html_paths *t,
		      const struct html_texts *x)
{
	sink_str(s, ",\n\"");
	sink_str(s, key);
	sink_str(s, "\":[");
	for (size_t i = 0; i < x->at.n; i++) {
		sink_str(s, i ? "," : "");
		json_string(s, strtab_get(t->strings, x->at.at[i]));
	}
	sink_char(s, ']');
}

static void put_functions(struct sink *s, const struct html_paths *t)
{
	sink_str(s, ",\n\"functions\":{\"name\":[");
	for (size_t i = 0; i < t->functions.n; i++) {
		sink_str(s, i ? ",\n" : "\n");
		json_string(s, strtab_get(t->strings, t->functions.at[i].name));
	}
	sink_str(s, "],\n\"object\":[");
	for (size_t i = 0; i < t->functions.n; i++) {
		sink_str(s, i ? "," : "");
		value_count(s, t->functions.at[i].object);
	}
	sink_str(s, "],\n\"kind\":[");
	for (size_t i = 0; i < t->functions.n; i++) {
		sink_str(s, i ? "," : "");
		value_count(s, t->functions.at[i].kind);
	}
	sink_str(s, "],\n\"address\":{");
	for (size_t i = 0, n = 0; i < t->functions.n; i++) {
		if (!t->functions.at[i].is_ambiguous)
			continue;
		sink_str(s, n++ ? ",\"" : "\"");
		value_count(s, i);
		sink_str(s, "\":\"");
		value_address(s, t->functions.at[i].address);
		sink_char(s, '"');
	}
	sink_str(s, "}}");
}

static void put_threads(struct sink *s, const struct html_paths *t)
{
	sink_str(s, ",\n\"threads\":[");
	for (size_t i = 0; i < t->threads.n; i++) {
		const struct html_thread *k = &t->threads.at[i];
		const uint64_t numbers[] = { k->pid, k->tid, k->run, k->start_ns, k->end_ns };
		sink_str(s, i ? ",\n[" : "\n[");
		json_string(s, strtab_get(t->strings, k->name));
		for (size_t n = 0; n < ARRAY_LEN(numbers); n++) {
			sink_char(s, ',');
			value_count(s, numbers[n]);
		}
		sink_char(s, ']');
	}
	sink_char(s, ']');
}

static void put_events(struct sink *s, const struct html_paths *t)
{
	static const char *const kinds[] = {
		[EVENT_ON_CPU] = "on-cpu", [EVENT_BLOCKED] = "blocked", [EVENT_WAITING] = "waiting"
	};
	sink_str(s, ",\n\"events\":[");
	for (size_t i = 0; i < t->events.n; i++) {
		const struct html_event *e = &t->events.at[i];
		sink_str(s, i ? "," : "");
		sink_str(s, "{\"name\":");
		json_string(s, strtab_get(t->strings, e->name));
		sink_str(s, e->unit == EVENT_NS ? ",\"unit\":\"ns\",\"kind\":\""
						: ",\"unit\":\"\",\"kind\":\"");
		sink_str(s, kinds[e->kind]);
		sink_str(s, "\"}");
	}
	sink_char(s, ']');
}

/* Writes markers, with times in seconds since the first sample. */
static void put_markers(struct sink *s, const struct html_paths *t, const struct html_columns *c)
{
	sink_str(s, ",\n\"markers\":[");
	for (size_t i = 0; c->unit_ns && i < t->markers.n; i++) {
		const struct html_marker *m = &t->markers.at[i];
		bool after = m->time_ns >= c->first_ns;
		sink_str(s, i ? ",[" : "[");
		json_string(s, strtab_get(t->strings, m->name));
		sink_str(s, after ? "," : ",-");
		put_double(s,
			   (double)(after ? m->time_ns - c->first_ns : c->first_ns - m->time_ns) /
				   1e9);
		sink_char(s, ']');
	}
	sink_char(s, ']');
}

static void put_columns(struct sink *s, const struct html_paths *t, const struct html_columns *c)
{
	size_t offset = 0;
	sink_str(s, ",\n\"columns\":{");
	for (size_t i = 0; i < N_HTML_COLUMNS; i++) {
		sink_str(s, i ? ",\"" : "\"");
		sink_str(s, html_column_keys[i]);
		sink_str(s, "\":[");
		value_count(s, c->at[i].n);
		sink_char(s, ',');
		value_count(s, offset);
		sink_char(s, ']');
		offset += c->at[i].bytes.n;
	}
	sink_str(s, "},\"first_ns\":");
	value_count(s, c->first_ns);
	sink_str(s, ",\"unit_ns\":");
	value_count(s, c->unit_ns);
	sink_str(s, ",\"left_out\":");
	value_count(s, c->n_left_out);
	sink_str(s, ",\"runs\":[");
	for (size_t i = 0; i < HTML_SIDES && t->runs[i]; i++) {
		sink_str(s, i ? "," : "");
		value_count(s, t->runs[i]);
	}
	sink_char(s, ']');
}

/* What the page needs to fold the code of others, beside the kinds of functions. */
static void put_own(struct sink *s, const struct html_input *in)
{
	const struct html_paths *t = in->paths;
	if (in->own.own <= 0)
		return;
	sink_str(s, ",\n\"own\":{\"share\":");
	put_double(s, in->own.own);
	sink_str(s, ",\"folded\":");
	put_double(s, in->own.folded);
	sink_str(s, in->begins_with_own ? ",\"begins\":true" : ",\"begins\":false");
	sink_str(s, ",\"lines\":[");
	for (size_t i = 0; i < t->own_lines.n; i++) {
		const struct html_own_line *l = &t->own_lines.at[i];
		const uint64_t numbers[] = { l->file, l->line, l->weight };
		for (size_t n = 0; n < ARRAY_LEN(numbers); n++) {
			sink_str(s, n ? "," : i ? ",[" : "[");
			value_count(s, numbers[n]);
		}
		sink_char(s, ']');
	}
	sink_str(s, "]}");
}

/* ---- the data as one piece ---- */

struct page_text { /* owned */
	char *at;
	size_t n;
};

static void put_remarks(struct sink *s, const char *key, const struct remarks *r, unsigned kinds)
{
	sink_str(s, ",\"");
	sink_str(s, key);
	sink_str(s, "\":[");
	remarks_json(r, kinds, "", s);
	sink_char(s, ']');
}

static void put_source_url(struct sink *s, const char *url, const struct own_code *code)
{
	const char *dir;
	sink_str(s, ",\n\"source_url\":");
	json_string(s, url);
	sink_str(s, ",\"source_roots\":[");
	for (size_t i = 0; code && (dir = own_code_dir(code, i)); i++) {
		sink_str(s, i ? "," : "");
		json_string(s, dir);
	}
	sink_char(s, ']');
}

static void put_shown(struct sink *s, const struct html_input *in)
{
	const char *full, *shown;
	bool any = false;
	for (size_t i = 0; in->paths && i < in->paths->functions.n; i++)
		people_names_at(in->names,
				strtab_get(in->paths->strings, in->paths->functions.at[i].name));
	sink_str(s, ",\n\"shown\":{");
	for (size_t i = 0; people_names_next(in->names, &i, &full, &shown); any = true) {
		sink_str(s, any ? ",\n" : "\n");
		json_string(s, full);
		sink_char(s, ':');
		json_string(s, shown);
	}
	sink_char(s, '}');
}

/* Writes the fixed part: everything that does not depend on which nodes are kept. */
static void put_fixed(struct sink *s, const struct html_input *in)
{
	sink_str(s, "{\"title\":");
	json_string(s, in->title);
	sink_str(s, ",\"version\":\"" KIN_VERSION "\"");
	put_remarks(s, "warnings", in->remarks, KIN_REMARK_WARNING);
	put_remarks(s, "findings", in->findings, KIN_REMARK_NOTE);
	put_remarks(s, "hints", in->remarks, KIN_REMARK_HINT);
	if (in->source_url)
		put_source_url(s, in->source_url, in->own_code);
	put_tables(s, in->tables);
	if (in->names)
		put_shown(s, in);
	if (!in->paths)
		return;
	put_functions(s, in->paths);
	put_texts(s, "objects", in->paths, &in->paths->objects);
	put_texts(s, "files", in->paths, &in->paths->files);
	put_threads(s, in->paths);
	put_events(s, in->paths);
	put_own(s, in);
}

static void put_rest(struct sink *s, const struct html_input *in, const struct html_columns *c)
{
	if (in->paths) {
		put_markers(s, in->paths, c);
		put_columns(s, in->paths, c);
	}
	sink_str(s, "}\n");
}

/* Makes the fixed part if `c` is NULL, else the rest. */
static struct kin_error *json_of(const struct html_input *in, const struct html_columns *c,
				 struct page_text *ret)
{
	FILE *memory = open_memstream(&ret->at, &ret->n);
	struct sink s;
	if (!memory)
		return err_os(errno, "writing a page");
	sink_init(&s, memory);
	if (c)
		put_rest(&s, in, c);
	else
		put_fixed(&s, in);
	sink_flush(&s);
	bool lost = ferror(memory);
	fclose(memory);
	return lost ? err_os(ENOMEM, "writing a page") : NULL;
}

static void append(struct page_text *to, const void *from, size_t n)
{
	if (n)
		memcpy(to->at + to->n, from, n);
	to->n += n;
}

/* Compresses in zlib's format, by libdeflate, which takes a third of zlib's time. */
static struct kin_error *pack(const struct page_text *from, struct page_text *ret)
{
	enum { LEVEL = 6 };
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(LEVEL);
	if (!c)
		return err_os(ENOMEM, "writing a page");
	size_t room = libdeflate_zlib_compress_bound(c, from->n);
	ret->at = xrealloc(NULL, room, 1);
	ret->n = libdeflate_zlib_compress(c, from->at, from->n, ret->at, room);
	libdeflate_free_compressor(c);
	return NULL;
}

/* Joins the fixed part, the rest with its final NUL, and the columns, and compresses them. */
static struct kin_error *pack_data(const struct html_input *in, const struct page_text *fixed,
				   const struct html_columns *c, struct page_text *ret)
{
	struct page_text rest = { 0 };
	struct kin_error *err = json_of(in, c, &rest);
	if (!err) {
		struct page_text all = { 0 };
		all.at = xrealloc(NULL, fixed->n + rest.n + 1 + html_columns_size(c), 1);
		append(&all, fixed->at, fixed->n);
		append(&all, rest.at, rest.n + 1);
		for (size_t i = 0; i < N_HTML_COLUMNS; i++)
			append(&all, c->at[i].bytes.at, c->at[i].bytes.n);
		err = pack(&all, ret);
		free(all.at);
	}
	free(rest.at);
	return err;
}

/* ---- fitting the size limit ---- */

static size_t size_of_file(size_t packed)
{
	return (packed + 2) / 3 * 4 + sizeof(page_html) + sizeof(page_css) + sizeof(page_js);
}

/* A power of ten times 1000 ns, because multiples of it read well. Times are 32 bits wide in the
 * page. */
static uint64_t unit_for(uint64_t duration, uint64_t steps)
{
	uint64_t unit = 1000;
	while (duration / unit > steps)
		unit *= 10;
	return unit;
}

struct page_size { /* a previous attempt: number of nodes, and bytes after compression; 0: there was
		      none */
	double nodes, bytes;
};

/* How many nodes to try next. In proportion to the size would be too many, because nodes may be a
 * small part of the file. By the bytes that the last reduction saved per node would be too few,
 * because stand-ins take room. */
static size_t fewer_nodes(struct page_size now, struct page_size before, double max_bytes,
			  size_t least)
{
	double fewer = now.nodes * 0.9 * max_bytes / now.bytes;
	if (before.nodes > now.nodes && before.bytes > now.bytes) {
		double each = (before.bytes - now.bytes) / (before.nodes - now.nodes);
		double by_two = now.nodes - (now.bytes - max_bytes) / each;
		fewer = by_two < 0 ? fewer / 2 : by_two < fewer ? (fewer + by_two) / 2 : fewer;
	}
	return fewer < (double)least ? least : (size_t)fewer;
}

/* Makes the data fit: first with coarser times, then without the instructions of samples, then
 * without the narrowest nodes. Data that is certainly too large is not compressed: compression
 * leaves between a third and two thirds of the columns. */
static struct kin_error *fit_data(const struct html_input *in, const struct page_text *fixed,
				  struct page_text *ret)
{
	static const uint64_t steps[] = { 1u << 31, 100000, 10000 };
	enum { TRIES = 12, FEWEST = 100 };
	uint64_t first, duration = html_duration(in->paths, &first);
	bool has_times = first && !in->paths->runs[1];
	struct html_limits limits = { .max_nodes = in->paths->nodes.n,
				      .min_width = in->min_width,
				      .places = in->paths->places.n > 0 };
	struct page_size before = { 0 };
	struct page_text packed = { 0 };
	struct kin_error *err = pack(fixed, &packed);
	free(packed.at);
	for (size_t i = 0; i < TRIES && !err; i++) {
		uint64_t step = steps[i < ARRAY_LEN(steps) ? i : ARRAY_LEN(steps) - 1];
		limits.unit_ns = has_times ? unit_for(duration, step) : 0;
		bool is_coarse = !has_times || i + 1 >= ARRAY_LEN(steps);
		/* Coarser times or no places come next, however much too large these columns are. A
		 * third of 9/4 is 3/4 of the limit, and all of it in base64. */
		limits.enough = is_coarse && !limits.places ? 0 : in->max_bytes / 4 * 9;
		struct html_columns c = html_columns_of(in->paths, &limits);
		size_t kept = in->paths->nodes.n - c.n_left_out;
		free(ret->at);
		*ret = (struct page_text){ 0 };
		size_t third = size_of_file(packed.n + html_columns_size(&c) / 3);
		bool is_least = is_coarse && !limits.places && limits.max_nodes <= FEWEST;
		bool is_hopeless = in->max_bytes && third > in->max_bytes && !is_least;
		if (!is_hopeless || i + 1 == TRIES)
			err = pack_data(in, fixed, &c, ret);
		html_columns_done(&c);
		double size = (double)(is_hopeless ? third : size_of_file(ret->n));
		if (!in->max_bytes || size <= (double)in->max_bytes || is_least)
			break;
		if (!is_coarse)
			continue;
		if (limits.places) {
			limits.places = false;
			continue;
		}
		/* Nodes below min_width are dropped already. */
		bool by_width = in->min_width > 0 && kept < limits.max_nodes;
		struct page_size now = { (double)(by_width ? kept : limits.max_nodes), size };
		limits.max_nodes = fewer_nodes(now, before, (double)in->max_bytes, FEWEST);
		before = is_hopeless ? (struct page_size){ 0 } : now;
	}
	return err;
}

/* ---- the file ---- */

static void put_base64(FILE *out, const struct page_text *data)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *at = (const uint8_t *)data->at;
	struct sink s;
	sink_init(&s, out);
	for (size_t i = 0; i < data->n; i += 3) {
		size_t left = data->n - i;
		uint32_t x = (uint32_t)at[i] << 16 | (left > 1 ? (uint32_t)at[i + 1] << 8 : 0) |
			     (left > 2 ? at[i + 2] : 0);
		char four[4] = { digits[x >> 18], digits[x >> 12 & 63],
				 left > 1 ? digits[x >> 6 & 63] : '=',
				 left > 2 ? digits[x & 63] : '=' };
		sink_bytes(&s, four, sizeof(four));
	}
	sink_flush(&s);
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

/* Writes the page, replacing its placeholders "@title@", "@style@", "@data@", "@code@". */
static void put_page(FILE *out, const struct html_input *in, const struct page_text *data)
{
	for (const char *p = page_html; *p;) {
		if (!strncmp(p, "@title@", 7)) {
			put_text(out, in->title);
			p += 7;
		} else if (!strncmp(p, "@style@", 7)) {
			fputs(page_css, out);
			p += 7;
		} else if (!strncmp(p, "@data@", 6)) {
			put_base64(out, data);
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
	struct page_text data = { 0 };
	struct html_columns none = { 0 };
	struct page_text fixed = { 0 };
	struct kin_error *err = json_of(in, NULL, &fixed);
	if (!err)
		err = in->paths ? fit_data(in, &fixed, &data) : pack_data(in, &fixed, &none, &data);
	free(fixed.at);
	errno = 0;
	if (!err)
		put_page(out, in, &data);
	free(data.at);
	if (!err && (fflush(out) || ferror(out)))
		err = err_os(errno ? errno : EIO, "writing a page");
	return err;
}
