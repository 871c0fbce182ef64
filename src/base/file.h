/* file.h - whole files read into memory, without trusting what the name leads to.
 *
 * Read, not mapped: a file cut short by somebody else while we look at it must not kill us. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <sys/types.h>

#include "base/base.h"
#include "base/bytes.h"

struct kin_error;

struct file {
	uint8_t *data; /* NUL-terminated after size bytes; owned */
	size_t size;
};

/* `path` "-" is standard input. Anything but a regular file or standard input is refused; with
 * allow_fifo a pipe is read that is named as an open descriptor (file_is_descriptor): somebody
 * handed it to us. Any other FIFO may wait for ever. `max` bytes at most (0: no limit): a longer
 * file is an error. */
struct file_opts {
	size_t max;
	bool allow_fifo;
};
MUST_CHECK struct kin_error *file_read(const char *path, const struct file_opts *opts,
				       struct file *ret);
void file_free(struct file *f);

/* Whether the name is that of an open descriptor, as shells give it: /dev/stdin, /dev/stdout,
 * /dev/fd/N, /proc/self/fd/N. */
bool file_is_descriptor(const char *path);

/* What a file may allow at most that is made of the one with that name ("-": standard input): to
 * read and write it, but group and others only what they may read there. Of what is no file, such
 * as a pipe or a store, 0600. */
mode_t file_mode_of(const char *path);

/* Opens a file to be written from its start: a new one, a regular one (which is emptied), a
 * character device, or any descriptor named as such. Other things are refused, and nothing waits.
 * `mode` is the most that it may allow: the umask, or what the file allowed before, may be less.
 * Symbolic links are not followed: who may write to the folder would choose what is overwritten.
 * Errors name the path. */
MUST_CHECK struct kin_error *file_create(const char *path, mode_t mode, int *fd);
/* The same, but what is in a regular file stays until file_empty(): for who does not know yet
 * whether there will be anything to write. */
MUST_CHECK struct kin_error *file_open_output(const char *path, mode_t mode, int *fd);
/* Empties a regular file, and does nothing to others. False with errno set if it cannot. */
MUST_CHECK bool file_empty(int fd);
/* Only the symbolic-link check of file_create(), for callers that open the file themselves. */
MUST_CHECK struct kin_error *file_check_link(const char *path);

/* Writes all of it, however often that is interrupted. False with errno set if it cannot. */
MUST_CHECK bool file_write_all(int fd, const void *data, size_t size);

#endif
