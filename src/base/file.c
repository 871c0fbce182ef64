/* file.c - reads regular files, pipes and descriptors whole, and writes them without following
 * links. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

void file_occupy_standard(void)
{
	static const int flags[] = { O_WRONLY, O_RDONLY, O_RDONLY };
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", flags[fd]); /* takes the lowest free number: fd */
}

static void take_note(int number) { (void)number; }

void file_survive_limit(void)
{
	struct sigaction a = { .sa_handler = take_note, .sa_flags = SA_RESTART }, before;
	if (!sigaction(SIGXFSZ, NULL, &before) && before.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &a, NULL); /* exec() resets a handler, and would keep SIG_IGN */
}

bool file_is_descriptor(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		size_t n = strlen(folders[i]);
		if (!strncmp(path, folders[i], n) && path[n] &&
		    !path[n + strspn(path + n, "0123456789")])
			return true;
	}
	return !strcmp(path, "/dev/stdin") || !strcmp(path, "/dev/stdout") ||
	       !strcmp(path, "/dev/stderr");
}

/* ---- reading ---- */

static struct kin_error *check_kind(int fd, const char *path, const struct file_opts *o,
				    struct stat *st)
{
	if (fstat(fd, st) < 0)
		return err_os(errno, "%s", path);
	if (S_ISDIR(st->st_mode))
		return err_os(EISDIR, "%s", path);
	bool is_given = fd == STDIN_FILENO || (o->allow_fifo && S_ISFIFO(st->st_mode));
	if (!S_ISREG(st->st_mode) && !is_given)
		return err_new(KIN_ERROR_UNSUPPORTED, "%s: not a regular file", path);
	return NULL;
}

bool file_is_fifo(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISFIFO(st.st_mode);
}

/* Waits until somebody writes to the FIFO, but not for ever. Then reading blocks, as usual; if
 * nobody has it open for writing, the first read is its end. */
static void await_writer(int fd)
{
	enum { PATIENCE_MS = 5000 };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int flags = fcntl(fd, F_GETFL);

	while (poll(&p, 1, PATIENCE_MS) < 0 && errno == EINTR)
		continue;
	if (flags >= 0)
		fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}

enum { LARGE_PIPE = 1 << 20 }; /* the most that any user may have, unless root says otherwise */

/* Starts a copy; false: there is no place for it. */
static bool make_copy(struct file *f)
{
	const char *folder = getenv("TMPDIR");
	int fd =
		open(folder && *folder ? folder : "/var/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd < 0)
		return false;
	char *path = xprintf("/proc/self/fd/%d", fd);
	if (access(path, R_OK)) { /* no /proc */
		free(path);
		close(fd);
		return false;
	}
	f->copy = path;
	f->copy_fd = fd;
	return true;
}

static struct kin_error *move_to_copy(struct file *f, const char *path)
{
	if (!file_write_all(f->copy_fd, f->data, f->size))
		return err_os(errno, "copying %s to a temporary file (TMPDIR names another folder)",
			      path);
	f->size = 0;
	return NULL;
}

static struct kin_error *read_more(int fd, const char *path, const struct file_opts *o, size_t cap,
				   struct file *f)
{
	for (;;) {
		ssize_t n = read(fd, f->data + f->size, cap - f->size);
		struct kin_error *err = NULL;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_os(errno, "reading %s", path);
		if (n == 0)
			return f->copy ? move_to_copy(f, path) : NULL;
		f->size += (size_t)n;
		bool is_full = f->size == cap;
		if (is_full && o->in_memory && f->size >= o->in_memory && (f->copy || make_copy(f)))
			err = move_to_copy(f, path);
		else if (o->max && f->size > o->max)
			err = err_new(KIN_ERROR_UNSUPPORTED, "%s: larger than %zu bytes", path,
				      o->max);
		if (err)
			return err;
		if (f->size == cap) {
			cap = cap * 2 + 4096;
			f->data = xrealloc(f->data, cap + 1, 1);
		}
	}
}

static struct kin_error *read_all(int fd, const char *path, const struct file_opts *o,
				  size_t expected, struct file *ret)
{
	struct file f = { 0 };
	size_t cap = expected + 1;

	if (o->in_memory)
		fcntl(fd, F_SETPIPE_SZ, LARGE_PIPE); /* fewer wake-ups, if it may be that large */
	f.data = xalloc_aligned(cap + 1);
	xuse_large_pages(f.data, cap + 1);
	struct kin_error *err = read_more(fd, path, o, cap, &f);
	if (err) {
		file_free(&f);
		return err;
	}
	f.data[f.size] = '\0';
	if (f.copy) {
		free(f.data);
		f.data = NULL;
	}
	*ret = f;
	return NULL;
}

struct kin_error *file_read(const char *path, const struct file_opts *opts, struct file *ret)
{
	const char *name = opts->name ? opts->name : path;
	bool is_stdin = !strcmp(path, "-");
	/* O_NONBLOCK keeps open() from waiting for a FIFO's writer, and does nothing to regular
	 * files. */
	bool is_descriptor = opts->allow_fifo && file_is_descriptor(path);
	int fd = is_stdin ? STDIN_FILENO
			  : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY |
					       (is_descriptor ? 0 : O_NONBLOCK));
	if (fd < 0)
		return err_about(err_os(errno, "%s", name),
				 (struct err_facts){ ERR_OPENING, name });

	struct stat st;
	struct kin_error *err = check_kind(fd, path, opts, &st);
	if (!err && !is_stdin && !is_descriptor && S_ISFIFO(st.st_mode))
		await_writer(fd);
	if (!err) {
		size_t expected = S_ISREG(st.st_mode) && st.st_size > 0 ? (size_t)st.st_size : 4096;
		if (opts->in_memory && expected > opts->in_memory)
			expected = opts->in_memory;
		if (opts->max && expected > opts->max)
			err = err_new(KIN_ERROR_UNSUPPORTED, "%s: larger than %zu bytes", name,
				      opts->max);
		else
			err = read_all(fd, name, opts, expected, ret);
	}
	if (!is_stdin)
		close(fd);
	return err;
}

