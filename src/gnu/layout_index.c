/* layout_index.c - GNU gprof's index by name: three columns, filled downwards. */
#include <string.h>

#include "base/num.h"
#include "base/vec.h"
#include "gnu/cells.h"
#include "table/table_build.h"

enum { INDEX, NAME, FILE_NAME, LISTED, SYMBOL, N_KEYS };

static const char *const keys[N_KEYS] = { "index", "name", "file", "listed", "symbol" };

struct cell { /* kept small: the cells of one line are from each third of the array */
	const char *name;
	const char *file; /* NULL: not shown */
	uint32_t index;
	bool listed;
};

struct cells {
	VEC(struct cell) v;
};

enum { TAG = NUM_MAX + 2 };

/* Makes "[12]" or "(12)"; returns its length. */
static size_t make_tag(char tag[TAG], const struct cell *c)
{
	size_t n = num_u64(tag + 1, c->index);

	tag[0] = c->listed ? '[' : '(';
	tag[n + 1] = c->listed ? ']' : ')';
	tag[n + 2] = '\0';
	return n + 2;
}

/* Collects the cells; `name` is the column with their names. */
static void gather(struct kin_table *t, const size_t *at, size_t name, struct cells *into)
{
	struct kin_row row;

	for (kin_table_rewind(t); table_next(t, &row);) {
		const struct kin_cell *file = &row.cells[at[FILE_NAME]];
		vec_push(&into->v,
			 ((struct cell){ .name = row.cells[name].text,
					 .file = file->type == KIN_CELL_TEXT ? file->text : NULL,
					 .index = (uint32_t)row.cells[at[INDEX]].count,
					 .listed = row.cells[at[LISTED]].count }));
	}
}

/* The two blanks around a tag are counted neither here nor in the column's start. */
static size_t put_cell(struct line *l, const struct cell *c, size_t column, size_t start,
		       const struct render_opts *o)
{
	char tag[TAG];

	column += make_tag(tag, c);
	if (column < start + 5) {
		line_blanks(l, start + 5 - column);
		column = start + 5;
	}
	line_char(l, ' ');
	line_text(l, tag);
	line_char(l, ' ');
	size_t before = l->n;
	line_name(l, c->name, o);
	if (c->file) {
		line_text(l, " (");
		line_name(l, c->file, o);
		line_char(l, ')');
	}
	return column + (l->n - before);
}

static void put_traditional_cell(struct line *l, const struct cell *c, const struct render_opts *o)
{
	struct line name = { 0 };
	char tag[TAG];

	make_tag(tag, c);
	line_name(&name, c->name, o);
	line_field(l, tag, 6, 6);
	line_char(l, ' ');
	line_fieldn(l, name.buf, name.n, -19, 19);
	line_done(&name);
}

static struct kin_error *put(struct kin_table *t, const struct render_opts *o, const char *format,
			     bool traditional, FILE *out)
{
	size_t at[N_KEYS];
	struct kin_error *err = gnu_columns(t, format, keys, N_KEYS, at);
	if (err)
		return err;

	struct cells cells = { 0 };
	struct line l = { 0 };
	size_t width = o->width > 1 ? (o->width - 1) / 3 : 0;

	gather(t, at, at[traditional ? SYMBOL : NAME], &cells);
	size_t rows = (cells.v.n + 2) / 3;
	fputs("\f\nIndex by function name\n\n", out);
	for (size_t r = 0; r < rows; r++) {
		size_t column = 0, start = 0;
		for (size_t i = r; i < cells.v.n; i += rows, start += width) {
			if (traditional)
				put_traditional_cell(&l, &cells.v.at[i], o);
			else
				column = put_cell(&l, &cells.v.at[i], column, start, o);
		}
		line_end(&l, out);
	}
	line_done(&l);
	vec_free(&cells.v);
	return NULL;
}

static struct kin_error *render(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	return put(t, o, "gnu-index", false, out);
}

static struct kin_error *render_traditional(struct kin_table *t, const struct render_opts *o,
					    FILE *out)
{
	return put(t, o, "gnu-index-traditional", true, out);
}

const struct renderer gnu_index_renderer = { "gnu-index", "GNU gprof's index by name", render };
const struct renderer gnu_index_traditional_renderer = { "gnu-index-traditional",
							 "the index of gprof -T",
							 render_traditional };
