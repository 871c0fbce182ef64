/* step_inline.h - unwind_step() as an inline function, for loops that inline `read`, too. */
#ifndef UNWIND_STEP_INLINE_H
#define UNWIND_STEP_INLINE_H

#include "unwind/step.h"

/* User addresses have 48 bits; the bits above may hold parts of an authentication code. */
#define UNWIND_ADDRESS_MASK UINT64_C(0xffffffffffff)

static inline bool unwind_has_link_register(const struct unwind_regs *r)
{
	return r->machine->lr != MACHINE_NO_REGISTER;
}

static inline bool unwind_other_register(const struct unwind_regs *r, unsigned number,
					 uint64_t *ret, unwind_read *read, void *arg)
{
	if (number >= MACHINE_REGISTERS)
		return false;
	if (r->all) {
		*ret = r->all[number];
		return true;
	}
	unsigned place = r->machine->signal[number];
	return r->all_at && place && read(arg, r->all_at + place, ret);
}

static inline __attribute__((always_inline)) bool unwind_register_value(const struct unwind_regs *r,
									unsigned reg, uint64_t *ret,
									unwind_read *read,
									void *arg)
{
	if (__builtin_expect(reg == UNWIND_SP, 1))
		*ret = r->sp;
	else if (reg == UNWIND_FP)
		*ret = r->fp;
	else if (reg == UNWIND_BX) {
		*ret = r->bx;
		return !r->bx_unknown;
	} else
		return unwind_other_register(r, reg - UNWIND_DWARF, ret, read, arg);
	return true;
}

static inline __attribute__((always_inline)) enum unwind_status
unwind_cfa_of(const struct unwind_row *row, const struct unwind_regs *r, uint64_t *ret,
	      unwind_read *read, void *arg)
{
	uint64_t base;
	if (row->cfa == UNWIND_CFA_PLT) {
		*ret = r->sp + 8 + ((int)(r->pc & 15) >= row->cfa_add ? 8 : 0);
		return UNWIND_OK;
	}
	if (row->cfa == UNWIND_CFA_NONE)
		return UNWIND_NO_ROW;
	if (!unwind_register_value(r, row->reg, &base, read, arg))
		return UNWIND_NO_REGISTER;
	if (row->flags & UNWIND_GUESSED && row->reg == UNWIND_FP && (base < r->sp || base & 7))
		return UNWIND_BAD;
	*ret = base + (uint64_t)(int64_t)row->cfa_offset;
	if (__builtin_expect(row->cfa == UNWIND_CFA_DEREF, 0)) {
		if (!read(arg, *ret, ret))
			return UNWIND_NO_MEMORY;
		*ret += (uint64_t)(int64_t)row->cfa_add;
	}
	return UNWIND_OK;
}

/* The value saved at a place other than UNWIND_SAME and UNWIND_UNKNOWN. */
static inline __attribute__((always_inline)) enum unwind_status
unwind_fetch(const struct unwind_regs *r, unsigned place, int offset, uint64_t cfa, uint64_t *ret,
	     unwind_read *read, void *arg)
{
	uint64_t at = cfa;
	if (__builtin_expect(place != UNWIND_AT_CFA, 0)) {
		if (place == UNWIND_IN_REG)
			return unwind_register_value(r, (unsigned)offset, ret, read, arg)
				       ? UNWIND_OK
				       : UNWIND_NO_REGISTER;
		at = place == UNWIND_AT_SP ? r->sp : r->fp;
	}
	return read(arg, at + (uint64_t)(int64_t)offset * 8, ret) ? UNWIND_OK : UNWIND_NO_MEMORY;
}

/* The caller's value of a register that is *value in this frame. Compilers do not mark that an
 * epilogue has popped it: its slot then lies below sp, which a copy of the stack does not include
 * (and the red zone still holds the same value), and the register has its old value again. */
static inline __attribute__((always_inline)) enum unwind_status
unwind_saved_register(const struct unwind_regs *r, unsigned place, int offset, uint64_t cfa,
		      uint64_t *value, unwind_read *read, void *arg)
{
	enum unwind_status status = unwind_fetch(r, place, offset, cfa, value, read, arg);
	if (__builtin_expect(status == UNWIND_NO_MEMORY, 0) && r->exact && place == UNWIND_AT_CFA &&
	    cfa + (uint64_t)(int64_t)offset * 8 < r->sp)
		return UNWIND_OK;
	return status;
}

static inline __attribute__((always_inline)) enum unwind_status
unwind_return_address(const struct unwind_row *row, const struct unwind_regs *r, uint64_t cfa,
		      uint64_t *ret, unwind_read *read, void *arg)
{
	enum unwind_status status = UNWIND_OK;
	if (row->ra != UNWIND_SAME)
		status = unwind_fetch(r, row->ra, row->ra_offset, cfa, ret, read, arg);
	else if (unwind_has_link_register(r) && !r->lr_unknown)
		*ret = r->lr;
	else
		return UNWIND_NO_REGISTER;
	if (row->flags & UNWIND_SIGNED)
		*ret &= UNWIND_ADDRESS_MASK;
	return status;
}

static inline __attribute__((always_inline)) enum unwind_status
unwind_step_inline(const struct unwind_row *row, struct unwind_regs *r, unwind_read *read,
		   void *arg)
{
	uint64_t cfa, pc, fp = r->fp, bx = r->bx, lr = 0;
	bool signal = row->flags & UNWIND_SIGNAL, bx_unknown = r->bx_unknown;
	if (__builtin_expect(row->ra == UNWIND_UNKNOWN, 0))
		return UNWIND_END;
	enum unwind_status status = unwind_cfa_of(row, r, &cfa, read, arg);
	if (__builtin_expect(status != UNWIND_OK, 0))
		return status;
	/* sp stays the same only if the function has saved nothing yet and its caller pushed
	 * nothing, or where the return address is off the stack: vfork() keeps it in rdi. */
	bool may_stay = r->exact && (unwind_has_link_register(r) || row->ra == UNWIND_IN_REG);
	if (__builtin_expect(!signal && (cfa & 7 || cfa < r->sp || (cfa == r->sp && !may_stay)), 0))
		return UNWIND_BAD;
	status = unwind_return_address(row, r, cfa, &pc, read, arg);
	if (__builtin_expect(status != UNWIND_OK, 0))
		return status;
	if (row->fp == UNWIND_UNKNOWN)
		fp = 0;
	else if (row->fp != UNWIND_SAME)
		status = unwind_saved_register(r, row->fp, row->fp_offset, cfa, &fp, read, arg);
	if (__builtin_expect(status != UNWIND_OK, 0))
		return status;
	if (row->bx != UNWIND_SAME)
		bx_unknown = row->bx == UNWIND_UNKNOWN ||
			     unwind_saved_register(r, row->bx, row->bx_offset, cfa, &bx, read,
						   arg) != UNWIND_OK;
	if (__builtin_expect(!pc, 0))
		return UNWIND_BAD;
	if (signal && unwind_has_link_register(r) &&
	    !read(arg, r->sp + r->machine->signal[r->machine->lr], &lr))
		return UNWIND_NO_MEMORY;

	r->all_at = signal ? r->sp : 0;
	r->all = NULL;
	r->lr = lr;
	r->lr_unknown = !signal;
	r->exact = signal;
	r->pc = pc;
	r->sp = cfa;
	r->fp = fp;
	r->bx = bx;
	r->bx_unknown = bx_unknown;
	return UNWIND_OK;
}

#endif
