/* file.h - reading whole files into memory, without trust in what the path leads to.
 *
 * Files are read, not mapped: another process that truncates one must not kill us with SIGBUS. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <sys/types.h>

#include "base/base.h"
#include "base/bytes.h"

struct kin_error;

struct file {
	uint8_t *data; /* NUL-terminated after size bytes; owned */
	size_t size;
	char *copy; /* NULL, or where the bytes are instead of `data`: in a temporary file without a
		       name, which lasts until file_free() */
	int copy_fd;
};

/* `path` "-" is standard input. Anything but a regular file or standard input is refused; with
 * allow_fifo, pipes are read, too: named as an open descriptor (file_is_descriptor), or FIFOs. If
 * nobody writes to a FIFO for some seconds, it is empty. A file of more than `max` bytes is an
 * error (0: no limit). */
struct file_opts {
	size_t max;
	bool allow_fifo;
	size_t in_memory; /* more is copied to a temporary file, in TMPDIR or else /var/tmp, if one
			     can be made there. `max` is no limit then. 0: never */
	const char *name; /* in errors; NULL: the path */
};
MUST_CHECK struct kin_error *file_read(const char *path, const struct file_opts *opts,
				       struct file *ret);
void file_free(struct file *f);

/* Reads up to `size` first bytes of a regular file; returns how many. 0 for anything else: bytes
 * read from a pipe are gone. */
size_t file_head(const char *path, void *ret, size_t size);

/* Whether both names lead to one file, or folder, that is there. */
bool file_is_same(const char *a, const char *b);

/* Whether it is a FIFO, or a descriptor of a pipe. Opening one lets go its writer, who fails if it
 * is not read then. */
bool file_is_fifo(const char *path);
/* The first of these paths, relative to the folder of the running program, that can be read; to be
 * freed. NULL: none. `places` ends with NULL. */
char *file_near_program(const char *const *places);

/* Opens /dev/null in place of standard files that are closed, the wrong way round, so that using
 * one is still an error: a file opened later shall not become standard output. For main(). */
void file_occupy_standard(void);

/* From now on a write beyond a limit on the size of files (ulimit -f) fails, and does not end the
 * program. Programs that it starts do not inherit that. For main(). */
void file_survive_limit(void);

/* Whether the path is that of an open descriptor: /dev/stdin, /dev/stdout, /dev/fd/N,
 * /proc/self/fd/N. */
bool file_is_descriptor(const char *path);

/* "/a/./b/../c" becomes "/a/c", in place. Symbolic links are not followed. */
void file_clean_path(char *path);

/* The widest permissions that a file derived from the one at that path ("-": standard input) may
 * have: read and write for the owner, and for group and others what they may read there. 0600 for
 * anything but a file, such as a pipe or a store. */
mode_t file_mode_of(const char *path);

/* Opens a file to be written from its start: a new one, a regular one (which is emptied), a
 * character device, or any descriptor named as such. Anything else is refused, and the call never
 * blocks. `mode` is the widest mode: the umask or the file's earlier mode may narrow it. Symbolic
 * links are not followed: otherwise anybody who may write to the folder could choose which file is
 * overwritten. Errors name the path. */
MUST_CHECK struct kin_error *file_create(const char *path, mode_t mode, int *fd);
/* Only the symbolic-link check of file_create(), for callers that open the file themselves. */
MUST_CHECK struct kin_error *file_check_link(const char *path);

/* Writes all of it, restarting after interruptions. False with errno set on failure. */
MUST_CHECK bool file_write_all(int fd, const void *data, size_t size);

#endif
