/* report_findings.c - what stands out, in sentences. */
#include "findings/findings.h"
#include "report/reports.h"

enum { SHARE, POINTS, KIND, TEXT, FUNCTION, VIEW, N_COLUMNS };

static const struct kin_column columns[N_COLUMNS] = {
	[SHARE] = { "share", "share", "of all time", KIN_CELL_SHARE },
	[POINTS] = { "points", "\u00b1", "half the interval of that share, by chance, with 95 %",
		     KIN_CELL_SHARE, .hidden = true },
	[KIND] = { "kind", "kind", "a word for each kind of finding", KIN_CELL_TEXT },
	[TEXT] = { "text", "finding", "the finding, as a sentence", KIN_CELL_TEXT },
	[FUNCTION] = { "function", "function", "the function to look at", KIN_CELL_TEXT,
		       .hidden = true },
	[VIEW] = { "view", "view", "the command that shows it, of that function", KIN_CELL_TEXT,
		   .hidden = true },
};

static struct kin_error *findings_run(const struct report_input *in, const struct report_opts *o,
				      struct kin_table **ret)
{
	const struct findings *f = in->findings;
	struct kin_table *t = table_new("findings", "Findings", columns, N_COLUMNS);

	for (size_t i = 0; f && i < f->at.n; i++) {
		const struct finding *x = &f->at.at[i];
		if (x->share < o->min_share)
			continue;
		struct kin_cell *c =
			table_add_row(t, (struct kin_row){ KIN_ROW_PLAIN, 0, (uint32_t)i, NULL });
		c[SHARE] = cell_share(x->share);
		c[POINTS] = cell_share(x->points);
		c[KIND] = cell_text(x->kind);
		c[TEXT] = cell_text(x->text);
		if (x->function)
			c[FUNCTION] = cell_text(x->function);
		c[VIEW] = cell_text(x->view);
	}
	table_property(t, "enough_samples", cell_count(f && f->is_known));
	table_property(t, "nothing",
		       cell_text(f && f->is_known ? "Nothing stands out."
						  : "Too few samples to say what stands out."));
	*ret = t;
	return NULL;
}

const struct report findings_report = {
	.name = "findings",
	.help = "what stands out, in sentences",
	.by_program = true,
	.run = findings_run,
};
