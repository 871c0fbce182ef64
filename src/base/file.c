#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

static struct kin_error *check_kind(int fd, const char *path, const struct file_opts *o,
				    struct stat *st)
{
	if (fstat(fd, st) < 0)
		return err_os(errno, "%s", path);
	if (S_ISDIR(st->st_mode))
		return err_os(EISDIR, "%s", path);
	if (!S_ISREG(st->st_mode) && !(S_ISFIFO(st->st_mode) && o->allow_fifo) && fd != STDIN_FILENO)
		return err_new(KIN_ERROR_UNSUPPORTED, "%s: not a regular file", path);
	return NULL;
}

static struct kin_error *read_all(int fd, const char *path, const struct file_opts *o,
				  size_t expected, struct file *ret)
{
	struct file f = { 0 };
	size_t cap = expected + 1;

	f.data = xrealloc(NULL, cap + 1, 1);
	for (;;) {
		ssize_t n = read(fd, f.data + f.size, cap - f.size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			struct kin_error *err = err_os(errno, "reading %s", path);
			file_free(&f);
			return err;
		}
		if (n == 0)
			break;
		f.size += (size_t)n;
		if (o->max && f.size > o->max) {
			file_free(&f);
			return err_new(KIN_ERROR_UNSUPPORTED, "%s: larger than %zu bytes", path, o->max);
		}
		if (f.size == cap) {
			cap = cap * 2 + 4096;
			f.data = xrealloc(f.data, cap + 1, 1);
		}
	}
	f.data[f.size] = '\0';
	*ret = f;
	return NULL;
}

struct kin_error *file_read(const char *path, const struct file_opts *opts, struct file *ret)
{
	bool is_stdin = !strcmp(path, "-");
	/* Not blocking on a FIFO without a writer; for regular files it means nothing. */
	int fd = is_stdin ? STDIN_FILENO
			  : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY |
					       (opts->allow_fifo ? 0 : O_NONBLOCK));
	if (fd < 0)
		return err_gnu(err_os(errno, "%s", path), false, "%s: %s", path, strerror(errno));

	struct stat st;
	struct kin_error *err = check_kind(fd, path, opts, &st);
	if (!err) {
		size_t expected = S_ISREG(st.st_mode) && st.st_size > 0 ? (size_t)st.st_size : 4096;
		if (opts->max && expected > opts->max)
			err = err_new(KIN_ERROR_UNSUPPORTED, "%s: larger than %zu bytes", path, opts->max);
		else
			err = read_all(fd, path, opts, expected, ret);
	}
	if (!is_stdin)
		close(fd);
	return err;
}

void file_free(struct file *f)
{
	free(f->data);
	*f = (struct file){ 0 };
}
