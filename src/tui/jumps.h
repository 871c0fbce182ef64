/* jumps.h - the jump target of the selected instruction, and the arrow to it. */
#ifndef TUI_JUMPS_H
#define TUI_JUMPS_H

#include "tui/page.h"

enum { JUMPS_WIDTH = 3 }; /* width of the arrow, with the blank after it */

/* The address that a row of page_of_instructions() jumps to. False: it is no jump, or the target is
 * not known. A call is no jump. */
bool jumps_target(const struct page_row *r, uint64_t *ret);
/* Whether the row's instruction is at that address. */
bool jumps_is_at(const struct page *p, const struct page_row *r, uint64_t address);

/* The part of an arrow between two lines that is on `line`. */
const char *jumps_arrow(size_t line, size_t from, size_t to, bool ascii);

#endif
