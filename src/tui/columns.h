/* columns.h - chooses the columns of a page that fit the terminal, and their widths. */
#ifndef TUI_COLUMNS_H
#define TUI_COLUMNS_H

#include "tui/page.h"

enum { COLUMNS_GAP = 2 }; /* blanks after each column */

/* Sets the widths of the page's columns; 0: hidden. The name, which follows them, must be visible.
 * If it has no room, columns give way in this order: texts that are equal in all rows are hidden;
 * then other texts are truncated, and hidden; then numbers are hidden, the last ones first, except
 * the column that rows are sorted by, or the first one. Empty columns are never shown. */
void columns_fit(const struct page *p, unsigned columns, size_t order,
		 unsigned width[PAGE_COLUMNS]);

#endif
