/* file.h - whole files read into memory, without trusting what the name leads to.
 *
 * Read, not mapped: a file cut short by somebody else while we look at it must not kill us. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/bytes.h"

struct kin_error;

struct file {
	uint8_t *data; /* NUL-terminated after size bytes; owned */
	size_t size;
};

/* `path` "-" is standard input. Anything but a regular file, a pipe or standard input is refused;
 * a FIFO is only read when named so (allow_fifo), as it may wait for ever. `max` bytes at most
 * (0: no limit): a longer file is an error. */
struct file_opts {
	size_t max;
	bool allow_fifo;
};
MUST_CHECK struct kin_error *file_read(const char *path, const struct file_opts *opts,
				       struct file *ret);
void file_free(struct file *f);

#endif
