/* list.c - the first text column alone, a line per row: for programs that read names, as linkers
 * do. Names are as they are, but for the control characters that no line can hold. */
#include <stdlib.h>

#include "base/err.h"
#include "base/escape.h"
#include "table/render.h"
#include "table/sink.h"

static void put(struct sink *s, const char *name)
{
	if (escape_is_plain(name)) {
		sink_str(s, name);
	} else {
		size_t need = escape_text(NULL, 0, name) + 1;
		char *safe = xalloc(need);
		escape_text(safe, need, name);
		sink_str(s, safe);
		free(safe);
	}
	sink_char(s, '\n');
}

static struct kin_error *render(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	(void)o;
	size_t col = 0, n = kin_table_n_columns(t);
	while (col < n && (kin_table_column(t, col)->hidden ||
			   kin_table_column(t, col)->type != KIN_CELL_TEXT))
		col++;
	if (col == n)
		return err_new(KIN_ERROR_USAGE, "format 'list' needs a column of text");

	struct sink s;
	struct kin_row row;
	sink_init(&s, out);
	kin_table_rewind(t);
	while (kin_table_next(t, &row))
		if (row.cells[col].type == KIN_CELL_TEXT)
			put(&s, row.cells[col].text);
	sink_flush(&s);
	return NULL;
}

const struct renderer list_renderer = { "list", "the names alone, one per line", render };
