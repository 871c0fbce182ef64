/* perf_style.c - the rules and columns of perf report. */
#include "perf/perf_style.h"

#include <string.h>

#include "perf/perf_keys.h"
#include "perf/perf_layout.h"

static bool more_key(const struct hists_ask *a, enum hist_key *ret)
{
	*ret = HIST_IPC;
	return perf_shows_ipc(a);
}

static const char *figure_title(const struct hists_ask *a, enum field_kind kind)
{
	bool chosen = a->given->fields && a->given->fields[0] != '+';

	if (kind == FIELD_SELF && (a->opts.no_children || chosen))
		return "Overhead";
	return kind == FIELD_LATENCY || kind == FIELD_LATENCY_CHILDREN ? "Latency" : NULL;
}

const struct hists_style perf_style = {
	.name = "perf",
	.rows = { .whole_names = true,
		  .inlines_apart = true,
		  .ignore_drops_callers = true,
		  .hide_marks = true,
		  .ties_as_data = true },
	.names = DEMANGLE_SHORT,
	.addresses_apart = true,
	.self_physical = true,
	.max_stack = 127,
	.splits_names = true,
	.recorded_events = true,
	.event_titles = true,
	.events_say_stacks = true,
	.hides_single = true,
	.says_missing = true,
	.rows_by_first = true,
	.lists_lead = true,
	.trace_keys = "trace",
	.more_key = more_key,
	.figure_title = figure_title,
	.key_title = perf_key_title,
	.text = perf_key_text,
	.describe = perf_layout_describe,
};
