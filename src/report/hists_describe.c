/* hists_describe.c - what is said of the report "hists" as a whole: properties, for perf's layout
 * above all, and notes for people. */
#include <string.h>

#include "analysis/audit.h"
#include "report/hists_state.h"

bool hists_all_elided(const struct hists_ask *a)
{
	for (size_t i = 0; i < a->keys.n; i++)
		if (!a->elided[a->keys.at[i]])
			return false;
	return true;
}

static void text_property(struct hists_state *s, const char *key, const char *text)
{
	table_property(s->table, key, cell_text(text));
}

static const char *events_text(struct hists_state *s)
{
	const struct profile *p = s->in.profile;
	const struct hists_ask *a = s->ask;
	const char *list = "";
	for (size_t i = 0; i < a->opts.n_events; i++) {
		const struct event *e = &p->samples.events[a->opts.events[i]];
		list = arena_printf(
			&s->arena, "%s%s%s", list, *list ? ", " : "",
			strtab_get(p->strings, a->given->perf ? event_title(e) : e->name));
	}
	bool counted_together = a->opts.n_events > 1 && p->samples.events[a->opts.events[0]].group;
	return counted_together ? arena_printf(&s->arena, "anon group { %s }", list) : list;
}

/* Keys that have one value only, in their order: "elided_0" and so on. */
static void describe_elided(struct hists_state *s)
{
	const struct hists_ask *a = s->ask;
	size_t n = 0;
	for (size_t i = 0; i < a->keys.n; i++) {
		const char *only = a->elided[a->keys.at[i]];
		if (only)
			text_property(s, arena_printf(&s->arena, "elided_%zu", n++),
				      arena_printf(&s->arena, "%s: %s",
						   hist_keys[a->keys.at[i]].column, only));
	}
}

enum { TIME_WIDTH_NS = 16, ADDRESS_WIDTH = 16 };

/* Each level's key and title. */
static void describe_levels(struct hists_state *s)
{
	const struct hists_ask *a = s->ask;
	const char *titles = "";
	size_t widest = 0;
	for (size_t i = 0; i < a->keys.n; i++) {
		const struct hist_key_info *k = &hist_keys[a->keys.at[i]];
		const char *title = k->title + strspn(k->title, " ");
		const struct kin_cell *w = kin_table_property(
			s->table, arena_printf(&s->arena, "width_%s", k->column));
		bool symbol = a->keys.at[i] == HIST_SYM || a->keys.at[i] == HIST_SYMOFF,
		     address =
			     a->keys.at[i] == HIST_DSO && kin_table_property(s->table, "unmapped");
		size_t width = (w ? (size_t)w->count : 0) + (symbol ? 4 : 0);
		width = width < strlen(k->title) ? strlen(k->title) : width;
		width = address && width < ADDRESS_WIDTH ? ADDRESS_WIDTH : width;
		widest = width + 3 * i > widest ? width + 3 * i : widest;
		titles = arena_printf(&s->arena, "%s%s%s", titles, i ? " / " : "", title);
		text_property(s, arena_printf(&s->arena, "level_key_%zu", i), k->column);
		text_property(s, arena_printf(&s->arena, "title_%s", k->column), k->title);
	}
	text_property(s, "levels_title", titles);
	table_property(s->table, "levels", cell_count(a->keys.n));
	table_property(s->table, "levels_width", cell_count(widest));
}

/* What perf's layout needs to know and no row says. */
static void describe_widths(struct hists_state *s)
{
	for (size_t i = 0; i < s->cols.n; i++) {
		size_t width = 0;
		bool unmapped = false;
		if (s->cols.at[i].role != ROLE_KEY)
			continue;
		size_t least = hist_keys[s->cols.at[i].field.key].width;
		if (s->cols.at[i].field.key == HIST_TIME && s->ask->opts.nanoseconds)
			least = TIME_WIDTH_NS;
		for (size_t k = 0; k < s->hists->n; k++) {
			if (!hists_state_wants(s, (uint32_t)k))
				continue;
			width = width ? width : least;
			size_t n = hists_width(s->hists, k, s->cols.at[i].field.key);
			width = n > width ? n : width;
			unmapped = unmapped || !hists_function(s->hists, k);
		}
		table_property(s->table, arena_printf(&s->arena, "width_%s", s->columns.at[i].key),
			       cell_count(width));
		if (s->cols.at[i].field.key == HIST_DSO && unmapped && !s->ask->given->dsos)
			table_property(s->table, "unmapped", cell_count(1));
	}
}

