/* machine.h - what the runtime does in x86-64's own way: system calls, counters, registers.
 *
 * As all of sys.h: async-signal-safe, and general registers only. */
#ifndef KINRT_X86_64_MACHINE_H
#define KINRT_X86_64_MACHINE_H

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

/* One instruction each, so that a signal handler of this thread falls before or behind it. No lock:
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

/* Those of an interrupted program; `all`: by DWARF's numbers. */
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

/* What a handler returns to; the kernel wants to be given it. */
enum { RT_RESTORER = 0x04000000 };
void rt_restore(void) __attribute__((visibility("hidden")));

#endif
