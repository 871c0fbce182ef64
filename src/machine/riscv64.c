/* riscv64.c - 64-bit RISC-V. Instructions have two bytes (C extension) or four, which the two
 * lowest bits tell. x1 (ra) is the link register, x5 (t0) another one that few use; x2 is sp, x8
 * (s0) the frame pointer, which points to the CFA. */
#include <elf.h>

#include "machine/machine.h"

enum { RA = 1, SP = 2, T0 = 5, FP = 8, A0 = 10 };
enum { OP_AUIPC = 0x17, OP_BRANCH = 0x63, OP_JALR = 0x67, OP_JAL = 0x6f };

static uint32_t half(const uint8_t *p) { return p[0] | (uint32_t)p[1] << 8; }

static size_t length(const uint8_t *code, size_t size)
{
	size_t n = size && (*code & 3) == 3 ? 4 : 2;
	return n < size ? n : size;
}

/* The instruction at code; the upper half of a short one is 0. 0, which is no instruction: there
 * are too few bytes. */
static uint32_t instruction(const uint8_t *code, size_t size)
{
	if (size < 2)
		return 0;
	if ((*code & 3) != 3)
		return half(code);
	return size < 4 ? 0 : machine_word(code);
}

static bool is_link(uint32_t reg) { return reg == RA || reg == T0; }
static uint32_t rd(uint32_t w) { return w >> 7 & 31; }
static uint32_t rs1(uint32_t w) { return w >> 15 & 31; }

/* The `n` bits of w from `from` on, moved to bit `to`. */
static uint32_t bits(uint32_t w, unsigned from, unsigned n, unsigned to)
{
	return (w >> from & ((1u << n) - 1)) << to;
}

static uint64_t with_sign(uint32_t value, unsigned n_bits)
{
	uint64_t sign = UINT64_C(1) << (n_bits - 1);
	return (value ^ sign) - sign;
}

static uint64_t upper(uint32_t w) { return (uint64_t)(int64_t)(int32_t)(w & 0xfffff000); }
static uint64_t lower(uint32_t w) { return with_sign(w >> 20, 12); }

static uint64_t jal_offset(uint32_t w)
{
	return with_sign(bits(w, 31, 1, 20) | bits(w, 21, 10, 1) | bits(w, 20, 1, 11) |
				 bits(w, 12, 8, 12),
			 21);
}

static uint64_t branch_offset(uint32_t w)
{
	return with_sign(
		bits(w, 31, 1, 12) | bits(w, 25, 6, 5) | bits(w, 8, 4, 1) | bits(w, 7, 1, 11), 13);
}

static uint64_t short_jump_offset(uint32_t h)
{
	return with_sign(bits(h, 12, 1, 11) | bits(h, 11, 1, 4) | bits(h, 9, 2, 8) |
				 bits(h, 8, 1, 10) | bits(h, 7, 1, 6) | bits(h, 6, 1, 7) |
				 bits(h, 3, 3, 1) | bits(h, 2, 1, 5),
			 12);
}

static uint64_t short_branch_offset(uint32_t h)
{
	return with_sign(bits(h, 12, 1, 8) | bits(h, 10, 2, 3) | bits(h, 5, 2, 6) |
				 bits(h, 3, 2, 1) | bits(h, 2, 1, 5),
			 9);
}

/* ---- signals and frames ---- */

static bool is_sigreturn(const uint8_t *code, size_t size)
{
	static const uint8_t li_a7_ecall[] = { 0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0 };
	return machine_starts(code, size, li_a7_ecall, sizeof(li_a7_ecall));
}

/* n of "addi sp, sp, -n"; 0 if it is another instruction. */
static int32_t pushed(uint32_t w)
{
	if ((w & 0xfffff) == 0x10113 && w >> 31) /* addi */
		return -(int32_t)lower(w);
	if ((w & 0xff83) == 0x1101) /* c.addi */
		return 32 - (int32_t)bits(w, 2, 5, 0);
	if ((w & 0xff83) == 0x7101) /* c.addi16sp */
		return 512 - (int32_t)(bits(w, 6, 1, 4) | bits(w, 5, 1, 6) | bits(w, 3, 2, 7) |
				       bits(w, 2, 1, 5));
	return 0;
}

