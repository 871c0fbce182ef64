/* sys.h - system calls, memory and numbers without the C library.
 *
 * Everything here is async-signal-safe, keeps errno and touches general registers only: hooks run
 * at places where vector registers hold a program's arguments, and any function of the C library
 * may use them. System calls return what the kernel does: -errno on failure. */
#ifndef KINRT_SYS_H
#define KINRT_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
static inline long sys(long n, long a, long b, long c, long d, long e, long f)
{
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#elif defined(__aarch64__)
static inline long sys(long n, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#else
#error "libkinrt knows x86-64 and aarch64"
#endif

#define SYS0(n)             sys(SYS_##n, 0, 0, 0, 0, 0, 0)
#define SYS1(n, a)          sys(SYS_##n, (long)(a), 0, 0, 0, 0, 0)
#define SYS2(n, a, b)       sys(SYS_##n, (long)(a), (long)(b), 0, 0, 0, 0)
#define SYS3(n, a, b, c)    sys(SYS_##n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define SYS4(n, a, b, c, d) sys(SYS_##n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define SYS5(n, a, b, c, d, e)                                                                     \
	sys(SYS_##n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define SYS6(n, a, b, c, d, e, f)                                                                  \
	sys(SYS_##n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* One instruction, so that a signal handler of this thread falls before or behind it. No lock: the
 * counter belongs to one thread. */
static inline void count_one(uint64_t *n)
{
#if defined(__x86_64__)
	__asm__ volatile("incq %0" : "+m"(*n) : : "cc");
#else
	__atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
#endif
}

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

/* A text being made in a buffer; cut at its end, always terminated. */
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
