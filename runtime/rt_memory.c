/* rt_memory.c - memory from the kernel, without the C library. */
#include "rt.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/uio.h>

#ifndef RT_STATIC
/* Compilers call memset() to clear large structures even if told not to. The C library's may use
 * vector registers, so the runtime has its own. In a static program the symbol is the C
 * library's. */
void *memset(void *at, int c, size_t n);
void *memset(void *at, int c, size_t n)
{
	volatile unsigned char *p = at;

	while (n--)
		*p++ = (unsigned char)c;
	return at;
}
#endif

void *rt_memory(size_t size)
{
	enum { CHUNK = 64 << 10 };
	static _Alignas(16) uint8_t initial[8 << 10];
	static uint8_t *at = initial;
	static size_t left = sizeof(initial);
	void *p;

	size = (size + 15) & ~(size_t)15;
	if (size > left) {
		long m = rt.silent || size > CHUNK ? -ENOMEM
						   : SYS6(mmap, NULL, CHUNK, PROT_READ | PROT_WRITE,
							  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (m < 0 && m > -4096)
			return NULL;
		at = (uint8_t *)m;
		left = CHUNK;
	}
	p = at;
	left -= size; /* before the pointer: a child forked in between then has less memory left,
			 never memory that is not there */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	at += size;
	return p;
}

bool rt_peek(uint64_t at, void *to, size_t n)
{
	struct iovec local = { to, n }, remote = { (void *)(uintptr_t)at, n };

	return at && SYS6(process_vm_readv, rt.pid, &local, 1, &remote, 1, 0) == (long)n;
}
