/* failinj - a library to preload that makes the k-th call of a class fail, once or from then on.
 *
 *	gcc -O2 -fPIC -shared -o failinj.so failinj.c -ldl
 *	FI_CLASS=alloc FI_N=3 FI_MODE=on FI_ERRNO=12 FI_REPORT=path LD_PRELOAD=./failinj.so prog
 *
 * Classes: alloc, mmap, open, read, write. With FI_N=0 calls are only counted. "calls failed" is
 * written to FI_REPORT at exit, and when the first call fails, for a program may die of it.
 * Standard error is never made to fail: it is where the program has to complain. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum fault { NONE, ALLOC, MMAP, OPEN, READ, WRITE };

static enum fault active;
static long target;
static int forever, code = ENOMEM;
static atomic_long calls, failed;
static const char *report;

static void write_report(void)
{
	char text[64];
	int n, fd;

	if (!report)
		return;
	n = snprintf(text, sizeof(text), "%ld %ld\n", (long)calls, (long)failed);
	fd = (int)syscall(SYS_openat, AT_FDCWD, report, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	if (fd < 0)
		return;
	syscall(SYS_write, fd, text, n);
	syscall(SYS_close, fd);
}

__attribute__((constructor)) static void start(void)
{
	static const char *const names[] = { "", "alloc", "mmap", "open", "read", "write" };
	const char *s = getenv("FI_CLASS");
	enum fault wanted = NONE;

	for (int i = ALLOC; s && i <= WRITE; i++)
		if (!strcmp(s, names[i]))
			wanted = (enum fault)i;
	if ((s = getenv("FI_N")))
		target = atol(s);
	if ((s = getenv("FI_MODE")))
		forever = !strcmp(s, "on");
	if ((s = getenv("FI_ERRNO")))
		code = atoi(s);
	report = getenv("FI_REPORT");
	active = wanted;
}

__attribute__((destructor)) static void end(void) { write_report(); }

static int fails(enum fault f)
{
	long n;

	if (active != f)
		return 0;
	n = atomic_fetch_add(&calls, 1) + 1;
	if (!target || n < target || (n > target && !forever))
		return 0;
	atomic_fetch_add(&failed, 1);
	if (n == target)
		write_report();
	errno = code;
	return 1;
}

/* The next definition of the function being replaced, found once. */
#define NEXT(name)                                                                                 \
	static __typeof__(name) *next;                                                             \
	if (!next)                                                                                 \
	*(void **)&next = dlsym(RTLD_NEXT, #name)

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);

void *malloc(size_t n) { return fails(ALLOC) ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return fails(ALLOC) ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return fails(ALLOC) ? NULL : __libc_realloc(p, n); }
void *memalign(size_t a, size_t n) { return fails(ALLOC) ? NULL : __libc_memalign(a, n); }
void *aligned_alloc(size_t a, size_t n) { return fails(ALLOC) ? NULL : __libc_memalign(a, n); }

void *reallocarray(void *p, size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, total);
}

int posix_memalign(void **p, size_t a, size_t n)
{
	if (fails(ALLOC))
		return ENOMEM;
	*p = __libc_memalign(a, n);
	return *p ? 0 : ENOMEM;
}

char *strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *p = malloc(n);

	return p ? memcpy(p, s, n) : NULL;
}

void *mmap(void *a, size_t n, int prot, int flags, int fd, off_t offset)
{
	return fails(MMAP) ? MAP_FAILED : (void *)syscall(SYS_mmap, a, n, prot, flags, fd, offset);
}

void *mmap64(void *a, size_t n, int prot, int flags, int fd, off64_t offset)
{
	return mmap(a, n, prot, flags, fd, offset);
}

static int open_or_fail(int dir, const char *path, int flags, va_list ap)
{
	int mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, int) : 0;

	return fails(OPEN) ? -1 : (int)syscall(SYS_openat, dir, path, flags, mode);
}

#define OPEN_FUNCTION(name, dir, ...)                                                              \
	int name(__VA_ARGS__, int flags, ...)                                                      \
	{                                                                                          \
		va_list ap;                                                                        \
		int fd;                                                                            \
                                                                                                   \
		va_start(ap, flags);                                                               \
		fd = open_or_fail(dir, path, flags, ap);                                           \
		va_end(ap);                                                                        \
		return fd;                                                                         \
	}
OPEN_FUNCTION(open, AT_FDCWD, const char *path)
OPEN_FUNCTION(open64, AT_FDCWD, const char *path)
OPEN_FUNCTION(openat, at, int at, const char *path)
OPEN_FUNCTION(openat64, at, int at, const char *path)

FILE *fopen(const char *path, const char *mode)
{
	NEXT(fopen);
	return fails(OPEN) ? NULL : next(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	NEXT(fopen64);
	return fails(OPEN) ? NULL : next(path, mode);
}

ssize_t read(int fd, void *p, size_t n) { return fails(READ) ? -1 : syscall(SYS_read, fd, p, n); }

ssize_t pread(int fd, void *p, size_t n, off_t offset)
{
	return fails(READ) ? -1 : syscall(SYS_pread64, fd, p, n, offset);
}

ssize_t pread64(int fd, void *p, size_t n, off64_t offset) { return pread(fd, p, n, offset); }

/* A stream remembers that it failed, and programs rely on asking once at the end; glibc's flag. */
static int stream_fails(FILE *f, enum fault which)
{
	int failed_now = fileno(f) != STDERR_FILENO && fails(which);

	if (failed_now)
		f->_flags |= 0x20;
	return failed_now;
}

size_t fread(void *p, size_t size, size_t n, FILE *f)
{
	NEXT(fread);
	return stream_fails(f, READ) ? 0 : next(p, size, n, f);
}

static int write_fails(int fd) { return fd != STDERR_FILENO && fails(WRITE); }

ssize_t write(int fd, const void *p, size_t n)
{
	return write_fails(fd) ? -1 : syscall(SYS_write, fd, p, n);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t offset)
{
	return write_fails(fd) ? -1 : syscall(SYS_pwrite64, fd, p, n, offset);
}

ssize_t writev(int fd, const struct iovec *v, int n)
{
	return write_fails(fd) ? -1 : syscall(SYS_writev, fd, v, n);
}

size_t fwrite(const void *p, size_t size, size_t n, FILE *f)
{
	NEXT(fwrite);
	return stream_fails(f, WRITE) ? 0 : next(p, size, n, f);
}

int fflush(FILE *f)
{
	NEXT(fflush);
	return f && stream_fails(f, WRITE) ? EOF : next(f);
}

int fclose(FILE *f)
{
	NEXT(fclose);
	int bad = (fcntl(fileno(f), F_GETFL) & O_ACCMODE) != O_RDONLY && write_fails(fileno(f));
	int ret = next(f);

	if (bad)
		errno = code;
	return bad ? EOF : ret;
}
