/* page.h - a report as rows of text, ready to be looked at. */
#ifndef TUI_PAGE_H
#define TUI_PAGE_H

#include "base/arena.h"
#include "base/vec.h"
#include "kin/table.h"

enum { PAGE_COLUMNS = 6 };

struct page_row {
	enum kin_row_kind kind;
	const char *cells[PAGE_COLUMNS]; /* the name is the last one, by itself below */
	const char *name;
	const char *function;     /* the name without its cycle; NULL: is no function */
	size_t position;          /* in the report */
	double with_callees, own; /* shares of the total, 0..1, to sort and colour by */
};

struct page_column {
	const char *title;
	unsigned width; /* of the widest */
	bool left;      /* aligned */
};

struct page {
	struct arena arena; /* of all texts */
	const char *title;  /* what the profile is of, and whether times are estimated */
	struct page_column columns[PAGE_COLUMNS];
	size_t n_columns;
	const char *name_title;
	VEC(struct page_row) rows;
	bool has_children; /* with_callees means something */
	size_t n_events;   /* there are; of one each */
};

struct page_opts {
	const struct kin_hists_opts *hists; /* for profiles with stacks; NULL: as usual */
	size_t event;                       /* the n-th */
};

/* All functions: as kin report shows them, or, where there are no stacks, as kin flat does. */
MUST_CHECK struct kin_error *page_of_functions(struct kin_profile *p, const struct page_opts *o,
					       struct page *ret);
/* A function, its callers before it and its callees behind it. */
MUST_CHECK struct kin_error *page_of_function(struct kin_profile *p, const char *function,
					      struct page *ret);
void page_done(struct page *p);

/* Rows by own time, or by that with callees; for page_of_functions() only. */
void page_sort(struct page *p, bool by_own);

#endif
