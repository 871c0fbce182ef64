/* step.h - one frame up.
 *
 *	struct unwind_regs r = { .machine = &machine_x86_64, .pc = .., .sp = .., .fp = .., .bx = ..,
 *				 .all = registers, .exact = true };
 *	while (find the row of unwind_lookup_pc(&r), unwind_step(&row, &r, read, arg) == UNWIND_OK)
 *		... r.pc is the next return address ...
 *
 * Freestanding like row.h. Cost: a few ns and two reads. */
#ifndef UNWIND_STEP_H
#define UNWIND_STEP_H

#include "machine/machine.h"
#include "unwind/row.h"

struct unwind_regs {
	uint64_t pc, sp, fp;
	uint64_t bx; /* x86-64: rbx */
	uint64_t lr; /* of machines that have a link register */
	/* The rest is asked for by few rows, and known of the innermost frame only, or of one that
	 * a signal interrupted. By DWARF number; NULL: not known. */
	const uint64_t *all;
	uint64_t all_at; /* the frame's sp where the kernel saved them for a signal; 0: nowhere */
	const struct machine *machine; /* one whose stacks can be walked */
	bool exact; /* pc is the instruction to be executed next, and not a return address */
	bool bx_unknown, lr_unknown;
};

/* The address that the row is to be looked up for: a return address may be the start of the next
 * function. */
static inline uint64_t unwind_lookup_pc(const struct unwind_regs *r) { return r->pc - !r->exact; }

enum unwind_status {
	UNWIND_OK,
	UNWIND_END,         /* this was the outermost frame: no return address, or it is 0 */
	UNWIND_NO_ROW,      /* the row does not know */
	UNWIND_NO_REGISTER, /* the row asks for a register whose value is not known */
	UNWIND_NO_MEMORY,   /* read() failed */
	UNWIND_BAD,         /* senseless: sp would not move up, or is not aligned to words */
};

/* The 8 bytes at addr (any alignment); false if they cannot be read, *ret then untouched. */
typedef bool unwind_read(void *arg, uint64_t addr, uint64_t *ret);

/* Unless UNWIND_OK is returned, *r is unchanged. */
enum unwind_status unwind_step(const struct unwind_row *row, struct unwind_regs *r,
			       unwind_read *read, void *arg);

/* The row to try where there is no call-frame information (code made at run time, hand-written
 * assembly): where the code runs straight to its return by what it takes off the stack, at the very
 * start of a function by its instructions, else the frame pointer. `code` are the `before` bytes
 * before the instruction at pc and `after` bytes from it, MACHINE_LEAVES_MAX of them if they can be
 * read; both may be 0. All but the first are flagged UNWIND_GUESSED: what is found with them may be
 * wrong, and the caller checks that the next pc lies in code. */
struct unwind_row unwind_guess(const struct machine *m, bool exact, const uint8_t *code,
			       size_t before, size_t after);

/* The row of a function's first instruction: what a call leaves behind. */
struct unwind_row unwind_called(const struct machine *m);

/* Whether the code at a return address is the kernel's way back from a signal handler, and its row:
 * for machines whose vdso has no call-frame information for it, and C libraries that forgot. */
bool unwind_is_sigreturn(const struct machine *m, const uint8_t *code, size_t size,
			 struct unwind_row *ret);

#endif
