/* hists_style.h - what another program decides otherwise than kin about the report "hists", where
 * there is no wrong or right. That program's room owns one of these, const, and whoever asks for
 * the report passes it (report_opts.hists_style). What is NULL or false is as kin has it. */
#ifndef REPORT_HISTS_STYLE_H
#define REPORT_HISTS_STYLE_H

#include "base/arena.h"
#include "report/hists_ask.h"

struct hists_state;

struct hists_style {
	const char *name; /* as kin_hists_opts.rules has it */
	struct hists_rules rows;
	enum demangle_style names; /* if nobody says how names are to be shown */
	bool self_physical;        /* as kin_hists_opts has it, whatever that says */
	unsigned max_stack;        /* if that says nothing */

	/* ---- what is shown ---- */
	bool recorded_events;   /* only what was recorded, not what else is known */
	bool event_titles;      /* events by how they are shown there, not by their names */
	bool events_say_stacks; /* there are stacks if an event was recorded with them */
	bool hides_single;      /* a key that can have one value only is no column */
	bool says_missing;      /* without stacks Children are a column, of empty cells */
	bool lists_lead;        /* a figure in a list of keys is ordered by there, not first */
	const char *trace_keys; /* of trace points; NULL: the usual ones */
	/* A key that is added to those asked for; false: none. */
	bool (*more_key)(const struct hists_ask *a, enum hist_key *ret);

	/* ---- how it is written ---- */
	/* NULL from either: the column's own. */
	const char *(*figure_title)(const struct hists_ask *a, enum field_kind kind);
	const char *(*key_title)(enum hist_key key);
	/* In place of hists_text(); in the arena, or living as long as h. */
	const char *(*text)(struct arena *a, const struct hists *h, size_t row, enum hist_key key);
	/* Hands over what the program's layout of the table needs to know: table_set_layout(). */
	void (*describe)(struct hists_state *s);
};

/* kin's own. */
extern const struct hists_style hists_own_style;

#endif
