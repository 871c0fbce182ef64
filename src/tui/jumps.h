/* jumps.h - where the selected instruction jumps to, and the arrow to there. */
#ifndef TUI_JUMPS_H
#define TUI_JUMPS_H

#include "tui/page.h"

enum { JUMPS_WIDTH = 3 }; /* columns of the arrow, with the blank behind it */

/* Of a row of page_of_instructions(): the address it jumps to. False: it is no jump, or nobody
 * knows where to. Calls are none. */
bool jumps_target(const struct page_row *r, uint64_t *ret);
/* Whether the instruction of the row is there. */
bool jumps_is_at(const struct page *p, const struct page_row *r, uint64_t address);

/* The part of the arrow from one line to another that a line shows. */
const char *jumps_arrow(size_t line, size_t from, size_t to, bool ascii);

#endif
