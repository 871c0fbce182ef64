/* hists_state.h - the state of the report "hists" while its table is read. */
#ifndef REPORT_HISTS_STATE_H
#define REPORT_HISTS_STATE_H

#include "analysis/callchain.h"
#include "analysis/hist_key.h"
#include "base/arena.h"
#include "report/hists_ask.h"
#include "report/hists_levels.h"
#include "report/hists_style.h"
#include "report/reports.h"

enum hists_role {
	ROLE_FIGURE,
	ROLE_FOLDED,
	ROLE_KEY,
	ROLE_PAID,
	ROLE_LEVEL,
	ROLE_WEIGHT,
	ROLE_COUNT,
	ROLE_CHILDREN_WEIGHT,
	ROLE_CHILDREN_COUNT,
	ROLE_CHAIN_SUM,
	ROLE_CHAIN_HIT,
	ROLE_CHAIN_BELOW,
	ROLE_CHAIN_COUNT,
	ROLE_EVENT /* the event, if there are several: their tables follow each other */
};

struct hists_col {
	enum hists_role role;
	struct field field;
	size_t event;
};

struct hists_emitted { /* a row for one hop of a chain */
	uint32_t node, depth;
	bool joins;
	double share;
};

struct hists_state {
	struct report_input in;
	struct hists_ask *ask;
	struct hists *hists;
	struct callchains *chains;
	struct hists_levels levels;
	struct kin_table *table;
	struct arena arena;
	VEC(struct hists_col) cols;
	VEC(struct kin_column) columns;
	size_t tree; /* index of the column with chains */
	size_t next, n_rows;
	const struct callchain *chain;
	uint32_t chain_depth; /* functions of a chain to show; 0: all */
	VEC(struct hists_emitted) emitted;
	size_t next_emitted;
	struct kin_cell *cells;
	const char **paid; /* [hists->n]: hists_paid(); NULL: nothing was folded */
	bool borrows;      /* `hists` and `paid` are those of another table */
};

/* The denominator of an event's shares: its weight, or the elapsed time. */
double hists_total(const struct hists_state *s, size_t event, bool latency);

/* A share in percent of the first event's total. */
double hists_percent(const struct hists_state *s, const struct hist_stat *stat);

/* Whether the row passes the filter on functions. */
bool hists_state_wants(const struct hists_state *s, uint32_t row);

/* hists_overview.c: selects and orders the rows of a first page. */
void hists_overview(struct hists_state *s);

/* hists_paid.c: fills s->paid, in an overview, with what each row's Self paid for of others' code:
 * "std::sort 72 %, page faults 3 %"; NULL: nothing of weight. */
void hists_paid(struct hists_state *s);

/* Whether every key has only one value. Their columns are then shown nevertheless. */
bool hists_all_elided(const struct hists_ask *a);

/* Names of the shown events. */
const char *hists_events_text(struct hists_state *s);

/* Adds properties and notes. The columns must have been added. */
void hists_describe(struct hists_state *s);

#endif
