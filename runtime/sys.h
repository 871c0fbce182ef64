/* sys.h - system calls, memory and numbers without the C library.
 *
 * Everything here is async-signal-safe, preserves errno and uses only general registers: hooks run
 * where vector registers hold a program's arguments, and any function of the C library may use
 * vector registers. System calls return the kernel's result: -errno on failure. */
#ifndef KINRT_SYS_H
#define KINRT_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* The header of the target machine (meson.build): sys(), which makes a system call, and other
 * functions specific to it. */
#include "rt_machine.h"

#define SYS0(n)             sys(SYS_##n, 0, 0, 0, 0, 0, 0)
#define SYS1(n, a)          sys(SYS_##n, (long)(a), 0, 0, 0, 0, 0)
#define SYS2(n, a, b)       sys(SYS_##n, (long)(a), (long)(b), 0, 0, 0, 0)
#define SYS3(n, a, b, c)    sys(SYS_##n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define SYS4(n, a, b, c, d) sys(SYS_##n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define SYS5(n, a, b, c, d, e)                                                                     \
	sys(SYS_##n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define SYS6(n, a, b, c, d, e, f)                                                                  \
	sys(SYS_##n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static inline void copy_bytes(void *to, const void *from, size_t n)
{
	volatile unsigned char *d = to;
	const unsigned char *s = from;

	while (n--)
		*d++ = *s++;
}

static inline void clear_bytes(void *to, size_t n)
{
	volatile unsigned char *d = to;

	while (n--)
		*d++ = 0;
}

static inline size_t text_size(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

static inline bool text_equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

/* A string built in a buffer: truncated to its size, always terminated. */
struct text {
	char *at;
	size_t size, used;
};

static inline void text_bytes(struct text *t, const char *s, size_t n)
{
	while (n-- && t->used + 1 < t->size)
		t->at[t->used++] = *s++;
	if (t->size)
		t->at[t->used] = 0;
}

static inline void text_add(struct text *t, const char *s) { text_bytes(t, s, text_size(s)); }

static inline void text_number(struct text *t, uint64_t n)
{
	char digits[20];
	size_t i = sizeof(digits);

	do
		digits[--i] = (char)('0' + n % 10);
	while (n /= 10);
	text_bytes(t, digits + i, sizeof(digits) - i);
}

#endif
