/* step.h - steps one frame up. */
#ifndef UNWIND_STEP_H
#define UNWIND_STEP_H

#include "machine/machine.h"
#include "unwind/row.h"

struct unwind_regs {
	uint64_t pc, sp, fp;
	uint64_t bx; /* x86-64: rbx */
	uint64_t lr; /* only on machines with a link register */
	/* Few rows need the rest, which is known only for the innermost frame, or one that a signal
	 * interrupted. By DWARF number; NULL: not known. */
	const uint64_t *all;
	uint64_t all_at; /* sp of the frame where the kernel saved them for a signal; 0: none */
	const struct machine *machine; /* one whose stacks can be walked */
	bool exact; /* pc is the next instruction to be executed, not a return address */
	bool bx_unknown, lr_unknown;
};

/* The address to look up the row for: a return address may be the start of the next function. */
static inline uint64_t unwind_lookup_pc(const struct unwind_regs *r) { return r->pc - !r->exact; }

enum unwind_status {
	UNWIND_OK,
	UNWIND_END,         /* this was the outermost frame: no return address, or it is 0 */
	UNWIND_NO_ROW,      /* the row is unknown */
	UNWIND_NO_REGISTER, /* the row needs a register whose value is not known */
	UNWIND_NO_MEMORY,   /* read() failed */
	UNWIND_BAD,         /* implausible: sp would not move up, or is not aligned to words */
};

/* Reads the 8 bytes at addr (any alignment); false if they cannot be read, with *ret untouched. */
typedef bool unwind_read(void *arg, uint64_t addr, uint64_t *ret);

/* Unless UNWIND_OK is returned, *r is unchanged. */
enum unwind_status unwind_step(const struct unwind_row *row, struct unwind_regs *r,
			       unwind_read *read, void *arg);

/* The row to try without call-frame information (JIT code, hand-written assembly). It comes from
 * the first of these that applies: straight code up to a return, or a jump as in a PLT, by what it
 * takes off the stack; the instructions at the very start of a function; the frame pointer. `code`
 * points to the instruction at pc, with `before` bytes before it and `after` bytes from it on
 * (MACHINE_LEAVES_MAX of them if they can be read); both may be 0. All but the first are flagged
 * UNWIND_GUESSED: they may be wrong, and the caller must check that the next pc lies in code. */
struct unwind_row unwind_guess(const struct machine *m, bool exact, const uint8_t *code,
			       size_t before, size_t after);

/* The row at a function's first instruction, right after the call. */
struct unwind_row unwind_called(const struct machine *m);

/* Whether a row may be that of unwind_called(). A return address with such a row and without a call
 * before it was put on the stack by hand, as makecontext() does: there the stack begins. */
bool unwind_is_start(const struct machine *m, const struct unwind_row *row);
extern const struct unwind_row unwind_outermost; /* the row of the outermost frame */

/* The row of the trampoline that a signal handler returns to. */
struct unwind_row unwind_signal(const struct machine *m);
/* Whether the code at a return address is the kernel's return trampoline from a signal handler, and
 * its row: for machines whose vdso has no call-frame information for it, and C libraries without.
 */
bool unwind_is_sigreturn(const struct machine *m, const uint8_t *code, size_t size,
			 struct unwind_row *ret);

#endif
