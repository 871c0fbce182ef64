/* flood.c - n pages touched for the first time, one after the other: an event of the kernel each,
 *and no other work.
 *
 *	flood N
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, ROUND = 2000 };

static __attribute__((noinline)) int touch(int n)
{
	size_t size = (size_t)n * PAGE;
	volatile char *p =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return 1;
	madvise((void *)p, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += PAGE)
		p[i] = 1;
	return munmap((void *)p, size);
}

int main(int argc, char **argv)
{
	int left = argc > 1 ? atoi(argv[1]) : 0, bad = 0;
	for (; left > 0 && !bad; left -= ROUND)
		bad = touch(left < ROUND ? left : ROUND);
	return bad;
}
