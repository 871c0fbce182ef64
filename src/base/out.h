/* out.h - writes a file atomically: all of it, or none.
 *
 * Data goes to a new file beside the old one, which out_close() puts in its place once everything
 * is written. Until then, and after an error, the old one is as it was. Devices, and descriptors
 * that are named as such (file_is_descriptor()), are written directly. out_close() returns the
 * first error. */
#ifndef BASE_OUT_H
#define BASE_OUT_H

#include <sys/types.h>

#include "base/base.h"

struct kin_error;
struct out;

/* `mode` is the widest mode: the umask, or the mode of the file that is replaced, may narrow it.
 * Symbolic links are refused, and files that may not be written. */
MUST_CHECK struct kin_error *out_open(const char *path, mode_t mode, struct out **ret);
uint8_t *out_space(struct out *o,
		   size_t size); /* to be filled before the next call; <= OUT_SPACE */
void out_put(struct out *o, const void *bytes, size_t n); /* of any size */
int out_errnum(const struct out *o); /* of the first write that failed so far; 0: none did */
MUST_CHECK struct kin_error *out_close(struct out *o); /* consumes o */
/* In place of out_close(): the target stays as it was, unless it is written directly. */
void out_abandon(struct out *o);

enum { OUT_SPACE = 1 << 16 };

#endif
