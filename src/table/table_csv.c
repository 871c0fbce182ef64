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

#include "base/csv.h"
#include "table/render.h"
#include "table/table_build.h"
#include "table/value.h"

static void value(struct sink *s, const struct kin_cell *c, double rate)
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
		csv_text(s, c->text);
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

/* To be freed. */
static char *make_header(const struct kin_table *t, const struct columns *shown, bool nests)
{
	char *text;
	size_t size;
	FILE *f = xopen_memstream(&text, &size);
	struct sink s;
	sink_init(&s, f);
	if (nests)
		sink_str(&s, "kind,depth,group,");
	for (size_t i = 0; i < shown->n; i++) {
		csv_text(&s, kin_table_column(t, shown->at[i])->key);
		sink_char(&s, i + 1 < shown->n ? ',' : '\n');
	}
	sink_flush(&s);
	xclose_memstream(f, &text);
	return text;
}

static struct kin_error *render(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	struct sink s;
	sink_init(&s, out);
	struct columns shown = render_shown(t);
	bool nests = has_nesting(t);
	char *header = make_header(t, &shown, nests);
	char **above = o->header ? o->header : &(char *){ NULL };

	if (!*above || strcmp(*above, header) != 0)
		sink_str(&s, header);
	free(*above);
	*above = header;
	struct kin_row row;
	kin_table_rewind(t);
	while (table_next(t, &row)) {
		if (nests)
			nesting(&s, &row);
		for (size_t i = 0; i < shown.n; i++) {
			value(&s, &row.cells[shown.at[i]], kin_table_rate(t));
			sink_char(&s, i + 1 < shown.n ? ',' : '\n');
		}
	}
	sink_flush(&s);
	columns_free(&shown);
	if (!o->header)
		free(header);
	return NULL;
}

const struct renderer csv_renderer = { "csv", "comma-separated values with a header of column keys",
				       render };
