/* unfold.h - rows unfolded below a function in the list: its callees or callers, level by level.
 *
 *	unfold_open(u, row, ...);     makes the tree below a row of the page, one level open
 *	unfold_begin(u);              starts a new list of rows; then for each row of the page:
 *	n = unfold_put(u, page, row); appends the row's unfolded rows to the list
 *	unfold_toggle(u, i);          opens or closes one of these; then make the list again */
#ifndef TUI_UNFOLD_H
#define TUI_UNFOLD_H

#include "tui/flame.h"
#include "tui/page.h"

struct unfolded {        /* the rows unfolded below one row of the page */
	size_t position; /* index of the row in the report */
	struct flame flame;
	uint64_t total; /* weight of all samples */
	bool *open;     /* for each node */
	bool callers;
};

struct unfold_place {
	size_t of; /* index in unfold.of */
	uint32_t node;
};

struct unfold { /* all zero: nothing is open */
	VEC(struct unfolded) of;
	VEC(struct page_row) rows;
	VEC(struct unfold_place) places; /* for each row in `rows` */
	struct arena texts;              /* memory for the rows' strings */
};

/* Opens a row of the page. `flame`: the flame graph of its function, which u then owns; `total`:
 * the weight of all samples. callers: it is the graph of samples taken in the function, with its
 * callers; otherwise it has the callees. Returns whether there are any rows below. */
bool unfold_open(struct unfold *u, const struct page_row *row, bool callers, struct flame *flame,
		 uint64_t total);
void unfold_close(struct unfold *u, const struct page_row *row); /* closes an open row */
/* Whether the row of the page is open. */
bool unfold_is_open(const struct unfold *u, const struct page_row *row);
/* Opens or closes the i-th row of the list. Returns whether there is anything below it. */
bool unfold_toggle(struct unfold *u, size_t i);

void unfold_begin(struct unfold *u);
/* Appends the rows below a row of the page; returns how many. */
size_t unfold_put(struct unfold *u, const struct page *page, const struct page_row *row);
void unfold_done(struct unfold *u); /* leaves it all zero */

#endif
