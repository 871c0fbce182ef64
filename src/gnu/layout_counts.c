/* layout_counts.c - GNU gprof's execution counts: a sentence for each function and block. */
#include "gnu/cells.h"
#include "table/table_build.h"

enum { FILE_NAME, LINE, SYMBOL, ADDRESS, COUNT, N_KEYS };

static const char *const keys[N_KEYS] = { "file", "line", "symbol", "address", "count" };

static void put_row(struct line *l, const struct kin_row *row, const size_t *at,
		    const struct render_opts *o)
{
	const struct kin_cell *file = &row->cells[at[FILE_NAME]];
	char address[32];

	line_name(l, file->type == KIN_CELL_TEXT ? file->text : "<unknown>", o);
	line_text(l, ":");
	line_count(l, row->cells[at[LINE]].count, 0);
	line_text(l, ": (");
	line_name(l, row->cells[at[SYMBOL]].text, o);
	snprintf(address, sizeof(address), ":0x%lx) ",
		 (unsigned long)row->cells[at[ADDRESS]].count);
	line_text(l, address);
	line_count(l, row->cells[at[COUNT]].count, 0);
	line_text(l, " executions");
}

/* Blocks are counts of lines: they are shown if lines were requested. */
static struct kin_error *render(struct kin_table *t, const struct render_opts *o, FILE *out)
{
	size_t at[N_KEYS];
	struct kin_error *err = gnu_columns(t, "gnu-counts", keys, N_KEYS, at);
	if (err)
		return err;

	bool blocks = render_count(t, "by_line");
	struct line l = { 0 };
	struct kin_row row;
	for (kin_table_rewind(t); table_next(t, &row);) {
		if (row.kind == KIN_ROW_MEMBER && !blocks)
			continue;
		put_row(&l, &row, at, o);
		line_end(&l, out);
	}
	line_done(&l);
	return NULL;
}

const struct renderer gnu_counts_renderer = { "gnu-counts", "GNU gprof's execution counts",
					      render };
