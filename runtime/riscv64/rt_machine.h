/* rt_machine.h - the riscv64 part of the runtime: system calls, counters, registers.
 *
 * Like all of sys.h: async-signal-safe, and general registers only. */
#ifndef KINRT_RISCV64_RT_MACHINE_H
#define KINRT_RISCV64_RT_MACHINE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "machine/machine.h"
#include "unwind/step.h"

#define RT_MACHINE machine_riscv64
#define RT_PAGE    4096

static inline long sys(long n, long a, long b, long c, long d, long e, long f)
{
	register long a7 __asm__("a7") = n;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c;
	register long a3 __asm__("a3") = d;
	register long a4 __asm__("a4") = e;
	register long a5 __asm__("a5") = f;

	__asm__ volatile("ecall"
			 : "+r"(a0)
			 : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
			 : "memory");
	return a0;
}

/* Whether the thread has a thread pointer: a static program's first code has none. */
static inline bool has_thread_pointer(void) { return __builtin_thread_pointer() != NULL; }

/* One instruction each, so a signal handler of this thread runs before or after it. */
static inline void count_one(uint64_t *n) { __atomic_fetch_add(n, 1, __ATOMIC_RELAXED); }

static inline void add_to(uint64_t *n, uint64_t what)
{
	__atomic_fetch_add(n, what, __ATOMIC_RELAXED);
}

/* Newer kernels do not give access to the cycle counter. */
static inline uint64_t ticks(void)
{
	uint64_t t;

	__asm__ volatile("rdtime %0" : "=r"(t));
	return t;
}

/* The registers of an interrupted program; `all` is indexed by DWARF number. */
static inline void rt_registers(struct unwind_regs *r, const ucontext_t *u, uint64_t all[])
{
	const unsigned long *g = u->uc_mcontext.__gregs; /* pc, x1 .. x31 */

	all[0] = 0;
	for (size_t i = 1; i < MACHINE_REGISTERS; i++)
		all[i] = g[i];
	r->pc = g[REG_PC];
	r->sp = g[REG_SP];
	r->fp = g[REG_S0];
	r->lr = g[REG_RA];
}

/* Hooks are ordinary calls, so compilers save vector registers around them. */
enum { RT_VECTORS = 1 };
static inline uint32_t vectors_save(uint8_t area[RT_VECTORS]) { return (void)area, 0; }
static inline void vectors_load(uint8_t area[RT_VECTORS], uint32_t mask) { (void)area, (void)mask; }

/* The kernel's struct sigaction. Handlers return to the kernel's own code. */
struct rt_action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	uint64_t mask;
};
static inline void rt_action_returns(struct rt_action *a) { (void)a; }

#endif
