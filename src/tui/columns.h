/* columns.h - which columns of a page have room on the terminal, and how much. */
#ifndef TUI_COLUMNS_H
#define TUI_COLUMNS_H

#include "tui/page.h"

enum { COLUMNS_GAP = 2 }; /* behind each */

/* The widths in which the page's columns are shown beside the name, the last one; 0: not at all.
 * The name must be seen, so where it has no room, what tells rows apart least goes first: texts
 * that are the same in all rows; then other texts are cut, and left out; at last numbers, the last
 * ones first, all but one. Columns that say nothing are never shown. */
void columns_fit(const struct page *p, unsigned columns, unsigned width[PAGE_COLUMNS]);

#endif