void file_free(struct file *f)
{
	free(f->data);
	if (f->copy)
		close(f->copy_fd);
	free(f->copy);
	*f = (struct file){ 0 };
}

size_t file_head(const char *path, void *ret, size_t size)
{
	struct stat st;
	bool is_regular = !stat(path, &st) && S_ISREG(st.st_mode);
	int fd = is_regular ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return 0;
	ssize_t n = pread(fd, ret, size, 0);
	close(fd);
	return n < 0 ? 0 : (size_t)n;
}

bool file_is_same(const char *a, const char *b)
{
	struct stat x, y;
	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* ---- writing ---- */

static bool is_link(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && !file_is_descriptor(path);
}

static struct kin_error *cannot_write(const char *path, int errnum)
{
	return err_about(err_os(errnum, "cannot write %s", path),
			 (struct err_facts){ ERR_OPENING, path });
}

static struct kin_error *refuse(const char *path, const char *why)
{
	return err_new(KIN_ERROR_UNSUPPORTED, "cannot write %s: %s", path, why);
}

static struct kin_error *refuse_link(const char *path)
{
	return refuse(path, "a symbolic link, which is not written through; remove it, or name "
			    "the file it leads to");
}

struct kin_error *file_check_link(const char *path)
{
	return is_link(path) ? refuse_link(path) : NULL;
}

mode_t file_mode_of(const char *path)
{
	struct stat st;
	bool known = !strcmp(path, "-") ? !fstat(STDIN_FILENO, &st) : !stat(path, &st);
	mode_t mode = 0600;
	if (known && st.st_mode & S_IRGRP)
		mode |= 0060;
	if (known && st.st_mode & S_IROTH)
		mode |= 0006;
	return mode;
}

static struct kin_error *open_output(const char *path, mode_t mode, int *ret)
{
	bool is_given = file_is_descriptor(path);
	struct stat st;
	struct kin_error *err = file_check_link(path);
	if (err)
		return err;
	int how = is_given ? 0 : O_NONBLOCK | O_NOFOLLOW;
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | how, mode);
	if (fd < 0 && errno == ELOOP && !is_given)
		return refuse_link(path);
	if (fd < 0 && errno == ENXIO)
		return refuse(path, "a FIFO or a device that is not there; name a file");
	if (fd < 0)
		return cannot_write(path, errno);

	if (fstat(fd, &st) == 0 && !is_given && S_ISREG(st.st_mode) && st.st_mode & 0666 & ~mode)
		(void)!fchmod(fd, st.st_mode & mode); /* fails for another user's file */
	if (fstat(fd, &st) < 0)
		err = cannot_write(path, errno);
	else if (!is_given && !S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode))
		err = refuse(path, "neither a file nor a character device");
	if (err) {
		close(fd);
		return err;
	}
	if (!is_given) /* a write to a terminal or the like must wait, and not be cut off */
		(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	*ret = fd;
	return NULL;
}

struct kin_error *file_create(const char *path, mode_t mode, int *ret)
{
	struct stat st;
	int fd = -1;
	struct kin_error *err = open_output(path, mode, &fd);
	if (err)
		return err;
	if (fstat(fd, &st) || (S_ISREG(st.st_mode) && ftruncate(fd, 0))) {
		err = cannot_write(path, errno);
		close(fd);
		return err;
	}
	*ret = fd;
	return NULL;
}

bool file_write_all(int fd, const void *data, size_t size)
{
	for (const uint8_t *p = data; size;) {
		ssize_t n = write(fd, p, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		size -= (size_t)n;
	}
	return true;
}

void file_clean_path(char *path)
{
	bool absolute = *path == '/';
	char *to = path + absolute, *start = to;
	for (const char *from = path + absolute; *from;) {
		size_t n = strcspn(from, "/");
		const char *next = from + n + (from[n] == '/');
		bool up = n == 2 && from[0] == '.' && from[1] == '.';
		if (up && to > start && !(to - start >= 3 && !memcmp(to - 3, "../", 3))) {
			for (to--; to > start && to[-1] != '/'; to--) {
			}
		} else if (n && !(n == 1 && *from == '.') && !(up && absolute)) {
			memmove(to, from, n);
			to += n;
			if (from[n])
				*to++ = '/';
		}
		from = next;
	}
	if (to > start && to[-1] == '/')
		to--;
	*to = '\0';
}

/* The path of this program. Without /proc, as in a chroot, it is the path that it was started
 * by. */
static char *own_path(void)
{
	char *path = realpath("/proc/self/exe", NULL);
	const char *started = (const char *)getauxval(AT_EXECFN);
	return path || !started ? path : realpath(started, NULL);
}

char *file_near_program(const char *const *places)
{
	char *exe = own_path(), *slash = exe ? strrchr(exe, '/') : NULL, *found = NULL;
	for (; slash && !found && *places; places++) {
		found = xprintf("%.*s/%s", (int)(slash - exe), exe, *places);
		if (access(found, R_OK)) {
			free(found);
			found = NULL;
		}
	}
	free(exe);
	return found;
}
