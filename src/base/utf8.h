/* utf8.h - one character at a time. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/base.h"

/* Length of the well-formed UTF-8 sequence at s (RFC 3629, section 4), with its code point in *ret;
 * 0 if it is malformed. s is NUL-terminated. */
size_t utf8_decode(const unsigned char *s, uint32_t *ret);

/* Whether c is invisible and changes how other characters are shown: controls, bidirectional marks,
 * joiners, tags; or no character at all, as U+FFFF, which XML does not allow. */
bool utf8_is_formatting(uint32_t c);

/* Columns that c takes on a terminal: 0, 1 or 2. */
unsigned utf8_width(uint32_t c);

#endif
