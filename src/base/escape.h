/* escape.h - escaping of names from files before they are shown. A symbol or a path may hold escape
 * sequences that take over a terminal, right-to-left overrides that reorder text, or invalid UTF-8.
 */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <string.h>

#include "base/base.h"

/* True if s may be written to a terminal as it is: printable, valid UTF-8, no control (C0, DEL,
 * C1), no bidirectional or other invisible formatting characters. */
bool escape_is_plain(const char *s);

/* The highest bit of each of the eight bytes at s that is not printable ASCII, 0x20 to 0x7e. */
static inline uint64_t escape_odd_bytes(const char *s)
{
	const uint64_t ones = UINT64_MAX / 0xff;
	uint64_t v;
	memcpy(&v, s, sizeof(v));
	uint64_t low = v & 0x7f * ones; /* of these no sum carries into the next byte */
	return (~(low + 0x60 * ones) | (low + ones) | v) & 0x80 * ones;
}

/* Writes s to buf with everything that is not plain as \xNN per byte (and backslash as it is), at
 * most cap - 1 bytes and a NUL, never cutting an escape in two. Returns the length that all of it
 * needs. */
size_t escape_text(char *buf, size_t cap, const char *s);

/* The same, allocated. */
char *escape_copy(const char *s);

/* Columns that s takes on a terminal; unprintable characters count as 0. s must be valid UTF-8. */
size_t escape_width(const char *s);

#endif
