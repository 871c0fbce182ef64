/* kin_file.c - the file that a recording grows in. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "input/kin_private.h"

bool kin_file_write(int fd, struct iovec *v, int n, uint64_t offset)
{
	while (n) {
		ssize_t done = pwritev(fd, v, n, (off_t)offset);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			errno = done ? errno : ENOSPC;
			return false;
		}
		offset += (uint64_t)done;
		for (; n && (size_t)done >= v->iov_len; v++, n--)
			done -= (ssize_t)v->iov_len;
		if (n) {
			v->iov_base = (char *)v->iov_base + done;
			v->iov_len -= (size_t)done;
		}
	}
	return true;
}

/* Whether what is there may be replaced by a recording. */
static struct kin_error *check_old(const char *path, bool *exists)
{
	struct stat st;
	uint64_t magic = 0;
	struct kin_error *err = file_check_link(path);

	*exists = false;
	if (err)
		return err;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? NULL : err_os(errno, "cannot write %s", path);
	*exists = true;
	bool ours = !fstat(fd, &st) && S_ISREG(st.st_mode) &&
		    (!st.st_size ||
		     (pread(fd, &magic, sizeof(magic), 0) == sizeof(magic) && magic == KINF_MAGIC));
	close(fd);
	return ours ? NULL
		    : err_new(KIN_ERROR_USAGE,
			      "%s is there already and is no recording: remove it first, or choose "
			      "another name",
			      path);
}

struct kin_error *kin_file_create(const char *path, int *ret)
{
	bool exists;
	struct kin_error *err = check_old(path, &exists);
	if (err)
		return err;

	char *real = exists ? realpath(path, NULL) : NULL;
	char *name = real ? xprintf("%s.%d.tmp", real, (int)getpid()) : xprintf("%s", path);
	int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	if (fd >= 0 && real && rename(name, real) < 0) {
		int errnum = errno;
		unlink(name);
		close(fd);
		fd = -1;
		errno = errnum;
	}
	if (fd < 0)
		err = err_os(errno, "cannot write %s", path);
	free(name);
	free(real);
	*ret = fd;
	return err;
}
