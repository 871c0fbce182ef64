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
	UNWIND_END,         /* the row says that this was the outermost frame */
	UNWIND_NO_ROW,      /* the row is unknown */
	UNWIND_NO_REGISTER, /* the row needs a register whose value is not known */
	UNWIND_NO_MEMORY,   /* read() failed */
	UNWIND_BAD, /* implausible: sp would not move up, or is not aligned to words, or the return
		     * address is 0, which only a row can prove to be the end */
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
 * UNWIND_GUESSED: they may be wrong, and the caller must check that the next pc lies in code, and
 * in code of files that the frame is the function's own. */
struct unwind_row unwind_guess(const struct machine *m, bool exact, const uint8_t *code,
			       size_t before, size_t after);

/* The row at a function's first instruction, right after the call. */
struct unwind_row unwind_called(const struct machine *m);

/* Whether an address in code may be a return address. */
typedef bool unwind_may_return(void *arg, uint64_t addr);
/* Whether the frame at the frame pointer is certain to be that of the function at r->pc, in code
 * without call-frame information. Compilers leave frame pointers out unless told otherwise, so the
 * frame may be a caller's. Then return addresses of the calls in between lie between sp and the
 * frame pointer. A word left behind by an earlier call looks the same, so false only means that
 * nobody knows. True on machines with a link register, as the innermost return address is not on
 * the stack there. `arg` is for both. */
bool unwind_owns_frame(const struct unwind_regs *r, unwind_read *read,
		       unwind_may_return *may_return, void *arg);

/* Whether the code at r->pc, of the innermost frame, shows that the `row` of a table is wrong. It
 * goes straight to a return, after an instruction that took a part of the frame off the stack, and
 * not to where the row says; and there lies what may be a return address. Tables that are made
 * by hand, and mono's, leave epilogues out. *ret becomes the row by the code. `arg` is for both. */
bool unwind_has_left(const struct unwind_regs *r, const struct unwind_row *row, const uint8_t *code,
		     size_t before, size_t after, unwind_read *read, unwind_may_return *may_return,
		     void *arg, struct unwind_row *ret);

/* How an address came to the stack as a return address, by the code around it. */
enum unwind_origin {
	UNWIND_CALLED,  /* a call stands before it */
	UNWIND_PUSHED,  /* a jump: it was pushed before, and is the next instruction, exactly */
	UNWIND_MADE_UP, /* put there by hand, as makecontext() does: the stack begins there */
	UNWIND_THREAD,  /* a call, which is the first of a new thread: nobody called its function */
	UNWIND_NOT_SO,  /* it is no return address */
};
/* `code` points to the address, with `before` bytes before it, MACHINE_CALL_MAX at least, and
 * `after` from it on. */
enum unwind_origin unwind_origin(const struct machine *m, const uint8_t *code, size_t before,
				 size_t after);

extern const struct unwind_row unwind_outermost; /* the row of the outermost frame */

/* The row of the trampoline that a signal handler returns to. */
struct unwind_row unwind_signal(const struct machine *m);
/* Whether the code at a return address is the kernel's return trampoline from a signal handler, and
 * its row: for machines whose vdso has no call-frame information for it, and C libraries without.
 */
bool unwind_is_sigreturn(const struct machine *m, const uint8_t *code, size_t size,
			 struct unwind_row *ret);

#endif
