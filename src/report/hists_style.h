/* hists_style.h - another program's choices for the report "hists", where they differ from kin's
 * and neither is wrong. That program's room owns one of these, const, and the caller passes it
 * (report_opts.hists_style). NULL or false means kin's own choice. */
#ifndef REPORT_HISTS_STYLE_H
#define REPORT_HISTS_STYLE_H

#include "base/arena.h"
#include "report/hists_ask.h"

struct hists_state;

struct hists_style {
	const char *name; /* as in kin_hists_opts.rules */
	struct hists_rules rows;
	enum demangle_style names; /* default style of names */
	bool addresses_apart;      /* code without a name is a function per address; otherwise one
				      per object, "[libfoo.so]" */
	bool self_physical;        /* as in kin_hists_opts, which it overrides */
	unsigned max_stack;        /* default for that of kin_hists_opts */

	/* ---- contents ---- */
	bool recorded_events;   /* only recorded events, not derived ones */
	bool event_titles;      /* events by their titles, not by their names */
	bool events_say_stacks; /* there are stacks if an event was recorded with them */
	bool hides_single;      /* a key with only one possible value is no column */
	bool says_missing;      /* without stacks Children are a column of empty cells */
	bool rows_by_first; /* a row of several functions is the first one's, where one is named */
	bool lists_lead;    /* a figure in a list of keys is sorted at its position, not first */
	const char *trace_keys; /* default keys for trace points; NULL: the usual ones */
	/* A key to add to the requested ones; false: none. */
	bool (*more_key)(const struct hists_ask *a, enum hist_key *ret);

	/* ---- layout ---- */
	/* Either may return NULL: use the column's own text. */
	const char *(*figure_title)(const struct hists_ask *a, enum field_kind kind);
	const char *(*key_title)(enum hist_key key);
	/* Used instead of hists_text(); in the arena, or living as long as h. */
	const char *(*text)(struct arena *a, const struct hists *h, size_t row, enum hist_key key);
	/* Passes data to the program's table layout: table_set_layout(). */
	void (*describe)(struct hists_state *s);
};

/* kin's own. */
extern const struct hists_style hists_own_style;

#endif
