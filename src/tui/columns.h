/* columns.h - chooses the columns of a page that fit the terminal, and their widths. */
#ifndef TUI_COLUMNS_H
#define TUI_COLUMNS_H

#include "tui/page.h"

enum { COLUMNS_GAP = 2 }; /* after each column */

/* Sets the widths of the page's columns beside the name, the last one; 0: hidden. The name must be
 * visible, so if it has no room, columns are given up in this order: texts that are equal in all
 * rows; then other texts are truncated, and hidden; finally numbers, the last ones first, all but
 * the one that rows are sorted by, or the first one. Empty columns are never shown. */
void columns_fit(const struct page *p, unsigned columns, size_t order,
		 unsigned width[PAGE_COLUMNS]);

#endif