static bool frame(const uint8_t *code, size_t before, size_t after, struct machine_frame *ret)
{
	uint32_t here = instruction(code, after);
	*ret = (struct machine_frame){ 0 };
	if (here == 0x8082 || here == 0x8067 || pushed(here) || /* ret, addi */
	    (here & 0xfff) == (28 << 7 | OP_AUIPC))             /* a PLT entry */
		return true;
	bool saves_ra = (here & 0xe07f) == 0xe006 || (here & 0x1fff07f) == 0x113023;
	if (!saves_ra) /* c.sdsp ra or sd ra, n(sp): sp has just been moved */
		return false;
	if (before >= 4 && (code[-4] & 3) == 3)
		ret->size = pushed(machine_word(code - 4));
	if (!ret->size && before >= 2)
		ret->size = pushed(half(code - 2));
	return ret->size != 0;
}

/* ---- calls ---- */

/* "jal", or "auipc; jalr" for a far function. */
static size_t call_at(const uint8_t *code, size_t size, uint64_t addr, uint64_t *target)
{
	uint32_t w = instruction(code, size);
	if ((w & 0x7f) == OP_JAL && is_link(rd(w))) {
		*target = addr + jal_offset(w);
		return 4;
	}
	if ((w & 0x7f) != OP_AUIPC || size < 8 || !is_link(rd(w)))
		return 0;
	uint32_t jalr = machine_word(code + 4);
	if ((jalr & 0x707f) != OP_JALR || !is_link(rd(jalr)) || rs1(jalr) != rd(w))
		return 0;
	*target = addr + upper(w) + lower(jalr);
	return 8;
}

static bool call_ends(const uint8_t *end, size_t before)
{
	uint32_t h = before >= 2 ? half(end - 2) : 0;
	if ((h & 0xf07f) == 0x9002 && rd(h)) /* c.jalr */
		return true;
	uint32_t w = before >= 4 ? machine_word(end - 4) : 0;
	return ((w & 0x7f) == OP_JAL || (w & 0x707f) == OP_JALR) && is_link(rd(w));
}

static void step_short(uint32_t h, uint64_t addr, struct machine_step *s)
{
	if ((h & 0xe003) == 0xa001) { /* c.j */
		s->kind = STEP_JUMP;
		s->target = addr + short_jump_offset(h);
	} else if ((h & 0xc003) == 0xc001) { /* c.beqz, c.bnez */
		s->kind = STEP_BRANCH;
		s->target = addr + short_branch_offset(h);
	} else if ((h & 0xf07f) == 0x8002 && rd(h)) { /* c.jr */
		s->kind = is_link(rd(h)) ? STEP_RETURN : STEP_SWITCH;
	} else if ((h & 0xf07f) == 0x9002) { /* c.jalr, c.ebreak */
		s->kind = rd(h) ? STEP_CALL_SLOT : STEP_STOP;
	} else if (!h) {
		s->kind = STEP_STOP;
	}
}

static void step_long(uint32_t w, uint64_t addr, struct machine_step *s)
{
	if ((w & 0x7f) == OP_JAL) {
		s->kind = is_link(rd(w)) ? STEP_CALL : STEP_JUMP;
		s->target = addr + jal_offset(w);
	} else if ((w & 0x7f) == OP_BRANCH) {
		s->kind = STEP_BRANCH;
		s->target = addr + branch_offset(w);
	} else if ((w & 0x707f) == OP_JALR) {
		s->kind = is_link(rd(w))    ? STEP_CALL_SLOT
			  : is_link(rs1(w)) ? STEP_RETURN
					    : STEP_SWITCH;
	} else if (w == 0x00100073) { /* ebreak */
		s->kind = STEP_STOP;
	}
}

