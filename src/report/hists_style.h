/* hists_style.h - how another program's report differs from kin's report "hists", where neither is
 * wrong. That program's folder defines one of these, const, and the caller passes it
 * (report_opts.hists_style). NULL or false means kin's own choice. */
#ifndef REPORT_HISTS_STYLE_H
#define REPORT_HISTS_STYLE_H

#include "base/arena.h"
#include "report/hists_ask.h"

struct hists_state;

struct hists_style {
	const char *name; /* its name in kin_hists_opts.rules */
	struct hists_rules rows;
	enum demangle_style names; /* default style of names */
	bool addresses_apart;      /* each address of code without a name is a function; otherwise
				      there is one function per object, "[libfoo.so]" */
	bool self_physical;        /* as in kin_hists_opts, which it overrides */
	unsigned max_stack;        /* default of kin_hists_opts.max_stack */
	bool splits_names;         /* lists of names are split at each comma */

	/* ---- contents ---- */
	bool recorded_events;   /* only recorded events, not derived ones */
	bool event_titles;      /* show events by title, not by name */
	bool events_say_stacks; /* stacks are assumed if an event was recorded with them */
	bool hides_single;      /* a key with only one possible value has no column */
	bool says_missing;      /* without stacks there is a column Children with empty cells */
	bool rows_by_first; /* a row that covers several functions counts as the first one's when a
			       function is named */
	bool lists_lead; /* a figure in a list of keys is sorted at its position there, not first */
	const char *trace_keys; /* default keys for trace points; NULL: the usual ones */
	/* A key to add to the requested ones; returns false if there is none. */
	bool (*more_key)(const struct hists_ask *a, enum hist_key *ret);

	/* ---- layout ---- */
	/* Return NULL to use the column's own text. */
	const char *(*figure_title)(const struct hists_ask *a, enum field_kind kind);
	const char *(*key_title)(enum hist_key key);
	/* Used instead of hists_text(). The text is in the arena, or lives as long as h. */
	const char *(*text)(struct arena *a, const struct hists *h, size_t row, enum hist_key key);
	/* Passes data to the program's table layout: table_set_layout(). */
	void (*describe)(struct hists_state *s);
};

/* kin's own style. */
extern const struct hists_style hists_own_style;

#endif
