/* order.c - the column "entry" alone, as input for a linker. The properties "before" and "after"
 * enclose it, for linkers that need them. */
#include "base/err.h"
#include "base/sink.h"
#include "table/render.h"
#include "table/table_build.h"

static void property(struct sink *s, const struct kin_table *t, const char *key)
{
	const char *text = render_text(t, key);
	if (text)
		sink_str(s, text);
}

static struct kin_error *render(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	(void)o;
	size_t entry = kin_table_find_column(t, "entry");
	if (entry == kin_table_n_columns(t))
		return err_new(KIN_ERROR_USAGE,
			       "the format 'order' is for the report 'order' only");

	struct sink s;
	struct kin_row row;
	sink_init(&s, out);
	property(&s, t, "before");
	kin_table_rewind(t);
	while (table_next(t, &row)) {
		if (row.cells[entry].type != KIN_CELL_TEXT)
			continue;
		sink_str(&s, row.cells[entry].text);
		sink_char(&s, '\n');
	}
	property(&s, t, "after");
	sink_flush(&s);
	return NULL;
}

const struct renderer order_renderer = { "order",
					 "what the linker reads: for the report 'order' only",
					 render };
