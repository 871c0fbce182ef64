/* utf8.h - one character at a time. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/base.h"

/* Length of the well-formed sequence at s (RFC 3629, section 4), its code point in *ret; 0 if it is
 * not one. s is NUL-terminated. */
size_t utf8_decode(const unsigned char *s, uint32_t *ret);

/* Characters that show nothing and change how others are shown: controls, bidirectional marks,
 * joiners, tags. */
bool utf8_is_formatting(uint32_t c);

/* Columns that c takes on a terminal: 0, 1 or 2. */
unsigned utf8_width(uint32_t c);

#endif
