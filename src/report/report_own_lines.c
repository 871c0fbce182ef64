/* report_own_lines.c - the lines of own code that most time belongs to, with their text. */
#include <stdlib.h>
#include <string.h>

#include "analysis/hists.h"
#include "base/err.h"
#include "object/source.h"
#include "report/hists_ask.h"
#include "report/hists_style.h"
#include "report/reports.h"

enum { SHARE, LINE, SOURCE, N_COLUMNS };
enum { MOST_LINES = 4 };
static const double LEAST_SHARE = 0.01;

static const struct kin_column columns[N_COLUMNS] = {
	[SHARE] = { "self", "Self", "share of the samples taken there, or in what the line calls",
		    KIN_CELL_SHARE },
	[LINE] = { "srcline", "Line", "the source line", KIN_CELL_TEXT },
	[SOURCE] = { "source", "Source", "its text; - if there is none", KIN_CELL_TEXT,
		     .tree = true },
};

/* The text of a line without the blanks around it; NULL: it is not known. To be freed. Notes a file
 * that is there and cannot be read. */
static char *text_of_line(const struct report_input *in, const struct report_opts *o,
			  const struct srcloc *at, struct kin_table *t)
{
	struct source_text text;
	struct kin_error *err = report_source(in, o, at->file, &text);
	const uint8_t *line = NULL;
	size_t n = 0, pos = 0;
	uint32_t number = 0;

	if (err) {
		if (err_is_trouble(err))
			table_note(t, "%s", kin_error_message(err));
		kin_error_free(err);
		return NULL;
	}
	while (number < at->line && source_line(text.file.data, text.file.size, &pos, &line, &n))
		number++;
	while (n && (*line == ' ' || *line == '\t')) {
		line++;
		n--;
	}
	char *ret = number == at->line && n ? xprintf("%.*s", (int)n, (const char *)line) : NULL;
	source_done(&text);
	return ret;
}

static void add_rows(const struct report_input *in, const struct report_opts *o,
		     const struct hists *h, const uint32_t *order, struct kin_table *t)
{
	double total = h->n ? (double)h->unfiltered[0].weight : 0;
	struct srcloc at;
	for (size_t i = 0, n = 0; i < h->n && n < MOST_LINES; i++) {
		const struct hist_row *row = &h->rows[order[i]];
		double share = (double)h->self[order[i] * h->opts->n_events].weight / total;
		if (share < LEAST_SHARE)
			break;
		if (!row->frame || !program_line(h->program, row->frame, &at) || !at.file)
			continue;
		char *source = text_of_line(in, o, &at, t);
		struct kin_cell *c = table_add_row(t, (struct kin_row){ .kind = KIN_ROW_PLAIN });
		c[SHARE] = cell_share(share);
		c[LINE] = cell_text(table_text(t, hists_text(h, order[i], HIST_SRCLINE)));
		c[SOURCE] = source ? cell_text(table_text(t, source)) : cell_none();
		free(source);
		n++;
	}
}

static struct kin_error *own_lines_run(const struct report_input *in, const struct report_opts *o,
				       struct kin_table **ret)
{
	struct kin_hists_opts given = *o->hists;
	struct report_input with_symbols = *in;
	struct hists_ask *ask;
	uint32_t *order;

	given.sort = "srcline";
	given.fields = NULL;
	given.call_graph = "none";
	given.overview = false;
	given.no_children = true;
	struct kin_error *err =
		hists_ask_new(in->profile, in->program, &given, &hists_own_style, &ask);
	if (err)
		return err;
	struct hists *h = hists_new(in->profile, in->program, &ask->opts);
	struct kin_table *t = table_new("own_lines", "Lines of own code", columns, N_COLUMNS);
	hists_sort(h, ask->terms.at, ask->terms.n, &order);
	with_symbols.symbols = program_symbols(in->program);
	add_rows(&with_symbols, o, h, order, t);
	free(order);
	hists_free(h);
	hists_ask_free(ask);
	*ret = t;
	return NULL;
}

const struct report own_lines_report = {
	.name = "own_lines",
	.help = "the lines of own code with most of the time, and their text",
	.by_program = true,
	.run = own_lines_run,
};
