/* table_json.c - one object: what the table is, its columns explained, and a line per row.
 *
 * Times are in seconds (the unit of kin_table_rate()), shares 0..1, addresses "0x..." as not every
 * reader keeps 64 bits. "3/7" is {"of":[3,7]} and "3+7" {"plus":[3,7]}. A cell with nothing to
 * show is null. Rows that nest say so in "kind", "depth" and "group"; plain rows have none of them.
 */
#include "base/json.h"
#include "table/render.h"
#include "table/table_build.h"
#include "table/value.h"

static void put_pair(struct sink *s, enum kin_cell_type type, uint64_t a, uint64_t b)
{
	sink_str(s, type == KIN_CELL_OF ? "{\"of\":[" : "{\"plus\":[");
	value_count(s, a);
	sink_char(s, ',');
	value_count(s, b);
	sink_str(s, "]}");
}

static const struct value_json_rules without_loss = { value_time, value_number, put_pair };

static void heading(struct sink *s, const struct kin_table *t)
{
	sink_char(s, '{');
	json_member(s, "name", kin_table_name(t));
	sink_str(s, ",\n");
	json_member(s, "title", kin_table_title(t));
	sink_str(s, ",\n\"rate\":");
	value_number(s, kin_table_rate(t));

	sink_str(s, ",\n\"properties\":{");
	for (size_t i = 0; i < kin_table_n_properties(t); i++) {
		const struct kin_property *p = kin_table_property_at(t, i);
		sink_str(s, i ? ",\n  " : "\n  ");
		json_string(s, p->key);
		sink_char(s, ':');
		value_json(s, &p->value, kin_table_rate(t), &without_loss);
	}
	sink_str(s, "},\n\"notes\":[");
	for (size_t i = 0; i < kin_table_n_notes(t); i++) {
		sink_str(s, i ? ",\n  " : "\n  ");
		json_string(s, kin_table_note_at(t, i));
	}
	sink_char(s, ']');
}

static void columns(struct sink *s, const struct kin_table *t, const struct columns *shown)
{
	sink_str(s, ",\n\"columns\":[");
	for (size_t i = 0; i < shown->n; i++) {
		const struct kin_column *c = kin_table_column(t, shown->at[i]);
		sink_str(s, i ? ",\n  {" : "\n  {");
		json_member(s, "key", c->key);
		sink_char(s, ',');
		json_member(s, "title", c->title);
		sink_char(s, ',');
		json_member(s, "type", value_cell_type(c->type));
		sink_char(s, ',');
		json_member(s, "help", c->help ? c->help : "");
		sink_char(s, '}');
	}
	sink_char(s, ']');
}

static void nesting(struct sink *s, const struct kin_row *row)
{
	if (value_is_plain(row))
		return;
	json_member(s, "kind", value_row_kind(row->kind));
	sink_str(s, ",\"depth\":");
	value_count(s, row->depth);
	sink_str(s, ",\"group\":");
	value_count(s, row->group);
	sink_char(s, ',');
}

static struct kin_error *render(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	(void)o;
	struct sink s;
	sink_init(&s, out);
	struct columns shown = render_shown(t);
	double rate = kin_table_rate(t);

	heading(&s, t);
	columns(&s, t, &shown);
	sink_str(&s, ",\n\"rows\":[");
	struct kin_row row;
	kin_table_rewind(t);
	for (bool first = true; table_next(t, &row); first = false) {
		sink_str(&s, first ? "\n  {" : ",\n  {");
		nesting(&s, &row);
		for (size_t i = 0; i < shown.n; i++) {
			if (i)
				sink_char(&s, ',');
			sink_char(&s, '"');
			sink_str(&s, kin_table_column(t, shown.at[i])->key);
			sink_str(&s, "\":");
			value_json(&s, &row.cells[shown.at[i]], rate, &without_loss);
		}
		sink_char(&s, '}');
	}
	sink_str(&s, "]}\n");
	sink_flush(&s);
	columns_free(&shown);
	return NULL;
}

const struct renderer json_renderer = { "json",
					"one JSON object; every value raw, columns explained",
					render };
