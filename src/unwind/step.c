#include "unwind/step.h"

#include "unwind/step_inline.h"

enum unwind_status unwind_step(const struct unwind_row *row, struct unwind_regs *r,
			       unwind_read *read, void *arg)
{
	return unwind_step_inline(row, r, read, arg);
}

/* ---- rows made up ---- */

static const struct unwind_row no_row;

/* CFA = sp + offset, the caller's frame pointer still in place, or `fp` words from the CFA. */
static struct unwind_row sp_row(enum unwind_machine machine, int32_t offset, int16_t fp)
{
	struct unwind_row row = no_row;
	row.cfa = UNWIND_CFA_REG;
	row.flags = UNWIND_GUESSED;
	row.reg = UNWIND_SP;
	row.cfa_offset = offset;
	if (machine == UNWIND_X86_64) {
		row.ra = UNWIND_AT_CFA;
		row.ra_offset = -1;
	}
	row.fp = fp ? UNWIND_AT_CFA : UNWIND_SAME;
	row.fp_offset = fp;
	row.bx = UNWIND_UNKNOWN;
	return row;
}

/* rbp and x29 both point at the caller's, with the return address above. */
static struct unwind_row fp_row(enum unwind_machine machine)
{
	struct unwind_row row = no_row;
	row.cfa = UNWIND_CFA_REG;
	row.flags = UNWIND_GUESSED;
	if (machine == UNWIND_AARCH64)
		row.flags |= UNWIND_SIGNED; /* it may be */
	row.reg = UNWIND_FP;
	row.cfa_offset = 16;
	row.ra = row.fp = UNWIND_AT_FP;
	row.ra_offset = 1;
	row.bx = UNWIND_UNKNOWN;
	return row;
}

static bool is(const uint8_t *code, size_t have, const uint8_t *bytes, size_t n)
{
	if (have < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (code[i] != bytes[i])
			return false;
	return true;
}

static struct unwind_row guess_x86(const uint8_t *code, size_t before, size_t after)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa }, push_rbp[] = { 0x55 },
			     mov_rbp_rsp[] = { 0x48, 0x89, 0xe5 },
			     mov_rbp_rsp_too[] = { 0x48, 0x8b, 0xec }, ret[] = { 0xc3 },
			     rep_ret[] = { 0xf3, 0xc3 }, ret_n[] = { 0xc2 };
	if (is(code, after, endbr64, 4) || is(code, after, push_rbp, 1) ||
	    is(code, after, ret, 1) || is(code, after, rep_ret, 2) || is(code, after, ret_n, 1))
		return sp_row(UNWIND_X86_64, 8, 0);
	if (before && code[-1] == 0x55 &&
	    (is(code, after, mov_rbp_rsp, 3) || is(code, after, mov_rbp_rsp_too, 3)))
		return sp_row(UNWIND_X86_64, 16, -2);
	return fp_row(UNWIND_X86_64);
}

static uint32_t instruction(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

enum {
	A64_BTI_C = (int)0xd503245f,
	A64_PACIASP = (int)0xd503233f,
	A64_RET = (int)0xd65f03c0,
	A64_MOV_FP_SP = (int)0x910003fd,
	A64_STP_MASK = (int)0xffc07fff,
	A64_STP_FP_LR = (int)0xa9807bfd, /* stp x29, x30, [sp, #n]! */
};

/* n of that instruction, which is negative; 0 if it is another. */
static int32_t stp_size(uint32_t i)
{
	if ((i & (uint32_t)A64_STP_MASK) != (uint32_t)A64_STP_FP_LR)
		return 0;
	int32_t n = (int32_t)(i >> 15 & 0x7f);
	return n & 0x40 ? (n - 0x80) * 8 : 0;
}

static struct unwind_row guess_aarch64(const uint8_t *code, size_t before, size_t after)
{
	uint32_t here = after >= 4 ? instruction(code) : 0;
	if (here == (uint32_t)A64_BTI_C || here == (uint32_t)A64_PACIASP ||
	    here == (uint32_t)A64_RET || stp_size(here))
		return sp_row(UNWIND_AARCH64, 0, 0);
	int32_t size = before >= 4 ? -stp_size(instruction(code - 4)) : 0;
	if (here == (uint32_t)A64_MOV_FP_SP && size) {
		struct unwind_row row = sp_row(UNWIND_AARCH64, size, (int16_t)(-size / 8));
		row.ra = UNWIND_AT_CFA;
		row.ra_offset = (int16_t)(-size / 8 + 1);
		row.flags |= UNWIND_SIGNED;
		return row;
	}
	return fp_row(UNWIND_AARCH64);
}

struct unwind_row unwind_guess(enum unwind_machine machine, bool exact, const uint8_t *code,
			       size_t before, size_t after)
{
	if (!exact || !code)
		return fp_row(machine);
	return machine == UNWIND_X86_64 ? guess_x86(code, before, after)
					: guess_aarch64(code, before, after);
}

static struct unwind_row signal_row(int32_t sp, int16_t pc, int16_t fp, int16_t bx)
{
	struct unwind_row row = no_row;
	row.cfa = UNWIND_CFA_DEREF;
	row.flags = UNWIND_SIGNAL;
	row.reg = UNWIND_SP;
	row.cfa_offset = sp;
	row.ra = row.fp = row.bx = UNWIND_AT_SP;
	row.ra_offset = pc / 8;
	row.fp_offset = fp / 8;
	row.bx_offset = bx / 8;
	return row;
}

bool unwind_is_sigreturn(enum unwind_machine machine, const uint8_t *code, size_t size,
			 struct unwind_row *ret)
{
	static const uint8_t mov_rax[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 },
			     mov_eax[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 },
			     mov_x8[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
	if (machine == UNWIND_AARCH64) {
		*ret = signal_row(SIGNAL_ARM_SP, SIGNAL_ARM_PC, SIGNAL_ARM_FP, 0);
		ret->bx = UNWIND_SAME;
		return is(code, size, mov_x8, sizeof(mov_x8));
	}
	*ret = signal_row(SIGNAL_X86_SP, SIGNAL_X86_PC, SIGNAL_X86_BP, SIGNAL_X86_BX);
	return is(code, size, mov_rax, sizeof(mov_rax)) || is(code, size, mov_eax, sizeof(mov_eax));
}
