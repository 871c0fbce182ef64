/* num.h - numbers as text, exactly as printf would write them and several times faster. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include "base/base.h"

enum { NUM_MAX = 400 }; /* room that any of these needs at most: "%.2f" of the largest double */

/* Each writes a NUL-terminated text to buf[NUM_MAX] and returns its length. */
size_t num_u64(char *buf, uint64_t v);                    /* "%lu" */
size_t num_fixed(char *buf, double v, unsigned decimals); /* "%.*f"; decimals <= 6 */

/* Bytes as lower-case hex digits: a NUL-terminated text of 2 * n, to a buffer of one more. Returns
 * its length. */
size_t num_hex(char *to, const void *bytes, size_t n);

/* The same as fields of a line: right-aligned in `width` characters, or wider if it does not fit
 * ("%*lu", "%*.*f"; _left: left-aligned, "%-*lu"). Without NUL; returns where the next field
 * begins. Of to[NUM_MAX + width] anything behind that may have been overwritten. */
char *num_put_u64(char *to, unsigned width, uint64_t v);
char *num_put_left(char *to, unsigned width, uint64_t v);
char *num_put_fixed(char *to, unsigned width, double v, unsigned decimals);

#endif
