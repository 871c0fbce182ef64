/* rt_machine.h - the x86-64 part of the runtime: system calls, counters, registers.
 *
 * Like all of sys.h: async-signal-safe, and general registers only. */
#ifndef KINRT_X86_64_RT_MACHINE_H
#define KINRT_X86_64_RT_MACHINE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "machine/machine.h"
#include "unwind/step.h"

#define RT_MACHINE machine_x86_64
#define RT_PAGE    4096

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

/* Whether the thread has a thread pointer: a static program's first code has none. */
static inline bool has_thread_pointer(void)
{
	enum { ARCH_PRCTL = 158, GET_FS = 0x1003 };
	uint64_t fs = 0;

	return !sys(ARCH_PRCTL, GET_FS, (long)&fs, 0, 0, 0, 0) && fs;
}

/* One instruction each, so a signal handler of this thread runs before or after it. No lock prefix:
 * the counter belongs to one thread. */
static inline void count_one(uint64_t *n) { __asm__ volatile("incq %0" : "+m"(*n) : : "cc"); }

static inline void add_to(uint64_t *n, uint64_t what)
{
	__asm__ volatile("addq %1, %0" : "+m"(*n) : "r"(what) : "cc");
}

static inline uint64_t ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return low | (uint64_t)high << 32;
}

/* The registers of an interrupted program; `all` is indexed by DWARF number. */
static inline void rt_registers(struct unwind_regs *r, const ucontext_t *u, uint64_t all[])
{
	static const uint8_t order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
					 REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
					 REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
	const greg_t *g = u->uc_mcontext.gregs;

	for (size_t i = 0; i < sizeof(order); i++)
		all[i] = (uint64_t)g[order[i]];
	r->pc = (uint64_t)g[REG_RIP];
	r->sp = (uint64_t)g[REG_RSP];
	r->fp = (uint64_t)g[REG_RBP];
	r->bx = (uint64_t)g[REG_RBX];
}

/* Hooks run where vector registers hold arguments, so all are saved except AMX tiles, which no call
 * preserves. The area is private to the call and aligned to 64. Its header, written by the save,
 * says what to restore. */
enum { RT_VECTORS = 2752, RT_XSAVE_MOST = 0xe7 };

static inline uint32_t xsave_mask(void)
{
	uint32_t a = 1, b, c = 0, d, xcr;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	if (!(c & (1u << 27))) /* not enabled by the system */
		return 0;
	__asm__ volatile("xgetbv" : "=a"(xcr), "=d"(d) : "c"(0));
	return xcr & RT_XSAVE_MOST;
}

static inline uint32_t vectors_save(uint8_t area[RT_VECTORS])
{
	uint8_t(*all)[RT_VECTORS] = (uint8_t(*)[RT_VECTORS])area;
	uint32_t mask = xsave_mask();

	if (mask) {
		for (int i = 0; i < 64; i++) /* the header */
			((volatile uint8_t *)area)[512 + i] = 0;
		__asm__ volatile("xsave64 %0" : "+m"(*all) : "a"(mask), "d"(0) : "memory");
	} else
		__asm__ volatile("fxsave64 %0" : "=m"(*all));
	return mask;
}

static inline void vectors_load(uint8_t area[RT_VECTORS], uint32_t mask)
{
	uint8_t(*all)[RT_VECTORS] = (uint8_t(*)[RT_VECTORS])area;

	if (mask)
		__asm__ volatile("xrstor64 %0" : : "m"(*all), "a"(mask), "d"(0) : "memory");
	else
		__asm__ volatile("fxrstor64 %0" : : "m"(*all));
}

/* The kernel's struct sigaction. The kernel needs the address that a handler returns to. */
struct rt_action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};
enum { RT_RESTORER = 0x04000000 };
void rt_restore(void) __attribute__((visibility("hidden")));

static inline void rt_action_returns(struct rt_action *a)
{
	a->flags |= RT_RESTORER;
	a->restorer = rt_restore;
}

#endif
