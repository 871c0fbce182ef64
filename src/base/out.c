/* out.c - writes a new file, which takes the target's place when it is whole. Until then it has no
 * name, if the file system supports that, so that a process that is killed leaves nothing behind;
 * elsewhere it is a temporary file beside the target. */
#include "base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"

struct out {
	int fd;
	int errnum; /* of the first write that failed, or 0 */
	char *path;
	bool is_unnamed; /* the file has no name so far */
	char *temporary; /* name of the new file; NULL: none, or the target itself is written */
	size_t n;        /* bytes in buffer */
	uint8_t buffer[4 * OUT_SPACE];
};

static char *copy(const char *s)
{
	size_t size = strlen(s) + 1;

	return memcpy(xalloc(size), s, size);
}

static void out_free(struct out *o)
{
	free(o->path);
	free(o->temporary);
	free(o);
}

/* ---- the new file ---- */

/* Where an unnamed file can be linked from. */
static const char *link_of(int fd, char name[32])
{
	snprintf(name, 32, "/proc/self/fd/%d", fd);
	return name;
}

/* Opens an unnamed file in the folder of the path; -1: none, or it could not be named later. */
static int create_unnamed(const struct out *o, mode_t mode)
{
	const char *slash = strrchr(o->path, '/');
	char *folder = copy(slash ? o->path : "."), link[32];

	if (slash)
		folder[slash - o->path + 1] = '\0';
	int fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
	free(folder);
	if (fd >= 0 && faccessat(AT_FDCWD, link_of(fd, link), F_OK, AT_EACCESS)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Creates a file of that name, or gives the name to the unnamed one, if it is free; not negative:
 * success. */
static int take_name(const struct out *o, const char *name, mode_t mode)
{
	char link[32];

	if (o->is_unnamed)
		return linkat(AT_FDCWD, link_of(o->fd, link), AT_FDCWD, name, AT_SYMLINK_FOLLOW);
	return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
}

/* Sets o->temporary to a name beside the path; -1 and errno if there cannot be one. */
static int name_temporary(struct out *o, mode_t mode)
{
	size_t size = strlen(o->path) + 32;
	char *name = xalloc(size);

	for (int i = 0; i < 100; i++) {
		snprintf(name, size, "%s.%d.%d.tmp", o->path, (int)getpid(), i);
		int ret = take_name(o, name, mode);
		if (ret >= 0) {
			o->temporary = name;
			return ret;
		}
		if (errno != EEXIST)
			break;
	}
	free(name);
	return -1;
}

static int create_new(struct out *o, mode_t mode)
{
	int fd = create_unnamed(o, mode);

	o->is_unnamed = fd >= 0;
	return fd >= 0 ? fd : name_temporary(o, mode);
}

/* ---- opening ---- */

static struct kin_error *cannot_write(const struct out *o, int errnum)
{
	return err_about(err_os(errnum, "cannot write %s", o->path),
			 (struct err_facts){ ERR_OPENING, o->path });
}

static struct kin_error *open_file(struct out *o, mode_t mode)
{
	struct stat st;
	bool is_given = file_is_descriptor(o->path), exists = stat(o->path, &st) == 0;

	if (exists && !is_given && faccessat(AT_FDCWD, o->path, W_OK, AT_EACCESS))
		return cannot_write(o, errno);
	if (!is_given && (!exists || S_ISREG(st.st_mode))) {
		o->fd = create_new(o, mode);
		if (o->fd >= 0 && exists) {
			(void)!fchown(o->fd, st.st_uid, st.st_gid); /* only root can */
			(void)!fchmod(o->fd, st.st_mode & mode);
		}
		if (o->fd >= 0)
			return NULL;
		/* The file may be written, but not its directory: writing it directly is better
		 * than nothing. */
		if (!exists || (errno != EACCES && errno != EROFS && errno != EPERM))
			return cannot_write(o, errno);
	}
	return file_create(o->path, mode, &o->fd);
}

struct kin_error *out_open(const char *path, mode_t mode, struct out **ret)
{
	struct out *o = xalloc(sizeof(*o));
	struct kin_error *err = file_check_link(path);

	o->path = copy(path);
	if (!err)
		err = open_file(o, mode);
	if (err) {
		out_free(o);
		return err;
	}
	*ret = o;
	return NULL;
}

static void flush(struct out *o)
{
	const uint8_t *p = o->buffer;

	while (!o->errnum && o->n) {
		ssize_t n = write(o->fd, p, o->n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			o->errnum = errno;
			break;
		}
		p += n;
		o->n -= (size_t)n;
	}
	o->n = 0;
}

uint8_t *out_space(struct out *o, size_t size)
{
	if (sizeof(o->buffer) - o->n < size)
		flush(o);
	uint8_t *p = o->buffer + o->n;
	o->n += size;
	return p;
}

void out_put(struct out *o, const void *bytes, size_t n)
{
	const uint8_t *from = bytes;
	for (size_t at = 0, some; at < n; at += some) {
		some = min_u64(n - at, OUT_SPACE);
		memcpy(out_space(o, some), from + at, some);
	}
}

struct kin_error *out_close(struct out *o)
{
	struct kin_error *err = NULL;

	flush(o);
	if (o->is_unnamed && !o->errnum && name_temporary(o, 0) < 0)
		o->errnum = errno;
	if (close(o->fd) < 0 && !o->errnum)
		o->errnum = errno;
	if (!o->errnum && o->temporary && rename(o->temporary, o->path) < 0)
		o->errnum = errno;
	if (o->errnum) {
		if (o->temporary)
			unlink(o->temporary);
		err = err_os(o->errnum, "cannot write %s", o->path);
	}
	out_free(o);
	return err;
}

int out_errnum(const struct out *o) { return o->errnum; }

void out_abandon(struct out *o)
{
	if (!o->temporary && !o->is_unnamed)
		flush(o);
	close(o->fd);
	if (o->temporary)
		unlink(o->temporary);
	out_free(o);
}
