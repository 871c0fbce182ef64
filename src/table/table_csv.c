/* table_csv.c - comma-separated values with a header of column keys, quoted as in RFC 4180; lines
 * end in LF.
 *
 * Values are raw: times in seconds, shares 0..1, "3/7" and "3+7" as they are. Names may hold
 * commas, quotes and any printable character; control and invisible characters, which no field can
 * hold safely, are written as \xNN, as in text. Texts that begin as formulas do (= + - @) have an
 * apostrophe before them, which spreadsheets take for "this is a text". Tables whose rows nest
 * start with the columns kind, depth and group. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/vec.h"
#include "table/render.h"
#include "table/table_build.h"
#include "table/value.h"

struct scratch {
	VEC(char) bytes;
};

/* s if it can be shown as it is, else its escaped form in the scratch buffer. */
static const char *safe(struct scratch *b, const char *s)
{
	if (escape_is_plain(s))
		return s;
	size_t need = escape_text(NULL, 0, s) + 1;
	b->bytes.n = 0;
	vec_reserve(&b->bytes, need);
	escape_text(b->bytes.at, need, s);
	return b->bytes.at;
}

static bool is_number(const char *s)
{
	char *end;
	strtod(s, &end);
	return end != s && !*end;
}

/* A spreadsheet would take it for a formula, and run it. Tabs and returns are escaped before. */
static bool is_formula(const char *s)
{
	static const char *const signs[] = {
		"=", "+", "-", "@", "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"
	};
	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if (!strncmp(s, signs[i], strlen(signs[i])))
			return !is_number(s);
	return false;
}

static void text(struct sink *s, const char *field)
{
	if (is_formula(field)) {
		char *harmless = xprintf("'%s", field);
		text(s, harmless);
		free(harmless);
		return;
	}
	if (!field[strcspn(field, ",\"")] && field[0] != ' ') {
		sink_str(s, field);
		return;
	}
	sink_char(s, '"');
	for (; *field; field++) {
		if (*field == '"')
			sink_char(s, '"');
		sink_char(s, *field);
	}
	sink_char(s, '"');
}

static void value(struct sink *s, struct scratch *b, const struct kin_cell *c, double rate)
{
	switch (c->type) {
	case KIN_CELL_NONE:
		break;
	case KIN_CELL_COUNT:
		value_count(s, c->count);
		break;
	case KIN_CELL_ADDRESS:
		value_address(s, c->count);
		break;
	case KIN_CELL_TIME:
		if (isfinite(c->number))
			value_time(s, c->number, rate);
		break;
	case KIN_CELL_SHARE:
	case KIN_CELL_NUMBER:
		if (isfinite(c->number))
			value_number(s, c->number);
		break;
	case KIN_CELL_TEXT:
		text(s, safe(b, c->text));
		break;
	case KIN_CELL_OF:
	case KIN_CELL_PLUS:
		value_count(s, c->pair.a);
		sink_char(s, c->type == KIN_CELL_OF ? '/' : '+');
		value_count(s, c->pair.b);
		break;
	}
}

static bool has_nesting(struct kin_table *t)
{
	struct kin_row row;
	kin_table_rewind(t);
	while (table_next(t, &row))
		if (!value_is_plain(&row))
			return true;
	return false;
}

static void nesting(struct sink *s, const struct kin_row *row)
{
	sink_str(s, value_row_kind(row->kind));
	sink_char(s, ',');
	value_count(s, row->depth);
	sink_char(s, ',');
	value_count(s, row->group);
	sink_char(s, ',');
}

static struct kin_error *render(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	(void)o;
	struct sink s;
	sink_init(&s, out);
	struct columns shown = render_shown(t);
	struct scratch scratch = { 0 };
	bool nests = has_nesting(t);

	if (nests)
		sink_str(&s, "kind,depth,group,");
	for (size_t i = 0; i < shown.n; i++) {
		text(&s, kin_table_column(t, shown.at[i])->key);
		sink_char(&s, i + 1 < shown.n ? ',' : '\n');
	}
	struct kin_row row;
	kin_table_rewind(t);
	while (table_next(t, &row)) {
		if (nests)
			nesting(&s, &row);
		for (size_t i = 0; i < shown.n; i++) {
			value(&s, &scratch, &row.cells[shown.at[i]], kin_table_rate(t));
			sink_char(&s, i + 1 < shown.n ? ',' : '\n');
		}
	}
	sink_flush(&s);
	columns_free(&shown);
	vec_free(&scratch.bytes);
	return NULL;
}

const struct renderer csv_renderer = { "csv", "comma-separated values with a header of column keys",
				       render };
