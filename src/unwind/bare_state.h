/* bare_state.h - what is known of the frame at an instruction of a function without call-frame
 * information: which registers hold an address in the frame, and where the caller's registers are.
 *
 * Everything is relative to the CFA. A state holds on each path to the instruction, if a call
 * leaves the stack and the registers that a callee must save as they were, and only instructions
 * that name the stack pointer, or a register with an address in the frame, write to words in which
 * registers are saved. */
#ifndef UNWIND_BARE_STATE_H
#define UNWIND_BARE_STATE_H

#include "machine/machine.h"
#include "unwind/row.h"

enum bare_kind {
	BARE_UNKNOWN,
	BARE_FRAME,  /* CFA + n */
	BARE_CALLER, /* the value of the caller's register n: enum bare_saved */
};

enum bare_saved { BARE_RETURN, BARE_FP, BARE_BX, BARE_N_SAVED };

struct bare_state {
	uint8_t kind[MACHINE_REGISTERS]; /* enum bare_kind, by DWARF's numbers */
	int32_t n[MACHINE_REGISTERS];
	int32_t saved[BARE_N_SAVED]; /* in the word at CFA + saved; 0: not in the frame */
};

/* The state at the first instruction of a function. */
void bare_state_start(const struct machine *m, struct bare_state *ret);

/* Executes an instruction. */
void bare_state_apply(const struct machine *m, const struct machine_effect *e,
		      struct bare_state *s);

enum bare_meeting { BARE_SAME, BARE_LESS, BARE_CONFLICT };

/* Keeps in *s what is true in `other` as well. BARE_CONFLICT: their stack pointers are known to
 * differ, and no frame pointer shows the same frame, or the places differ where a register is
 * saved; the rest is done all the same. */
enum bare_meeting bare_state_meet(const struct machine *m, struct bare_state *s,
				  const struct bare_state *other);

/* Whether the stack pointer and the return address are as at the start: where a function returns.
 */
bool bare_state_returns(const struct machine *m, const struct bare_state *s);
/* Whether the caller's registers are so, too: where a function jumps to another one. */
bool bare_state_leaves(const struct machine *m, const struct bare_state *s);

/* The row for a state. False, and a row of UNWIND_CFA_NONE: the caller is not known. */
bool bare_state_row(const struct machine *m, const struct bare_state *s, struct unwind_row *ret);

#endif