static void step(const uint8_t *code, size_t size, uint64_t addr, struct machine_step *s)
{
	if (size == 2)
		step_short(half(code), addr, s);
	else if (size >= 4)
		step_long(machine_word(code), addr, s);
}

static uint64_t gist(const uint8_t *code, size_t size)
{
	enum { OP_LOAD = 0x03, OP_IMM = 0x13, OP_STORE = 0x23, OP_LUI = 0x37, C_NOP = 1 };
	uint32_t w = size == 2 ? half(code) : size >= 4 ? machine_word(code) : 0, op = w & 0x7f;
	if (!w || w == OP_IMM || (size == 2 && w == C_NOP))
		return 0;
	if (size == 2)
		w &= (w & 0xe003) == 0xa001 ? 0xe003 : 0xffff; /* c.j */
	else if (op == OP_JAL || op == OP_AUIPC || op == OP_LUI)
		w &= 0xfff;
	else if (op == OP_JALR || op == OP_LOAD || (op == OP_IMM && !(w & 0x7000)))
		w &= 0xfffff; /* may have the rest of an address */
	else if (op == OP_STORE)
		w &= 0x1fff07f;
	return (uint64_t)w << 1 | 1;
}

/* ---- procedure linkage tables: auipc t3, slot; ld t3, slot(t3); jalr t1, t3 ---- */

static bool plt_slot(const uint8_t *code, size_t size, uint64_t addr, uint64_t got, uint64_t *slot)
{
	(void)got;
	if (size < 8)
		return false;
	uint32_t auipc = machine_word(code), ld = machine_word(code + 4);
	if ((auipc & 0xfff) != (28 << 7 | OP_AUIPC) || (ld & 0xfffff) != 0xe3e03)
		return false;
	*slot = addr + upper(auipc) + lower(ld);
	return true;
}

/* ---- the machine ---- */

/* In struct rt_sigframe, behind siginfo (128 bytes) and the first 176 bytes of struct ucontext: pc,
 * x1 .. x31. */
#define X(n) (304 + 8 * (n))

const struct machine machine_riscv64 = {
	.elf = EM_RISCV,
	.name = "riscv64",
	.n_registers = 32,
	.sp = SP,
	.fp = FP,
	.bx = MACHINE_NO_REGISTER,
	.lr = RA,
	.perf_mask = 0xffffffff, /* pc, x1 .. x31 */
	.sample_mask = 0xffffffff,
	.perf_names =
		"pc ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 "
		"s10 s11 t3 t4 t5 t6",
	.perf = { MACHINE_NO_REGISTER,
		  1,
		  2,
		  3,
		  4,
		  5,
		  6,
		  7,
		  8,
		  9,
		  10,
		  11,
		  12,
		  13,
		  14,
		  15,
		  16,
		  17,
		  18,
		  19,
		  20,
		  21,
		  22,
		  23,
		  24,
		  25,
		  26,
		  27,
		  28,
		  29,
		  30,
		  31 },
	.perf_pc = 0,
	.signal_pc = X(0),
	.signal = { 0,     X(1),  X(2),  X(3),  X(4),  X(5),  X(6),  X(7),  X(8),  X(9),  X(10),
		    X(11), X(12), X(13), X(14), X(15), X(16), X(17), X(18), X(19), X(20), X(21),
		    X(22), X(23), X(24), X(25), X(26), X(27), X(28), X(29), X(30), X(31) },
	.is_sigreturn = is_sigreturn,
	.return_from_fp = -8,
	.saved_from_fp = -16,
	.frame = frame,
	.code_align = 2,
	.length = length,
	.call_at = call_at,
	.call_ends = call_ends,
	.step = step,
	.gist = gist,
	.hook_call_size = 4,
	.flag_for_stacks = "-fasynchronous-unwind-tables", /* gcc 12 leaves them out */
	.plt_align = 4,
	.plt_slot = plt_slot,
	.jump_slot = R_RISCV_JUMP_SLOT,
	.glob_dat = R_RISCV_64,
	.irelative = R_RISCV_IRELATIVE,
	.relative = R_RISCV_RELATIVE,
};
