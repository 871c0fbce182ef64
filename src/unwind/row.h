/* row.h - an unwind rule: how to get from one stack frame to its caller, in 16 bytes.
 *
 * It is the call-frame information for an address, reduced to what a stack walk needs: the
 * canonical frame address (CFA: sp in the caller), the location of the return address, and those of
 * the two registers that CFAs of outer frames are computed from: the frame pointer (rbp, x29, s0),
 * and on x86-64 rbx (the dynamic linker's lazy binding keeps its CFA there).
 *
 * Freestanding: this header, machine/, cfi.h and step.h are also part of the runtime inside of
 * profiled programs. No C library, no allocation, no globals, no floating point; async-signal-safe.
 */
#ifndef UNWIND_ROW_H
#define UNWIND_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers in rules: sp, fp, bx (x86-64: rbx; else none), or UNWIND_DWARF + the DWARF number of
 * any other. */
enum unwind_register { UNWIND_SP, UNWIND_FP, UNWIND_BX, UNWIND_DWARF };

enum unwind_cfa {
	UNWIND_CFA_NONE,  /* not known: no rule, or one that a struct unwind_row cannot express */
	UNWIND_CFA_REG,   /* reg + cfa_offset */
	UNWIND_CFA_DEREF, /* [reg + cfa_offset] + cfa_add */
	UNWIND_CFA_PLT,   /* x86-64, lazy binding: sp + 8, and 8 more if pc & 15 >= cfa_add */
};

/* How a register's value in the caller is recovered. */
enum unwind_place {
	UNWIND_SAME,    /* unchanged; a return address: in the link register */
	UNWIND_AT_CFA,  /* [CFA + offset] */
	UNWIND_AT_SP,   /* [sp + offset], sp being this frame's */
	UNWIND_AT_FP,   /* [fp + offset] */
	UNWIND_IN_REG,  /* in the register whose enum unwind_register is the offset field */
	UNWIND_UNKNOWN, /* lost; a return address: there is none, the stack ends here */
};

enum {
	UNWIND_SIGNAL = 1,  /* a signal frame: the caller was interrupted, its pc is exact */
	UNWIND_SIGNED = 2,  /* aarch64: the return address carries an authentication code */
	UNWIND_GUESSED = 4, /* not from call-frame information */
};

struct unwind_row {
	uint8_t cfa : 4;   /* enum unwind_cfa */
	uint8_t flags : 4; /* of the above */
	uint8_t reg;       /* enum unwind_register, for cfa */
	uint8_t ra : 4;    /* enum unwind_place of the return address, */
	uint8_t fp : 4;    /* of the caller's frame pointer, */
	uint8_t bx : 4;    /* of the caller's rbx */
	uint8_t unused : 4;
	int32_t cfa_offset;
	int16_t ra_offset, fp_offset, bx_offset; /* in units of 8 bytes, but for UNWIND_IN_REG */
	int16_t cfa_add;
};
_Static_assert(sizeof(struct unwind_row) == 16, "a row is 16 bytes");

static inline bool unwind_row_equal(const struct unwind_row *a, const struct unwind_row *b)
{
	return a->cfa == b->cfa && a->flags == b->flags && a->reg == b->reg && a->ra == b->ra &&
	       a->fp == b->fp && a->bx == b->bx && a->cfa_offset == b->cfa_offset &&
	       a->ra_offset == b->ra_offset && a->fp_offset == b->fp_offset &&
	       a->bx_offset == b->bx_offset && a->cfa_add == b->cfa_add;
}

#endif
