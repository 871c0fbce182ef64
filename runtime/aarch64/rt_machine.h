/* rt_machine.h - the aarch64 part of the runtime: system calls, counters, registers.
 *
 * Like all of sys.h: async-signal-safe, and general registers only. */
#ifndef KINRT_AARCH64_RT_MACHINE_H
#define KINRT_AARCH64_RT_MACHINE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "machine/machine.h"
#include "unwind/step.h"

#define RT_MACHINE machine_aarch64
#define RT_PAGE    65536 /* the largest page size */

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

/* Whether the thread has a thread pointer: a static program's first code has none. */
static inline bool has_thread_pointer(void) { return __builtin_thread_pointer() != NULL; }

/* Atomic with respect to signal handlers of this thread. */
static inline void count_one(uint64_t *n) { __atomic_fetch_add(n, 1, __ATOMIC_RELAXED); }

static inline void add_to(uint64_t *n, uint64_t what)
{
	__atomic_fetch_add(n, what, __ATOMIC_RELAXED);
}

static inline uint64_t ticks(void)
{
	uint64_t t;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
}

/* The registers of an interrupted program; `all` is indexed by DWARF number. */
static inline void rt_registers(struct unwind_regs *r, const ucontext_t *u, uint64_t all[])
{
	const mcontext_t *c = &u->uc_mcontext;

	for (size_t i = 0; i < 31; i++)
		all[i] = c->regs[i];
	all[31] = c->sp;
	r->pc = c->pc;
	r->sp = c->sp;
	r->fp = c->regs[29];
	r->lr = c->regs[30];
}

/* Hooks are ordinary calls, so compilers save vector registers around them. */
enum { RT_VECTORS = 1 };
static inline uint32_t vectors_save(uint8_t area[RT_VECTORS]) { return (void)area, 0; }
static inline void vectors_load(uint8_t area[RT_VECTORS], uint32_t mask) { (void)area, (void)mask; }

/* The kernel's struct sigaction. Handlers return to the kernel's own code. */
struct rt_action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*unused)(void);
	uint64_t mask;
};
static inline void rt_action_returns(struct rt_action *a) { (void)a; }

#endif
