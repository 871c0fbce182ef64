/* hists_describe.c - properties of the report "hists", and notes for people. */
#include <string.h>

#include "report/hists_state.h"
#include "report/reports.h"

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

const char *hists_events_text(struct hists_state *s)
{
	const struct profile *p = s->in.profile;
	const struct hists_ask *a = s->ask;
	const char *list = "";
	for (size_t i = 0; i < a->opts.n_events; i++) {
		const struct event *e = &p->samples.events[a->opts.events[i]];
		list = arena_printf(
			&s->arena, "%s%s%s", list, *list ? ", " : "",
			strtab_get(p->strings, a->style->event_titles ? event_title(e) : e->name));
	}
	bool counted_together = a->opts.n_events > 1 && p->samples.events[a->opts.events[0]].group;
	return counted_together ? arena_printf(&s->arena, "anon group { %s }", list) : list;
}

static void describe_data(struct hists_state *s)
{
	static const char *const modes[] = { "none", "graph", "fractal", "flat", "folded" };
	const struct hists_ask *a = s->ask;
	struct kin_table *t = s->table;
	uint64_t count = 0, weight = 0;
	for (size_t i = 0; i < a->opts.n_events; i++) {
		const struct hist_stat *st =
			a->given->relative ? &s->hists->total[i] : &s->hists->unfiltered[i];
		count += st->count;
		weight += st->weight;
	}
	text_property(s, "event", hists_events_text(s));
	table_property(t, "n_events", cell_count(a->n_events));
	table_property(t, "group_size", cell_count(a->opts.n_events));
	table_property(t, "samples", cell_count(count));
	table_property(t, "weight", cell_count(weight));
	table_property(t, "lost", cell_count(s->in.profile->samples.audit.lost));
	if (a->overview)
		table_property(t, "overview", cell_count(1));
	text_property(s, "chains", s->chains ? modes[a->mode] : modes[MODE_NONE]);
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
	const char *events = hists_events_text(s);
	bool is_nameless = !strcmp(events, "samples"); /* folded stacks */
	const char *of = is_nameless ? "" : " of ";
	events = is_nameless ? "" : events;
	if (!p->samples.n && (p->n_histograms || p->n_arcs))
		table_note(s->table, "the data has counts, not samples with their stacks: kin flat "
				     "and kin graph show it");
	else if (!p->samples.n)
		table_note(s->table, "there are no samples in the data%s",
			   report_why_no_samples(p));
	else if (n == all)
		table_note(s->table, "%llu sample%s%s%s", (unsigned long long)n, n == 1 ? "" : "s",
			   of, events);
	else
		table_note(s->table, "%llu of %llu samples%s%s", (unsigned long long)n,
			   (unsigned long long)all, of, events);
	if (n && !s->ask->opts.no_children && !s->ask->given->first_rows)
		report_note_chainless(&s->in, s->table);
	const struct hists_levels *l = &s->levels;
	if (l->n_folded && s->ask->given->first_rows) /* a list's first line has little room */
		table_note(s->table, "%zu folded: --all-rows", l->n_folded);
	else if (l->n_folded)
		table_note(s->table,
			   "%zu function%s that only lead%s to one of these not shown: --all-rows",
			   l->n_folded, l->n_folded == 1 ? "" : "s", l->n_folded == 1 ? "s" : "");
	if (l->n_left_out)
		table_note(s->table, "%zu row%s with less not shown: --all-rows", l->n_left_out,
			   l->n_left_out == 1 ? "" : "s");
	if (s->ask->n_events > 1 && !s->ask->given->event)
		table_note(s->table, "%zu more event%s below", s->ask->n_events - 1,
			   s->ask->n_events > 2 ? "s" : "");
}

void hists_describe(struct hists_state *s)
{
	describe_data(s);
	describe_for_people(s);
	if (s->ask->style->describe)
		s->ask->style->describe(s);
}
