/* perf_layout.c - collects from all rows what the layout of perf report --stdio needs. */
#include "perf/perf_layout.h"

#include <string.h>

#include "perf/perf_keys.h"

static const char owner[] = "perf report";

static void find_elided(const struct hists_state *s, struct perf_layout *l, struct arena *a)
{
	const struct hists_ask *ask = s->ask;
	const char **lines = arena_alloc(a, (ask->keys.n + 1) * sizeof(*lines));
	for (size_t i = 0; i < ask->keys.n; i++) {
		const char *only = ask->elided[ask->keys.at[i]];
		if (only)
			lines[l->n_elided++] =
				arena_printf(a, "%s: %s", hist_keys[ask->keys.at[i]].column, only);
	}
	l->elided = lines;
	const struct field *end = &ask->fields.at[ask->fields.n - 1];
	l->last_elided = end->kind == FIELD_KEY && ask->elided[end->key] && !hists_all_elided(ask);
}

enum { TIME_WIDTH_NS = 16 };

/* The width of the widest cell, shown or not. */
static size_t width_of(const struct hists_state *s, struct arena *a, enum hist_key key)
{
	bool digits = key == HIST_TIME && s->ask->opts.nanoseconds;
	size_t width = 0;
	for (size_t i = 0; i < s->hists->n; i++) {
		if (!hists_state_wants(s, (uint32_t)i))
			continue;
		width = width ? width : digits ? TIME_WIDTH_NS : perf_key_least_width(key);
		size_t n = perf_key_width(a, s->hists, i, key);
		width = n > width ? n : width;
	}
	return width;
}

static bool is_unmapped(const struct hists_state *s)
{
	for (size_t i = 0; i < s->hists->n; i++)
		if (hists_state_wants(s, (uint32_t)i) && !hists_function(s->hists, i))
			return true;
	return false;
}

static void find_widths(const struct hists_state *s, struct perf_layout *l, struct arena *a)
{
	for (size_t i = 0; i < s->cols.n; i++) {
		enum hist_key key = s->cols.at[i].field.key;
		if (s->cols.at[i].role != ROLE_KEY)
			continue;
		l->widths[key] = width_of(s, a, key);
		if (key == HIST_DSO && !s->ask->given->dsos)
			l->unmapped = is_unmapped(s);
	}
}

static const char *sort_order(const struct hists_ask *ask, struct arena *a)
{
	const char *sort = ask->given->sort;
	if (!ask->given->accesses)
		return NULL;
	/* perf's usual keys also have local_p_stage_cyc, which has no values on most machines. */
	return arena_printf(a, "%s%s%s", sort ? sort : hists_ask_usual_keys(ask),
			    sort ? "" : ",local_p_stage_cyc",
			    perf_shows_ipc(ask) ? ",ipc_null" : "");
}

void perf_layout_describe(struct hists_state *s)
{
	const struct kin_hists_opts *given = s->ask->given;
	struct perf_layout *l = arena_alloc(&s->arena, sizeof(*l));
	l->state = s;
	find_elided(s, l, &s->arena);
	find_widths(s, l, &s->arena);
	l->sort_order = sort_order(s->ask, &s->arena);
	l->skip_first_hop = !given->fields && given->sort && !strncmp(given->sort, "sym", 3);
	table_set_layout(s->table, owner, l);
}

const struct perf_layout *perf_layout_of(const struct kin_table *t)
{
	return table_layout(t, owner);
}
