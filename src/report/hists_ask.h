/* hists_ask.h - the options of the report "hists", parsed and checked. */
#ifndef REPORT_HISTS_ASK_H
#define REPORT_HISTS_ASK_H

#include "analysis/hists.h"
#include "base/arena.h"
#include "base/vec.h"
#include "kin/kin.h"

enum field_kind {
	FIELD_CHILDREN,
	FIELD_SELF,
	FIELD_LATENCY_CHILDREN,
	FIELD_LATENCY,
	FIELD_SAMPLES,
	FIELD_PERIOD,
	FIELD_KERNEL, /* from here on in the order of enum hist_level */
	FIELD_USER,
	FIELD_GUEST_KERNEL,
	FIELD_GUEST_USER,
	FIELD_KEY
};

struct field {
	enum field_kind kind;
	enum hist_key key; /* FIELD_KEY */
};

enum chain_mode { MODE_NONE, MODE_GRAPH, MODE_FRACTAL, MODE_FLAT, MODE_FOLDED };
enum chain_value { VALUE_PERCENT, VALUE_PERIOD, VALUE_COUNT };

struct hists_style;

struct hists_ask {
	const struct kin_hists_opts *given;
	const struct hists_style *style;
	struct hists_opts opts;
	struct hist_filter filter;
	VEC(enum hist_key) keys;
	VEC(struct field) fields;
	VEC(struct hist_term) terms;
	struct sample_filter *samples;
	VEC(uint16_t) events;
	size_t n_events; /* number of events to choose from: those with samples, a group counts as
			    one */
	enum chain_mode mode;
	enum chain_value value;
	double threshold; /* percent */
	uint32_t print_limit;
	double percent_limit;
	bool branches; /* samples are branches */
	bool traces;   /* all events are trace points, and their fields were read */
	bool stacks;   /* samples have callers, or functions inlined in their frame */
	bool overview;
	const char *elided[N_HIST_KEYS]; /* the only value of a key; NULL: there are several, or the
					    key is shown anyway */
	regex_t parent, ignore;
	bool has_parent, has_ignore;
	struct arena arena;
};

/* The result borrows `given` and `style`. Errors name the option and the wrong word. */
MUST_CHECK struct kin_error *hists_ask_new(const struct profile *p, struct program *program,
					   const struct kin_hists_opts *given,
					   const struct hists_style *style, struct hists_ask **ret);
/* The default keys of rows: "comm,dso,sym". */
const char *hists_ask_usual_keys(const struct hists_ask *a);
/* Whether the options need details of samples. */
bool hists_ask_needs_details(const struct kin_hists_opts *given);
/* Whether the options need callers; whether they need times and processors. */
bool hists_ask_needs_callers(const struct kin_hists_opts *given);
bool hists_ask_needs_times(const struct kin_hists_opts *given);
/* Whether the options distinguish addresses in one function. */
bool hists_ask_needs_addresses(const struct kin_hists_opts *given);
/* Whether the options need inlined functions. If Self is charged to the function around them,
 * inlined functions only appear among callers. */
bool hists_ask_needs_inlines(const struct kin_hists_opts *given, const struct hists_style *style);
void hists_ask_free(struct hists_ask *a); /* NULL is fine */

#endif