static void describe_for_layout(struct hists_state *s)
{
	static const char *const modes[] = { "none", "graph", "fractal", "flat", "folded" };
	static const char *const values[] = { "percent", "period", "count" };
	const struct hists_ask *a = s->ask;
	const struct hists *h = s->hists;
	struct kin_table *t = s->table;
	uint64_t count = 0, weight = 0;
	for (size_t i = 0; i < a->opts.n_events; i++) {
		const struct hist_stat *st = a->given->relative ? &h->total[i] : &h->unfiltered[i];
		count += st->count;
		weight += st->weight;
	}
	text_property(s, "event", events_text(s));
	table_property(t, "n_events", cell_count(a->n_events));
	table_property(t, "group_size", cell_count(a->opts.n_events));
	table_property(t, "samples", cell_count(count));
	table_property(t, "weight", cell_count(weight));
	table_property(t, "lost", cell_count(s->in.profile->samples.audit.lost));
	text_property(s, "chains", s->chains ? modes[a->mode] : modes[MODE_NONE]);
	if (!a->given->perf)
		return;
	text_property(s, "chain_value", values[a->value]);
	table_property(t, "chain_total", cell_count(h->unfiltered[0].weight));
	if (a->given->times)
		text_property(s, "times", a->given->times);
	table_property(t, "chain_limit", cell_count(a->print_limit));
	table_property(t, "chain_skip_first", cell_count(a->skip_first_hop));
	table_property(t, "no_children", cell_count(a->opts.no_children));
	table_property(t, "hierarchy", cell_count(a->given->hierarchy));
	if (a->given->socket)
		text_property(s, "socket", a->given->socket);
	if (a->sort_order)
		text_property(s, "sort_order", a->sort_order);
	describe_elided(s);
	const struct field *end = &a->fields.at[a->fields.n - 1];
	if (end->kind == FIELD_KEY && a->elided[end->key] && !hists_all_elided(a))
		table_property(t, "last_elided", cell_count(1));
	describe_widths(s);
	if (a->given->hierarchy)
		describe_levels(s);
	if (!a->given->event)
		table_property(t, "first", cell_count(1));
	table_property(t, "headed", cell_count(a->given->headed));
	if (a->given->event + 1 >= a->n_events)
		table_property(t, "last", cell_count(1));
}

static void describe_for_people(struct hists_state *s)
{
	const struct hists *h = s->hists;
	uint64_t n = 0, all = 0;
	for (size_t i = 0; i < s->ask->opts.n_events; i++) {
		n += h->total[i].count;
		all += h->unfiltered[i].count;
	}
	const struct profile *p = s->in.profile;
	if (!p->samples.n && (p->n_histograms || p->n_arcs))
		table_note(s->table, "the data has counts, not samples with their stacks: kin flat "
				     "and kin graph show it");
	else if (!p->samples.n)
		table_note(s->table, "there are no samples in the data%s",
			   audit_used_little(p)
				   ? ": the program used little CPU time; kin record --wall shows "
				     "where one waits"
				   : "");
	else if (n == all && !strcmp(events_text(s), "samples")) /* of folded stacks */
		table_note(s->table, "%llu sample%s", (unsigned long long)n, n == 1 ? "" : "s");
	else if (n == all)
		table_note(s->table, "%llu sample%s of %s", (unsigned long long)n,
			   n == 1 ? "" : "s", events_text(s));
	else
		table_note(s->table, "%llu of %llu samples of %s", (unsigned long long)n,
			   (unsigned long long)all, events_text(s));
	const struct hists_levels *l = &s->levels;
	if (l->n_folded)
		table_note(s->table,
			   "%zu function%s that only lead%s to one of these not shown: --all-rows",
			   l->n_folded, l->n_folded == 1 ? "" : "s", l->n_folded == 1 ? "s" : "");
	if (l->n_left_out)
		table_note(s->table, "%zu row%s with less not shown: --all-rows", l->n_left_out,
			   l->n_left_out == 1 ? "" : "s");
	if (s->ask->n_events > 1 && !s->ask->given->event)
		table_note(s->table, "%zu event%s more: below", s->ask->n_events - 1,
			   s->ask->n_events > 2 ? "s" : "");
	if (s->in.profile->samples.audit.lost)
		table_note(s->table, "%llu samples were lost",
			   (unsigned long long)s->in.profile->samples.audit.lost);
}

void hists_describe(struct hists_state *s)
{
	describe_for_layout(s);
	describe_for_people(s);
}
