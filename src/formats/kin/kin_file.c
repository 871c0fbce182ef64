/* kin_file.c - creates the file of a recording, and writes to it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "formats/kin/kin_private.h"

/* offset -1: after the last write, the only place to write to in a pipe. */
static bool write_all(int fd, struct iovec *v, int n, off_t offset)
{
	while (n) {
		ssize_t done = offset < 0 ? writev(fd, v, n) : pwritev(fd, v, n, offset);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			errno = done ? errno : ENOSPC;
			return false;
		}
		offset += offset < 0 ? 0 : done;
		for (; n && (size_t)done >= v->iov_len; v++, n--)
			done -= (ssize_t)v->iov_len;
		if (n) {
			v->iov_base = (char *)v->iov_base + done;
			v->iov_len -= (size_t)done;
		}
	}
	return true;
}

bool kinfile_file_write(int fd, struct iovec *v, int n, uint64_t offset)
{
	return write_all(fd, v, n, (off_t)offset);
}

/* Writing to a pipe without a reader is an error, and does not kill the process. */
bool kinfile_pipe_write(int fd, struct iovec *v, int n)
{
	sigset_t pipe, before;
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	bool good = write_all(fd, v, n, -1);
	int errnum = errno;
	if (!good && errnum == EPIPE && !sigismember(&before, SIGPIPE))
		sigtimedwait(&pipe, NULL, &(struct timespec){ 0 });
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = errnum;
	return good;
}

/* ---- other writers ---- */

/* Whether the process has the file mapped. */
static bool maps_file(uint32_t pid, ino_t inode)
{
	char path[64], *line = NULL;
	size_t room = 0;
	unsigned long long n;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	FILE *f = fopen(path, "re");
	while (f && !found && getline(&line, &room, f) > 0)
		found = sscanf(line, "%*s %*s %*s %*s %llu", &n) == 1 && n == inode;
	free(line);
	if (f)
		fclose(f);
	return found;
}

/* Fails if somebody writes the file. A recorder holds a lock while it writes; a program that is
 * measured from inside maps its file. */
static struct kin_error *check_busy(int fd, const char *path)
{
	struct kinf_header h;
	struct stat st;

	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return err_new(KIN_ERROR_USAGE,
			       "%s is being written by another recorder: choose another name",
			       path);
	if (pread(fd, &h, sizeof(h), 0) == sizeof(h) && h.magic == KINF_MAGIC &&
	    h.writer == KINF_BY_RUNTIME && !fstat(fd, &st) && maps_file(h.pid, st.st_ino))
		return err_new(KIN_ERROR_USAGE,
			       "%s is being written by process %u: choose another name", path,
			       h.pid);
	return NULL;
}

/* Whether the path still leads to the file. */
static bool is_there(int fd, const char *path)
{
	struct stat a, b;

	return !fstat(fd, &a) && !stat(path, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Opens the file of that name, if nobody writes it. Nobody replaces it while it is open. *fd is -1
 * if there is none. */
static struct kin_error *open_old(const char *path, int *fd)
{
	struct kin_error *err = NULL;

	for (;;) {
		*fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (*fd < 0)
			return errno == ENOENT ? NULL : err_os(errno, "cannot write %s", path);
		err = check_busy(*fd, path);
		if (err || is_there(*fd, path))
			break;
		close(*fd); /* another recorder replaced it meanwhile */
	}
	if (err)
		close(*fd);
	return err;
}

struct kin_error *kinfile_file_check_busy(const char *path)
{
	int fd;
	struct kin_error *err = open_old(path, &fd);

	if (!err && fd >= 0)
		close(fd);
	return err;
}

static int status_of(const struct kinf_header *h)
{
	bool exited = h->end == KINF_EXITED || h->end == KINF_EXITED_AT_ONCE;

	return exited && h->writer != KINF_BY_TOOL ? (int)(h->end_detail & 255) : -1;
}

bool kinfile_rank_of(const char *path, struct kinfile_rank *ret)
{
	struct kinf_header h;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	bool good = fd >= 0 && pread(fd, &h, sizeof(h), 0) == sizeof(h) && h.magic == KINF_MAGIC;

	if (fd >= 0)
		close(fd);
	if (!good)
		return false;
	bool piped = h.sealed && !h.size; /* its end is in a record */
	*ret = (struct kinfile_rank){
		.rank = h.rank,
		.ranks = h.ranks,
		.writer = h.writer,
		.unfinished = h.end == KINF_RUNNING && h.writer != KINF_BY_TOOL && !piped,
		.signal = h.end == KINF_SIGNALLED ? (int)(h.end_detail & 127) : 0,
		.status = status_of(&h),
	};
	snprintf(ret->job, sizeof(ret->job), "%.*s", (int)sizeof(h.job), h.job);
	return true;
}

/* ---- creating a file ---- */

/* Whether a recording may replace the file of that name. While *ret is open no other recorder
 * replaces it. */
static struct kin_error *check_old(const char *path, int *ret)
{
	struct stat st;
	uint64_t magic = 0;
	int fd = -1;
	struct kin_error *err = file_check_link(path);

	*ret = -1;
	if (!err)
		err = open_old(path, &fd);
	if (err || fd < 0)
		return err;
	bool is_file = !fstat(fd, &st) && S_ISREG(st.st_mode);
	bool ours = is_file &&
		    (!st.st_size ||
		     (pread(fd, &magic, sizeof(magic), 0) == sizeof(magic) && magic == KINF_MAGIC));
	if (ours) {
		*ret = fd;
		return NULL;
	}
	close(fd);
	if (!is_file)
		return err_new(KIN_ERROR_USAGE, "%s is no regular file: choose another name", path);
	return err_new(KIN_ERROR_USAGE,
		       "%s exists and is not a recording: remove it first, or choose "
		       "another name",
		       path);
}

struct kin_error *kinfile_file_create(const char *path, int *ret)
{
	int old;
	struct kin_error *err = check_old(path, &old);
	if (err)
		return err;

	char *name = old >= 0 ? xprintf("%s.%d.tmp", path, (int)getpid()) : xprintf("%s", path);
	int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	if (fd >= 0)
		(void)flock(fd, LOCK_EX | LOCK_NB); /* held while it is open */
	if (fd >= 0 && old >= 0 && rename(name, path) < 0) {
		int errnum = errno;
		unlink(name);
		close(fd);
		fd = -1;
		errno = errnum;
	}
	if (fd < 0)
		err = err_os(errno, "cannot write %s", path);
	if (old >= 0)
		close(old);
	free(name);
	*ret = fd;
	return err;
}
