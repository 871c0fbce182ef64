/* unfold.h - rows unfolded below a function in the list: its callees or callers, level by level.
 *
 *	unfold_open(u, row, ...);  what lies below a row of the page, one level
 *	unfold_begin(u);                                to list rows anew: for each row of the page
 *	n = unfold_put(u, page, row);                   its rows, behind those put before
 *	unfold_toggle(u, i);                            one of these, opened or closed: list anew */
#ifndef TUI_UNFOLD_H
#define TUI_UNFOLD_H

#include "tui/flame.h"
#include "tui/page.h"

struct unfolded {        /* the rows unfolded below one row of the page */
	size_t position; /* index of the row in the report */
	struct flame flame;
	uint64_t total; /* of all samples */
	bool *open;     /* by node */
	bool callers;
};

struct unfold_place {
	size_t of; /* unfolded */
	uint32_t node;
};

struct unfold { /* all zero: nothing is open */
	VEC(struct unfolded) of;
	VEC(struct page_row) rows;
	VEC(struct unfold_place) places; /* for each row put */
	struct arena texts;              /* their memory */
};

/* Opens a row of the page: `flame` is the flame graph of its function, which u then owns, `total`
 * the time of all samples. callers: its callers, for samples taken in it; otherwise its callees.
 * Returns whether there are any. */
bool unfold_open(struct unfold *u, const struct page_row *row, bool callers, struct flame *flame,
		 uint64_t total);
void unfold_close(struct unfold *u, const struct page_row *row); /* closes an open row */
/* Whether the row of the page is open. */
bool unfold_is_open(const struct unfold *u, const struct page_row *row);
/* Opens or closes the i-th row that was put. Returns whether there is anything below it. */
bool unfold_toggle(struct unfold *u, size_t i);

void unfold_begin(struct unfold *u);
/* Returns how many rows it put. */
size_t unfold_put(struct unfold *u, const struct page *page, const struct page_row *row);
void unfold_done(struct unfold *u); /* leaves it all zero */

#endif
