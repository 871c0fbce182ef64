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

/* The same in two steps, for those who put a number into its place among others: first how long it
 * is, then its characters, written there and nowhere else. */
struct num {
	uint64_t digits;   /* of the number without its point */
	unsigned decimals; /* of them behind the point; 0: no point */
	size_t length;
};
struct num num_of_u64(uint64_t v);
bool num_of_fixed(double v, unsigned decimals, struct num *ret); /* false: only num_fixed() can */
void num_put(char *to, const struct num *n);                     /* n->length characters, no NUL */

#endif
