/* page.h - a report as rows of text, ready to be looked at. */
#ifndef TUI_PAGE_H
#define TUI_PAGE_H

#include <stdio.h>

#include "base/arena.h"
#include "base/vec.h"
#include "kin/table.h"

enum { PAGE_COLUMNS = 6 };

struct page_row {
	enum kin_row_kind kind;
	const char *cells[PAGE_COLUMNS]; /* the name is the last one, by itself below */
	double values[PAGE_COLUMNS];     /* of those that are numbers */
	const char *name;
	const char *function;     /* the name without its cycle; NULL: is no function */
	size_t position;          /* in the report */
	double with_callees, own; /* shares of the total, 0..1, to colour by */
	double share;             /* as the report has it; 0: has none */
	unsigned depth;           /* of rows unfolded below another one, from 1 on */
};

struct page_column {
	const char *title;
	unsigned width; /* of the widest */
	bool left;      /* aligned */
	bool same;      /* in all rows, of which there are several */
	bool empty;     /* in all rows */
};

struct page {
	struct arena arena; /* of all texts */
	const char *title;  /* what the profile is of, and whether times are estimated */
	const char *event;  /* of which it is; NULL: not said */
	const char *unit;   /* of times: "s", or what was counted */
	struct page_column columns[PAGE_COLUMNS];
	size_t n_columns;
	const char *name_title;
	unsigned name_width; /* of the widest, in columns */
	VEC(struct page_row) rows;
	size_t children, own; /* the columns of with_callees and own; NONE: not there */
	size_t comm;          /* that of the thread's or command's name; NONE: not there */
	bool has_children;    /* with_callees means something */
	bool is_estimated;    /* it was apportioned */
	size_t n_events;      /* there are; of one each */
};

struct page_opts {
	const struct kin_hists_opts *hists; /* for profiles with stacks; NULL: as usual */
	size_t event;                       /* the n-th, of all functions */
	const char *event_name;         /* of pages about one function; NULL: there is only one */
	const char *const *source_dirs; /* NULL-terminated, as kin_report_opts has them */
};

/* All functions: as kin report shows them, or, where there are no stacks, as kin flat does. */
MUST_CHECK struct kin_error *page_of_functions(struct kin_profile *p, const struct page_opts *o,
					       struct page *ret);
/* What a comparison found, a row for each function: kin_comparison_table(). */
void page_of_changes(struct kin_table *t, struct page *ret);
/* Rows by a key of kin report's: "tid", "dso". */
MUST_CHECK struct kin_error *page_of_parts(struct kin_profile *p, const struct page_opts *o,
					   const char *key, struct page *ret);
/* A function, its callers before it and its callees behind it. */
MUST_CHECK struct kin_error *page_of_function(struct kin_profile *p, const struct page_opts *o,
					      const char *function, struct page *ret);
/* The cycles of calls, with what stacks say of each, their functions and calls; without rows if
 * there are none: the title says why. */
MUST_CHECK struct kin_error *page_of_cycles(struct kin_profile *p, struct page *ret);
/* The source lines of a function, or its instructions with what is known of their lines; without
 * rows if there are none. */
MUST_CHECK struct kin_error *page_of_source(struct kin_profile *p, const struct page_opts *o,
					    const char *function, struct page *ret);
MUST_CHECK struct kin_error *page_of_instructions(struct kin_profile *p, const struct page_opts *o,
						  const char *function, struct page *ret);
void page_done(struct page *p);

/* Of the name: callers and callees are indented, as in the call graph. */
unsigned page_indent(const struct page_row *r);

/* A column with what functions took of a core, behind the shares that it is made of; `cores` were
 * busy. */
void page_add_cores(struct page *p, double cores);

/* Rows by a column: numbers from the greatest on, texts from A to Z; n_columns: by name. Of equal
 * ones the report's order decides. For page_of_functions() and page_of_changes() only. */
void page_sort(struct page *p, size_t column);

/* The page's head and the rows, as lines of text with whole names. Returns whether all was written.
 */
bool page_print(const struct page *p, const struct page_row *const *rows, size_t n, FILE *out);

#endif
