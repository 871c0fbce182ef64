/* aarch64.c - 64-bit Arm. Instructions are little-endian words always. */
#include <elf.h>

#include "machine/machine.h"

enum {
	BTI_C = (int)0xd503245f,
	PACIASP = (int)0xd503233f,
	RET = (int)0xd65f03c0,
	MOV_FP_SP = (int)0x910003fd,
	STP_MASK = (int)0xffc07fff,
	STP_FP_LR = (int)0xa9807bfd, /* stp x29, x30, [sp, #n]! */
};

static bool is(uint32_t word, int instruction) { return word == (uint32_t)instruction; }

/* addr plus a signed number of words, which is in the `bits` bits of `word` from `shift` on. */
static uint64_t relative(uint64_t addr, uint32_t word, unsigned shift, unsigned bits)
{
	uint64_t words = word >> shift & ((1u << bits) - 1), sign = 1ull << (bits - 1);
	return addr + ((words ^ sign) - sign) * 4;
}

/* ---- signals and frames ---- */

static bool is_sigreturn(const uint8_t *code, size_t size)
{
	static const uint8_t mov_x8[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
	return machine_starts(code, size, mov_x8, sizeof(mov_x8));
}

/* n of "stp x29, x30, [sp, #n]!", which is negative; 0 if it is another instruction. */
static int32_t stp_size(uint32_t word)
{
	if ((word & (uint32_t)STP_MASK) != (uint32_t)STP_FP_LR)
		return 0;
	int32_t n = (int32_t)(word >> 15 & 0x7f);
	return n & 0x40 ? (n - 0x80) * 8 : 0;
}

/* A PLT entry: adrp x16, slot; ldr x17, [x16, slot]; add x16, x16, slot; br x17. */
static bool is_linkage(uint32_t word)
{
	return (word & 0x9f00001f) == 0x90000010 || (word & 0xffc003ff) == 0xf9400211 ||
	       (word & 0xffc003ff) == 0x91000210 || word == 0xd61f0220;
}

static bool frame(const uint8_t *code, size_t before, size_t after, struct machine_frame *ret)
{
	uint32_t here = after >= 4 ? machine_word(code) : 0;
	*ret = (struct machine_frame){ 0 };
	if (is(here, BTI_C) || is(here, PACIASP) || is(here, RET) || stp_size(here) ||
	    is_linkage(here))
		return true;
	int32_t n = before >= 4 ? stp_size(machine_word(code - 4)) : 0;
	if (!is(here, MOV_FP_SP) || !n)
		return false;
	*ret = (struct machine_frame){ -n, (int16_t)(n + 8), (int16_t)n };
	return true;
}

/* ---- calls ---- */

static size_t length(const uint8_t *code, size_t size)
{
	(void)code;
	return size < 4 ? size : 4;
}

static size_t call_at(const uint8_t *code, size_t size, uint64_t addr, uint64_t *target)
{
	uint32_t word = size >= 4 ? machine_word(code) : 0;
	if (word >> 26 != 0x25) /* BL */
		return 0;
	*target = relative(addr, word, 0, 26);
	return 4;
}

static bool call_ends(const uint8_t *end, size_t before)
{
	uint32_t word = before >= 4 ? machine_word(end - 4) : 0;
	return word >> 26 == 0x25 || (word & 0xfffffc1f) == 0xd63f0000; /* BL, BLR */
}

static void step(const uint8_t *code, size_t size, uint64_t addr, struct machine_step *s)
{
	if (size < 4)
		return;
	uint32_t w = machine_word(code);
	if (w >> 26 == 0x25 || w >> 26 == 0x05) {
		s->kind = w >> 31 ? STEP_CALL : STEP_JUMP;
		s->target = relative(addr, w, 0, 26);
	} else if (w >> 24 == 0x54 || (w & 0x7e000000) == 0x34000000) {
		s->kind = STEP_BRANCH;
		s->target = relative(addr, w, 5, 19);
	} else if ((w & 0x7e000000) == 0x36000000) {
		s->kind = STEP_BRANCH;
		s->target = relative(addr, w, 5, 14);
	} else if ((w & 0xfffffc1f) == 0xd63f0000) {
		s->kind = STEP_CALL_SLOT;
	} else if ((w & 0xfffffc1f) == 0xd61f0000) {
		s->kind = STEP_SWITCH;
	} else if ((w & 0xfffffc1f) == 0xd65f0000) {
		s->kind = STEP_RETURN;
	} else if ((w & 0xffe0001f) == 0xd4200000 || w >> 16 == 0) { /* BRK, UDF */
		s->kind = STEP_STOP;
	}
}

static uint64_t gist(const uint8_t *code, size_t size)
{
	static const struct {
		uint32_t mask, value, kept;
	} naming[] = {
		{ 0x7c000000, 0x14000000, 0xfc000000 }, /* B, BL */
		{ 0x1f000000, 0x10000000, 0x9f00001f }, /* ADR, ADRP */
		{ 0x3b000000, 0x18000000, 0xff00001f }, /* LDR of a literal */
		{ 0x7f800000, 0x11000000, 0xffc003ff }, /* ADD, with the rest of ADRP's address */
		{ 0x3b000000, 0x39000000, 0xffc003ff }, /* LDR, STR: likewise */
	};
	uint32_t w = size >= 4 ? machine_word(code) : 0;
	if (!w || w == 0xd503201f) /* NOP */
		return 0;
	for (size_t i = 0; i < sizeof(naming) / sizeof(*naming); i++)
		if ((w & naming[i].mask) == naming[i].value)
			return (uint64_t)(w & naming[i].kept) << 1 | 1;
	return (uint64_t)w << 1 | 1;
}

/* ---- procedure linkage tables: [bti c;] adrp x16, slot; ldr x17, [x16, slot] ---- */

static bool plt_slot(const uint8_t *code, size_t size, uint64_t addr, uint64_t got, uint64_t *slot)
{
	size_t i = size >= 4 && is(machine_word(code), BTI_C) ? 4 : 0;
	(void)got;
	if (size < i + 8)
		return false;
	uint32_t adrp = machine_word(code + i), ldr = machine_word(code + i + 4);
	if ((adrp & 0x9f00001f) != 0x90000010)
		return false;
	bool is_word = (ldr & 0xffc003ff) == 0xb9400211; /* ILP32 */
	if (!is_word && (ldr & 0xffc003ff) != 0xf9400211)
		return false;
	uint64_t page = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
	page = (page ^ 0x100000) - 0x100000; /* 21 bits with sign */
	*slot = ((addr + i) & ~(uint64_t)0xfff) + (page << 12) +
		((uint64_t)(ldr >> 10 & 0xfff) << (is_word ? 2 : 3));
	return true;
}

/* ---- the machine ---- */

#define X(n) (312 + 8 * (n)) /* in struct rt_sigframe: x0 .. x30, sp, pc */

const struct machine machine_aarch64 = {
	.elf = EM_AARCH64,
	.name = "aarch64",
	.n_registers = 32,
	.sp = 31,
	.fp = 29,
	.bx = MACHINE_NO_REGISTER,
	.lr = 30,
	.is_signing = true,
	.perf_mask = 0x1ffffffff,
	.sample_mask = 0x1ffffffff,
	.perf_names =
		"x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 "
		"x22 x23 x24 x25 x26 x27 x28 x29 lr sp pc . . . . . . . . . . . . . vg",
	.perf = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
		  16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 },
	.perf_pc = 32,
	.signal_pc = X(32),
	.signal = { X(0),  X(1),  X(2),  X(3),  X(4),  X(5),  X(6),  X(7),  X(8),  X(9),  X(10),
		    X(11), X(12), X(13), X(14), X(15), X(16), X(17), X(18), X(19), X(20), X(21),
		    X(22), X(23), X(24), X(25), X(26), X(27), X(28), X(29), X(30), X(31) },
	.is_sigreturn = is_sigreturn,
	.cfa_from_fp = 16,
	.return_from_fp = 8,
	.frame = frame,
	.code_align = 4,
	.length = length,
	.call_at = call_at,
	.call_ends = call_ends,
	.step = step,
	.gist = gist,
	.hook_call_size = 4,
	.plt_align = 4,
	.plt_slot = plt_slot,
	.jump_slot = R_AARCH64_JUMP_SLOT,
	.glob_dat = R_AARCH64_GLOB_DAT,
	.irelative = R_AARCH64_IRELATIVE,
	.relative = R_AARCH64_RELATIVE,
};
