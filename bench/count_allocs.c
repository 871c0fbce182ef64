/* count_allocs.c - preloaded by guard.py: counts a program's allocations in the first eight bytes
 * of the file that COUNT_ALLOCS names. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *at, size_t size);

static _Atomic uint64_t before_main, *count = &before_main;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("COUNT_ALLOCS");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *at = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at != MAP_FAILED)
		count = at;
	close(fd);
}

void *malloc(size_t size)
{
	++*count;
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	++*count;
	return __libc_calloc(n, size);
}

void *realloc(void *at, size_t size)
{
	++*count;
	return __libc_realloc(at, size);
}
