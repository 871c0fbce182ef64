/* tui_list.h - a scrolling window on a list of rows, one of which is selected. */
#ifndef TUI_TUI_LIST_H
#define TUI_TUI_LIST_H

#include "base/base.h"

struct list {
	size_t n;        /* rows */
	size_t selected; /* < n, or 0 */
	size_t top;      /* the first visible row */
	size_t height;   /* number of visible rows; >= 1 */
};

/* Sets the numbers of rows and lines; keeps the selection if possible, and visible. */
void list_fit(struct list *l, size_t n, size_t height);
void list_move(struct list *l, ptrdiff_t by); /* stops at both ends */
void list_select(struct list *l, size_t row);
void list_centre(struct list *l, size_t row); /* selects a row and scrolls so that it is in the
						 middle */

#endif
