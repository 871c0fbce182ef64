/* num.h - numbers as text, exactly as printf would write them and several times faster. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include "base/base.h"

enum { NUM_MAX = 400 }; /* room that any of these needs at most: "%.2f" of the largest double */

/* Each writes a NUL-terminated text to buf[NUM_MAX] and returns its length. */
size_t num_u64(char *buf, uint64_t v);                    /* "%lu" */
size_t num_fixed(char *buf, double v, unsigned decimals); /* "%.*f"; decimals <= 6 */

#endif
