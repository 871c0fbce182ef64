/* out.h - writes a file atomically.
 *
 * Data goes to a new file beside the old one, which out_close() puts in its place once everything
 * is written. Devices and pipes are written directly. out_close() returns the first error. */
#ifndef INPUT_OUT_H
#define INPUT_OUT_H

#include <sys/types.h>

#include "base/base.h"

struct kin_error;
struct out;

/* `mode` is the widest mode: the umask, or the mode of the file that is replaced, may narrow it.
 * Symbolic links are refused. */
MUST_CHECK struct kin_error *out_open(const char *path, mode_t mode, struct out **ret);
uint8_t *out_space(struct out *o,
		   size_t size); /* to be filled before the next call; <= OUT_SPACE */
void out_put(struct out *o, const void *bytes, size_t n); /* of any size */
MUST_CHECK struct kin_error *out_close(struct out *o);    /* consumes o */

enum { OUT_SPACE = 1 << 16 };

#endif
