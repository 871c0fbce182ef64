/* hists_state.c - tests rows of the report "hists" against the requested functions. */
#include "report/hists_state.h"

#include <string.h>

double hists_total(const struct hists_state *s, size_t event, bool latency)
{
	const struct hists *h = s->hists;
	const struct hist_stat *t =
		s->ask->given->relative ? &h->total[event] : &h->unfiltered[event];
	return latency ? t->latency : (double)t->weight;
}

double hists_percent(const struct hists_state *s, const struct hist_stat *stat)
{
	double total = hists_total(s, 0, false);
	return total > 0 ? 100 * ((double)stat->weight / total) : 0;
}

static bool is_of_function(const struct hists_state *s, uint32_t row, const char *name)
{
	const struct hist_row *r = &s->hists->rows[row];
	if (!hist_is_named(s->hists, r))
		return false;
	/* The name as shown: "f (inlined)". */
	return (r->inlined && !strcmp(hists_function(s->hists, row), name)) ||
	       symbols_is_called(program_symbols(s->hists->program), r->place, name);
}

bool hists_state_wants(const struct hists_state *s, uint32_t row)
{
	const struct kin_hists_opts *g = s->ask->given;
	if (g->function && !is_of_function(s, row, g->function))
		return false;
	const char *name = g->symbol_filter ? hists_function(s->hists, row) : NULL;
	return !g->symbol_filter || (name && strstr(name, g->symbol_filter));
}
