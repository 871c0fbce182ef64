/* num.h - numbers as text, exactly as printf would write them and several times faster. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include "base/base.h"

enum { NUM_MAX = 400 }; /* enough for any of these: "%.2f" of the largest double */

/* Each writes a NUL-terminated text to buf[NUM_MAX] and returns its length. */
size_t num_u64(char *buf, uint64_t v);                    /* "%lu" */
size_t num_fixed(char *buf, double v, unsigned decimals); /* "%.*f"; decimals <= 9 */

/* Writes bytes as lower-case hex digits, 2 * n of them and a NUL. Returns the length. */
size_t num_hex(char *to, const void *bytes, size_t n);
/* The value of a hex digit, of either case; -1: it is none. */
static inline int num_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The same as fields of a line: right-aligned in `width` characters, or wider if it does not fit
 * ("%*lu", "%*.*f"; _left: left-aligned, "%-*lu"). No NUL; returns the start of the next field. May
 * overwrite all of to[NUM_MAX + width]. */
char *num_put_u64(char *to, unsigned width, uint64_t v);
char *num_put_left(char *to, unsigned width, uint64_t v);
char *num_put_fixed(char *to, unsigned width, double v, unsigned decimals);

#endif
