/* page.h - a report as rows of text, ready to be displayed. */
#ifndef TUI_PAGE_H
#define TUI_PAGE_H

#include <stdio.h>

#include "base/arena.h"
#include "base/vec.h"
#include "kin/table.h"

enum { PAGE_COLUMNS = 6 };

struct page_row {
	enum kin_row_kind kind;
	const char *cells[PAGE_COLUMNS]; /* includes the name, as the last one; also in `name`
					    below */
	double values[PAGE_COLUMNS];     /* numeric values of cells in columns with numbers */
	const char *name;
	const char *function;          /* the name without its cycle; NULL: not a function */
	const char *object;            /* the function's; NULL: not known */
	size_t position;               /* index in the report */
	double with_callees, own;      /* shares of the total, 0..1, for colours */
	double share;                  /* the report's share; 0: none */
	enum kin_overview_group group; /* the row's group in an overview */
	unsigned depth;                /* level of a row unfolded below another one, from 1 on; else
					  0 */
};

struct page_column {
	const char *title;
	unsigned width; /* of the widest cell */
	bool left;      /* left-aligned */
	bool same;      /* equal in all of several rows */
	bool empty;     /* empty in all rows */
};

struct page {
	struct arena arena; /* memory of all strings */
	const char *title;  /* describes the profile, and whether times are estimated */
	const char *event;  /* name of the page's event; NULL: not given */
	const char *unit;   /* unit of times: "s", or the name of counted events */
	struct page_column columns[PAGE_COLUMNS];
	size_t n_columns;
	const char *name_title;
	unsigned name_width; /* width of the widest name, in columns */
	VEC(struct page_row) rows;
	size_t children, own; /* the columns for with_callees and own; NONE: missing */
	size_t comm;          /* the column of the thread's or command's name; NONE: missing */
	bool has_children;    /* with_callees is set */
	bool is_estimated;    /* times are apportioned */
	bool is_overview;     /* the report's own order is meaningful: most Self, then most
				 Children */
	size_t n_events;      /* number of events; a page shows one */
};

struct page_opts {
	const struct kin_hists_opts *hists; /* for profiles with stacks; NULL: default */
	size_t event;                       /* number of the event, for pages of all functions */
	const char *event_name; /* for pages of one function; NULL: there is only one event */
	const char *const *source_dirs; /* NULL-terminated, as in kin_report_opts */
	size_t first_rows;              /* rows on the first page of an overview, as in
					   kin_hists_opts */
	bool all_rows;                  /* fold no rows */
};

/* All functions. With stacks: as on the first page of kin report, followed by the other functions;
 * without stacks: as in kin flat. */
MUST_CHECK struct kin_error *page_of_functions(struct kin_profile *p, const struct page_opts *o,
					       struct page *ret);
/* The result of kin_comparison_table(), a row for each function. */
void page_of_changes(struct kin_table *t, struct page *ret);
/* Rows by a key of kin report: "tid", "dso". */
MUST_CHECK struct kin_error *page_of_parts(struct kin_profile *p, const struct page_opts *o,
					   const char *key, struct page *ret);
/* A function, preceded by its callers and followed by its callees. */
MUST_CHECK struct kin_error *page_of_function(struct kin_profile *p, const struct page_opts *o,
					      const char *function, struct page *ret);
/* The cycles of calls, with the verdict of the stacks on each cycle, its functions and its calls.
 * If there are no cycles there are no rows, and the title says why. */
MUST_CHECK struct kin_error *page_of_cycles(struct kin_profile *p, struct page *ret);
/* All functions with the number of their cycle; the cell is empty for functions in no cycle. Unlike
 * page_of_cycles() it does not stop at ten functions per cycle. */
MUST_CHECK struct kin_error *page_of_members(struct kin_profile *p, struct page *ret);
/* The source lines of a function, or its instructions with their source lines if known; no rows if
 * there are none. */
MUST_CHECK struct kin_error *page_of_source(struct kin_profile *p, const struct page_opts *o,
					    const char *function, struct page *ret);
MUST_CHECK struct kin_error *page_of_instructions(struct kin_profile *p, const struct page_opts *o,
						  const char *function, struct page *ret);
void page_done(struct page *p);

/* Indentation of the name: callers and callees are indented, as in the call graph. */
unsigned page_indent(const struct page_row *r);

/* Adds a column, after the shares, with the share of a core that functions took; `cores`: number of
 * cores that were busy. */
void page_add_cores(struct page *p, double cores);

/* Sorts rows by a column: numbers largest first, texts from A to Z; n_columns: by name; NONE: in
 * the report's order. Equal rows keep the report's order. For page_of_functions() and
 * page_of_changes() only. */
void page_sort(struct page *p, size_t column);

/* Writes the page's head and the rows as lines of text, with full names. Returns whether all of it
 * was written. */
bool page_print(const struct page *p, const struct page_row *const *rows, size_t n, FILE *out);

#endif
