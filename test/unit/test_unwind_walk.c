/* Steps from frame to frame: this process's own stack out of a signal handler, made-up memory. */
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

#include "base/base.h"
#include "lib/cfi_build.h"
#include "tap.h"
#include "unwind/perf_regs.h"
#include "unwind/unwinder.h"

/* ---- made-up memory ---- */

struct words {
	uint64_t addr;
	const uint64_t *at;
	size_t n;
};

static bool read_words(void *arg, uint64_t addr, uint64_t *ret)
{
	const struct words *w = arg;
	uint64_t i = (addr - w->addr) / 8;
	if (i >= w->n || addr % 8)
		return false;
	*ret = w->at[i];
	return true;
}

static const char *text_of(const struct unwind_row *row)
{
	static char text[256];
	*text = '\0';
	cfi_text(text, row);
	return text;
}

static void test_steps(void)
{
	const uint64_t stack[] = { 0x7000, 0x1111, 0x2222, 0x3333, 0x4444 };
	struct words w = { 0x8000, stack, 5 };
	struct unwind_row row = { .cfa = UNWIND_CFA_REG, .reg = UNWIND_SP, .ra = UNWIND_AT_CFA };
	const struct unwind_regs start = {
		.machine = &machine_x86_64, .pc = 0x100, .sp = 0x8000, .fp = 0x8010, .exact = true
	};
	struct unwind_regs r = start;
	row.cfa_offset = 16;
	row.ra_offset = -1;
	OK(unwind_lookup_pc(&r) == 0x100);
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_OK);
	OK(r.pc == 0x1111 && r.sp == 0x8010 && r.fp == 0x8010 && !r.exact);
	OK(unwind_lookup_pc(&r) == 0x1110);

	struct unwind_regs before = r;
	row.cfa_offset = 0; /* no way up */
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_BAD);
	row.cfa_offset = 12;
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_BAD);
	row.cfa_offset = -8; /* back down, where there is memory to be read */
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_BAD);
	row.reg = UNWIND_FP;
	row.cfa_offset = 16;
	r.sp = 0x8018;
	r.fp = 0x8000;
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_BAD);
	r = before;
	row.reg = UNWIND_SP;
	row.cfa_offset = 800;
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_NO_MEMORY);
	row.reg = UNWIND_DWARF + 10; /* r10: of the innermost frame only */
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_NO_REGISTER);
	row.cfa = UNWIND_CFA_NONE;
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_NO_ROW);
	row.ra = UNWIND_UNKNOWN;
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_END);
	OK(r.pc == before.pc && r.sp == before.sp && r.fp == before.fp);

	uint64_t all[MACHINE_REGISTERS] = { [10] = 0x8018 };
	r = start;
	r.all = all;
	row = (struct unwind_row){ .cfa = UNWIND_CFA_REG,
				   .reg = UNWIND_DWARF + 10,
				   .ra = UNWIND_AT_CFA,
				   .ra_offset = -1 };
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_OK && r.pc == 0x2222 && !r.all);

	/* vfork() has popped the return address into rdi: its caller's sp is its own */
	all[5] = 0x500;
	r = start;
	r.all = all;
	row = (struct unwind_row){ .cfa = UNWIND_CFA_REG,
				   .ra = UNWIND_IN_REG,
				   .ra_offset = UNWIND_DWARF + 5 };
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_OK && r.pc == 0x500 && r.sp == 0x8000);
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_BAD); /* of a caller it cannot be */

	/* an epilogue that has popped rbp already: the slot is below sp, the register is right */
	r = start;
	r.fp = 0x9000;
	row = (struct unwind_row){ .cfa = UNWIND_CFA_REG,
				   .cfa_offset = 8,
				   .ra = UNWIND_AT_CFA,
				   .ra_offset = -1,
				   .fp = UNWIND_AT_CFA,
				   .fp_offset = -2 };
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_OK && r.fp == 0x9000);
	r.exact = false; /* of a caller it cannot be */
	row.cfa_offset = 16;
	row.fp_offset = -4;
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_NO_MEMORY);

	/* a PLT entry, before and after its push */
	row = (struct unwind_row){
		.cfa = UNWIND_CFA_PLT, .cfa_add = 11, .ra = UNWIND_AT_CFA, .ra_offset = -1
	};
	r = start;
	r.sp = 0x8008;
	r.pc = 0x106;
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_OK && r.pc == 0x1111);
	r = start;
	r.sp = 0x8008;
	r.pc = 0x10b;
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_OK && r.pc == 0x2222);
}

static void test_aarch64(void)
{
	uint64_t frame[80] = { 0 };
	struct words w = { 0x8000, frame, 80 };
	const struct unwind_row leaf = { .cfa = UNWIND_CFA_REG };
	struct unwind_regs r = {
		.machine = &machine_aarch64, .pc = 0x100, .sp = 0x8000, .lr = 0x500, .exact = true
	};
	OK(unwind_step(&leaf, &r, read_words, &w) == UNWIND_OK && r.pc == 0x500 && r.sp == 0x8000);
	OK(unwind_step(&leaf, &r, read_words, &w) == UNWIND_BAD); /* it would never end */

	frame[1] = UINT64_C(0x0055000000001234); /* signed */
	struct unwind_row row = { .cfa = UNWIND_CFA_REG,
				  .cfa_offset = 16,
				  .ra = UNWIND_AT_CFA,
				  .ra_offset = -1,
				  .fp = UNWIND_AT_CFA,
				  .fp_offset = -2,
				  .flags = UNWIND_SIGNED };
	r.sp = 0x8000;
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_OK && r.pc == 0x1234);

	/* the kernel's frame: siginfo, ucontext, x0 .. x30, sp, pc */
	static const uint8_t sigreturn[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
	frame[39 + 29] = 0x8f00;
	frame[39 + 30] = 0x600;
	frame[39 + 31] = 0x8800;
	frame[39 + 32] = 0x700;
	r = (struct unwind_regs){ .machine = &machine_aarch64, .pc = 0x100, .sp = 0x8000 };
	OK(!unwind_is_sigreturn(&machine_aarch64, sigreturn, 7, &row));
	OK(unwind_is_sigreturn(&machine_aarch64, sigreturn, 8, &row));
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_OK && r.exact && r.pc == 0x700);
	OK(r.sp == 0x8800 && r.fp == 0x8f00 && r.lr == 0x600 && !r.lr_unknown);
}

static void test_riscv64(void)
{
	const struct machine *m = &machine_riscv64;
	uint64_t frame[80] = { 0 };
	struct words w = { 0x8000, frame, 80 };
	const struct unwind_row leaf = { .cfa = UNWIND_CFA_REG };
	struct unwind_regs r = {
		.machine = m, .pc = 0x100, .sp = 0x8000, .fp = 0x8020, .lr = 0x500, .exact = true
	};
	OK(unwind_step(&leaf, &r, read_words, &w) == UNWIND_OK && r.pc == 0x500 && r.sp == 0x8000);

	/* s0 points to the CFA: saved registers lie below it */
	frame[2] = 0x8040; /* s0 */
	frame[3] = 0x600;  /* ra */
	struct unwind_row row = unwind_guess(m, false, NULL, 0, 0);
	OK_STR(text_of(&row), "fp+0 ra=[fp-8] fp=[fp-16] bx=? guessed");
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_OK && r.pc == 0x600);
	OK(r.sp == 0x8020 && r.fp == 0x8040 && r.lr_unknown);

	/* the kernel's frame: siginfo, ucontext, pc, x1 .. x31 */
	static const uint8_t sigreturn[] = { 0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0 };
	frame[38] = 0x700;
	frame[38 + 1] = 0x680;
	frame[38 + 2] = 0x8800;
	frame[38 + 8] = 0x8f00;
	frame[38 + 15] = 0x8008;
	r = (struct unwind_regs){ .machine = m, .pc = 0x100, .sp = 0x8000 };
	OK(!unwind_is_sigreturn(m, sigreturn, 7, &row));
	OK(unwind_is_sigreturn(m, sigreturn, 8, &row));
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_OK && r.exact && r.pc == 0x700);
	OK(r.sp == 0x8800 && r.fp == 0x8f00 && r.lr == 0x680 && !r.lr_unknown);
	/* whose other registers are known: CFA in a5; x0 is nowhere */
	w.addr = 0x8000;
	row = (struct unwind_row){ .cfa = UNWIND_CFA_REG,
				   .reg = UNWIND_DWARF + 15,
				   .cfa_offset = 0x1000 };
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_OK && r.sp == 0x9008 && r.pc == 0x680);
	r = (struct unwind_regs){ .machine = m, .pc = 0x100, .sp = 0x8000, .all_at = 0x8000 };
	row.reg = UNWIND_DWARF;
	OK(unwind_step(&row, &r, read_words, &w) == UNWIND_NO_REGISTER);
	row = unwind_called(m);
	OK_STR(text_of(&row), "sp+0 bx=? guessed");
	row = unwind_called(&machine_x86_64);
	OK_STR(text_of(&row), "sp+8 ra=[cfa-8] bx=? guessed");
}

static void test_guesses(void)
{
	static const uint8_t code[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48,
					0x89, 0xe5, 0x90, 0x5d, 0xc3 };
	static const char *const wanted[] = { "sp+8 ra=[cfa-8] bx=? guessed",
					      "sp+16 ra=[cfa-8] fp=[cfa-16] bx=? guessed",
					      "fp+16 ra=[fp+8] fp=[fp+0] bx=? guessed",
					      "sp+16 ra=[cfa-8] fp=[cfa-16] bx=?",
					      "sp+8 ra=[cfa-8] bx=?" };
	static const int at[][2] = { { 0, 0 }, { 4, 0 }, { 5, 1 }, { 8, 2 }, { 9, 3 }, { 10, 4 } };
	for (int i = 0; i < (int)ARRAY_LEN(at); i++) {
		size_t n = (size_t)at[i][0];
		struct unwind_row row =
			unwind_guess(&machine_x86_64, true, code + n, n, sizeof(code) - n);
		OK_STR(text_of(&row), wanted[at[i][1]]);
	}
	struct unwind_row row = unwind_guess(&machine_x86_64, false, code, 0, sizeof(code));
	OK_STR(text_of(&row), wanted[2]); /* the start of a function is no return address */
	static const uint8_t arm[] = { 0x3f, 0x23, 0x03, 0xd5, 0xfd, 0x7b, 0xbe, 0xa9,
				       0xfd, 0x03, 0x00, 0x91, 0xc0, 0x03, 0x5f, 0xd6 };
	static const char *const arm_wanted[] = {
		"sp+0 bx=? guessed", "sp+0 bx=? guessed",
		"sp+32 ra=[cfa-24] fp=[cfa-32] bx=? signed guessed", "sp+0 bx=? guessed"
	};
	for (size_t i = 0; i < 4; i++) {
		row = unwind_guess(&machine_aarch64, true, arm + 4 * i, 4 * i, 16 - 4 * i);
		OK_STR(text_of(&row), arm_wanted[i]);
	}
	row = unwind_guess(&machine_aarch64, true, NULL, 0, 0);
	OK_STR(text_of(&row), "fp+16 ra=[fp+8] fp=[fp+0] bx=? signed guessed");
}

/* Until its frame pointer is set, which would lead past the caller. */
static void test_go(void)
{
	static const uint8_t code[] = { 0x49, 0x3b, 0x66, 0x10, 0x76, 0x38, 0x48, 0x83, 0xec, 0x18,
					0x48, 0x89, 0x6c, 0x24, 0x10, 0x48, 0x8d, 0x6c, 0x24, 0x10,
					0x48, 0x89, 0x44, 0x24, 0x20, 0x90, 0x90, 0x90 },
			     large[] = { 0x4d, 0x3b, 0x66, 0x10, 0x0f, 0x86, 0x2a, 5,    0,
					 0,    0x48, 0x81, 0xec, 0x88, 0,    0,    0,    0x48,
					 0x89, 0xac, 0x24, 0x80, 0,    0,    0,    0x48, 0x8d,
					 0xac, 0x24, 0x80, 0,    0,    0,    0x90, 0x90 };
	static const struct {
		size_t at;
		const char *small, *large;
	} wanted[] = {
		{ 0, "sp+8 ra=[cfa-8] bx=? guessed", "sp+8 ra=[cfa-8] bx=? guessed" },
		{ 4, "sp+8 ra=[cfa-8] bx=? guessed", "sp+8 ra=[cfa-8] bx=? guessed" },
		{ 6, "sp+8 ra=[cfa-8] bx=? guessed", NULL },
		{ 10, "sp+32 ra=[cfa-8] bx=? guessed", "sp+8 ra=[cfa-8] bx=? guessed" },
		{ 15, "sp+32 ra=[cfa-8] fp=[cfa-16] bx=? guessed", NULL },
		{ 17, NULL, "sp+144 ra=[cfa-8] bx=? guessed" },
		{ 20, "fp+16 ra=[fp+8] fp=[fp+0] bx=? guessed", NULL },
		{ 25, NULL, "sp+144 ra=[cfa-8] fp=[cfa-16] bx=? guessed" },
	};
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		size_t n = wanted[i].at;
		struct unwind_row row;
		if (wanted[i].small) {
			row = unwind_guess(&machine_x86_64, true, code + n, n, sizeof(code) - n);
			OK_STR(text_of(&row), wanted[i].small);
		}
		if (wanted[i].large) {
			row = unwind_guess(&machine_x86_64, true, large + n, n, sizeof(large) - n);
			OK_STR(text_of(&row), wanted[i].large);
		}
	}
}

/* bti c; adrp x16, slot; ldr x17, [x16, slot]; add x16, x16, slot; br x17: a PLT entry has no
 * frame. */
static void test_linkage(void)
{
	static const uint8_t arm[] = { 0x5f, 0x24, 0x03, 0xd5, 0x10, 0x01, 0x00, 0xb0, 0x11, 0xfe,
				       0x47, 0xf9, 0x10, 0xe2, 0x3f, 0x91, 0x20, 0x02, 0x1f, 0xd6 };
	for (size_t i = 0; i < sizeof(arm); i += 4) {
		struct unwind_row row =
			unwind_guess(&machine_aarch64, true, arm + i, i, sizeof(arm) - i);
		OK_STR(text_of(&row), "sp+0 bx=? guessed");
	}
}

/* Code that runs straight to its return: no guess. */
static void test_leaving(void)
{
	/* python 3.12's trampoline: sub $8, %rsp; call *%rcx; add $8, %rsp; ret */
	static const uint8_t python[] = { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1,
					  0x48, 0x83, 0xc4, 0x08, 0xc3 };
	/* add $0x100, %rsp; pop %rbx; pop %rbp; pop %r12; ret */
	static const uint8_t pops[] = { 0x48, 0x81, 0xc4, 0x00, 0x01, 0x00,
					0x00, 0x5b, 0x5d, 0x41, 0x5c, 0xc3 };
	/* endbr64; bnd jmp *slot(%rip): an entry of a PLT, for which lld and mold write no
	 * call-frame information; and pop %rbx; jmp *slot(%rip) */
	static const uint8_t
		plt[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 1, 2, 3, 0 },
		mold[] = { 0x41, 0xbb, 4, 0, 0, 0, 0xff, 0x25, 1, 2, 3, 0 },
		tail[] = { 0x5b, 0xff, 0x25, 1, 2, 3, 0 },
		/* push slot; jmp *slot: more is on the stack than the return address */
		binding[] = { 0xff, 0x35, 1, 2, 3, 0, 0xff, 0x25, 1, 2, 3, 0 };
	static const struct {
		const uint8_t *code;
		size_t at, n;
		bool exact;
		const char *row;
	} cases[] = {
		{ plt, 0, 11, true, "sp+8 ra=[cfa-8] bx=?" },
		{ plt, 4, 11, true, "sp+8 ra=[cfa-8] bx=?" },
		{ mold, 0, 12, true, "sp+8 ra=[cfa-8] bx=?" },
		{ binding, 6, 12, true, "fp+16 ra=[fp+8] fp=[fp+0] bx=? guessed" },
		{ tail, 0, 7, true, "sp+16 ra=[cfa-8] bx=?" },
		{ tail, 1, 7, true, "sp+8 ra=[cfa-8] bx=?" },
		{ python, 0, 11, true, "sp+8 ra=[cfa-8] bx=?" },
		{ python, 4, 11, true, "sp+16 ra=[cfa-8] bx=?" },
		{ python, 6, 11, false, "sp+16 ra=[cfa-8] bx=?" },
		{ python, 6, 10, false, "fp+16 ra=[fp+8] fp=[fp+0] bx=? guessed" },
		{ pops, 0, 12, false, "sp+288 ra=[cfa-8] fp=[cfa-24] bx=?" },
		{ pops, 8, 12, true, "sp+24 ra=[cfa-8] fp=[cfa-24] bx=?" },
		{ pops, 9, 12, true, "sp+16 ra=[cfa-8] bx=?" },
	};
	for (int i = 0; i < (int)ARRAY_LEN(cases); i++) {
		struct unwind_row row =
			unwind_guess(&machine_x86_64, cases[i].exact, cases[i].code + cases[i].at,
				     cases[i].at, cases[i].n - cases[i].at);
		OK_STR(text_of(&row), cases[i].row);
	}
}

static bool is_0x1110(void *arg, uint64_t addr)
{
	(void)arg;
	return addr == 0x1110;
}

/* Tables that leave epilogues out: the code behind "leave", "add" and "pop" says where the return
 * address is, if one is there. */
static void test_has_left(void)
{
	static const uint8_t leave[] = { 0xc9, 0xc3 },
			     add[] = { 0x48, 0x83, 0xc4, 8, 0x5d, 0x41, 0x5c, 0xc3 },
			     add_more[] = { 0x48, 0x81, 0xc4, 0, 1, 0, 0, 0xc3 },
			     retpoline[] = { 0x48, 0x89, 0x04, 0x24, 0xc3 };
	static const struct {
		const uint8_t *code;
		size_t at, n;
		unsigned reg;
		int16_t cfa;
		size_t return_at;
		const char *row; /* NULL: the table's holds */
	} cases[] = {
		{ leave, 1, 2, UNWIND_FP, 16, 0, "sp+8 ra=[cfa-8] bx=?" },
		{ leave, 1, 2, UNWIND_SP, 8, 0, NULL },
		{ leave, 1, 2, UNWIND_FP, 16, 1, NULL }, /* no return address */
		{ leave, 0, 2, UNWIND_FP, 16, 0, NULL },
		{ add, 0, 8, UNWIND_FP, 16, 3, NULL }, /* it has taken nothing off yet */
		{ add, 4, 8, UNWIND_SP, 32, 2, "sp+24 ra=[cfa-8] fp=[cfa-24] bx=?" },
		{ add, 5, 8, UNWIND_SP, 24, 1, "sp+16 ra=[cfa-8] bx=?" },
		{ add, 7, 8, UNWIND_FP, 16, 0, "sp+8 ra=[cfa-8] bx=?" },
		{ add_more, 7, 8, UNWIND_SP, 264, 0, "sp+8 ra=[cfa-8] bx=?" },
		{ retpoline, 4, 5, UNWIND_SP, 16, 0, NULL }, /* a jump to the word it pushed */
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t stack[8] = { 0 };
		struct words w = { 0x8000, stack, 8 };
		struct unwind_regs r = { .machine = &machine_x86_64, .sp = 0x8000, .exact = true };
		struct unwind_row row = { .cfa = UNWIND_CFA_REG, .reg = cases[i].reg & 255 };
		row.cfa_offset = cases[i].cfa;
		stack[cases[i].return_at] = 0x1110;
		bool left =
			unwind_has_left(&r, &row, cases[i].code + cases[i].at, cases[i].at,
					cases[i].n - cases[i].at, read_words, is_0x1110, &w, &row);
		OK(left == (cases[i].row != NULL));
		if (cases[i].row)
			OK_STR(text_of(&row), cases[i].row);
	}
}

/* ---- registers of a sample ---- */

static void regs_of(const struct machine *m, uint64_t mask, const uint64_t *values, uint64_t *all,
		    struct unwind_regs *ret)
{
	struct perf_places p = unwind_perf_places(m, mask);
	unwind_regs_of_perf(&p, values, all, ret);
}

static void test_perf_registers(void)
{
	/* bx, bp, sp, ip, r10 by the kernel's numbers */
	static const uint64_t x86_mask = 1 << 1 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 18;
	static const uint64_t x86[] = { 0xb, 0x6, 0x7, 0x8, 0xa };
	uint64_t all[MACHINE_REGISTERS];
	struct unwind_regs r;
	regs_of(&machine_x86_64, x86_mask, x86, all, &r);
	OK(r.machine == &machine_x86_64 && r.exact && r.all == all);
	OK(r.bx == 0xb && r.fp == 0x6 && r.sp == 0x7 && r.pc == 0x8 && all[10] == 0xa);
	OK(!all[0] && !r.bx_unknown);
	/* x0, x29, lr, sp, pc */
	static const uint64_t arm_mask = UINT64_C(1) | UINT64_C(0xf) << 29;
	static const uint64_t arm[] = { 0x1, 0x29, 0x30, 0x31, 0x32 };
	regs_of(&machine_aarch64, arm_mask, arm, all, &r);
	OK(all[0] == 1 && r.fp == 0x29 && r.lr == 0x30 && r.sp == 0x31 && r.pc == 0x32 && !all[1]);
}

/* ---- walks ---- */

struct code {
	struct unwind_table *table;
	size_t calls;
	bool gone; /* its memory */
};

/* [0x1000, 0x2000) has a table, [0x5000, 0x6000) has none. */
static bool find(void *arg, uint64_t pc, struct unwind_code *ret)
{
	struct code *c = arg;
	c->calls++;
	ret->table = pc >= 0x1000 && pc < 0x2000 ? c->table : NULL;
	ret->bias = 0x1000 - 0x4000;
	return ret->table || (pc >= 0x5000 && pc < 0x6000);
}

static struct unwind_table *table_of_two(void)
{
	static const uint8_t start[] = { 0x0c, 7, 8, 0x90, 1 }, frame[] = { 0x0e, 16 },
			     last[] = { 0x07, 16 };
	static struct cfi_build b;
	b = (struct cfi_build){ 0 };
	cfi_cie(&b, false, 16, start, sizeof(start));
	cfi_fde(&b, 0x4000, 0x100, frame, sizeof(frame));
	cfi_fde(&b, 0x4100, 0x100, last, sizeof(last));
	struct cfi_section s = cfi_finish(&b, &machine_x86_64);
	return unwind_table_new(s.machine, &s, 1, NULL, NULL);
}

static struct unwind_walk walk(struct unwinder *u, const uint64_t *stack, size_t n, uint64_t pc,
			       uint64_t *pcs, size_t max)
{
	struct unwind_walk w = { .copy = (const void *)stack,
				 .copy_addr = 0x8000,
				 .copy_size = n * 8 };
	w.regs = (struct unwind_regs){
		.machine = &machine_x86_64, .pc = pc, .sp = 0x8000, .fp = 0x8010, .exact = true
	};
	unwinder_walk(u, &w, pcs, max);
	return w;
}

/* A table that says the frame pointer leads to the caller. */
static struct unwind_table *table_by_fp(void)
{
	static const uint8_t start[] = { 0x0c, 6, 16, 0x90, 1 };
	static struct cfi_build b;
	b = (struct cfi_build){ 0 };
	cfi_cie(&b, false, 16, start, sizeof(start));
	cfi_fde(&b, 0x4000, 0x200, start, 0);
	struct cfi_section s = cfi_finish(&b, &machine_x86_64);
	return unwind_table_new(s.machine, &s, 1, NULL, NULL);
}

struct called {
	struct code code;
	const uint8_t *around; /* 16 bytes before any address, and 16 from it on */
	bool made;             /* at run time */
};

static bool find_called(void *arg, uint64_t pc, struct unwind_code *ret)
{
	struct called *c = arg;
	ret->is_file = !c->made;
	return find(&c->code, pc, ret);
}

static size_t read_called(void *arg, uint64_t addr, uint8_t *ret, size_t size)
{
	(void)addr;
	size = size < 32 ? size : 32;
	memcpy(ret, ((struct called *)arg)->around, size);
	return size;
}

/* A return address is behind a call, or behind a jump if it was pushed before; or a function starts
 * there that leaves the stack, which makecontext() put there: there the stack begins. */
static void test_origins(void)
{
	static const uint8_t start[] = { 0x0c, 7, 8, 0x90, 1 };
	static const struct {
		uint8_t around[32];
		size_t n;
		enum unwind_end end;
	} cases[] = {
		{ { [11] = 0xe8 }, 3, UNWIND_DAMAGED },              /* call */
		{ { [14] = 0xff, 0xd0 }, 3, UNWIND_DAMAGED },        /* call *%rax */
		{ { [14] = 0xeb }, 3, UNWIND_DAMAGED },              /* jmp */
		{ { [14] = 0xff, 0xe0 }, 3, UNWIND_DAMAGED },        /* jmp *%rax */
		{ { [16] = 0x48, 0x89, 0xdc }, 2, UNWIND_COMPLETE }, /* mov %rbx, %rsp */
		{ { [16] = 0x48, 0x89, 0xec }, 1, UNWIND_DAMAGED },  /* mov %rbp, %rsp */
		{ { [16] = 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x8b, 0xe3 }, 2, UNWIND_COMPLETE },
		{ { [4] = 0x0f, 0x05, 0x85, 0xc0, 0x75, 0x0f, 0x31, 0xed, 0x5f, 0x41, 0xff, 0xd1 },
		  2,
		  UNWIND_COMPLETE },                    /* the child of musl's clone() */
		{ { [15] = 0xc3 }, 1, UNWIND_DAMAGED }, /* ret */
	};
	static struct cfi_build b;
	b = (struct cfi_build){ 0 };
	cfi_cie(&b, false, 16, start, sizeof(start));
	cfi_fde(&b, 0x4000, 0x100, start, 0);
	struct cfi_section s = cfi_finish(&b, &machine_x86_64);
	struct called c = { .code = { .table = unwind_table_new(s.machine, &s, 1, NULL, NULL) } };
	struct unwinder_opts opts = { .find = find_called, .code = read_called, .arg = &c };
	const uint64_t stack[] = { 0x1080, 0x1090, 0, 0 };
	uint64_t pcs[8];
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		c.around = cases[i].around;
		struct unwinder *u = unwinder_new(&opts);
		struct unwind_walk w = walk(u, stack, 4, 0x1010, pcs, 8);
		printf("# origin %zu: %s, %zu frames\n", i, unwind_end_name(w.end), w.n);
		OK(w.end == cases[i].end && w.n == cases[i].n && !w.guessed);
		unwinder_free(u);
	}
	c.made = true; /* interpreters push addresses behind anything */
	struct unwinder *u = unwinder_new(&opts);
	OK(walk(u, stack, 4, 0x1010, pcs, 8).n == 3);
	unwinder_free(u);
	unwind_table_free(c.code.table);
}

/* Each walk has the reason of its end: a senseless rule of the table, or a senseless guess. */
static void test_ends(void)
{
	const uint64_t stack[64] = { 0 };
	uint64_t pcs[64];
	struct code c = { .table = table_by_fp() };
	struct unwinder *u = unwinder_new(&(struct unwinder_opts){ .find = find, .arg = &c });
	struct unwind_walk w = { .copy = (const void *)stack,
				 .copy_addr = 0x8000,
				 .copy_size = sizeof(stack) };
	static const uint64_t below[] = { 0x1010, 0x5500 };
	static const enum unwind_end ends[] = { UNWIND_DAMAGED, UNWIND_NO_CFI };
	for (int i = 0; i < 2; i++) {
		w.regs = (struct unwind_regs){ .machine = &machine_x86_64,
					       .pc = below[i],
					       .sp = 0x8000,
					       .fp = 0x7000,
					       .exact = true };
		unwinder_walk(u, &w, pcs, 64);
		OK(w.end == ends[i] && w.n == 1);
	}
	unwinder_free(u);
	unwind_table_free(c.table);
	OK_STR(unwind_end_name(UNWIND_COMPLETE), "complete");
	OK_STR(unwind_end_name(UNWIND_TRUNCATED), "truncated");
	OK_STR(unwind_end_name(UNWIND_DEPTH), "too deep");
	OK_STR(unwind_end_name(UNWIND_NO_CFI), "no call-frame information");
	OK_STR(unwind_end_name(UNWIND_DAMAGED), "damaged");
}

/* The trampoline that a signal handler returns to has all registers of the interrupted function in
 * its frame. */
static void test_signal_rows(void)
{
	static const uint8_t sigreturn[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	const struct machine *m = &machine_x86_64;
	struct unwind_row row;
	OK(unwind_is_sigreturn(m, sigreturn, sizeof(sigreturn), &row));
	OK(row.cfa == UNWIND_CFA_DEREF && row.reg == UNWIND_SP && row.flags == UNWIND_SIGNAL);
	OK(row.cfa_offset == m->signal[m->sp]);
	OK(row.ra == UNWIND_AT_SP && 8 * row.ra_offset == m->signal_pc);
	OK(row.fp == UNWIND_AT_SP && 8 * row.fp_offset == m->signal[m->fp]);
	OK(row.bx == UNWIND_AT_SP && 8 * row.bx_offset == m->signal[m->bx]);
	OK(!unwind_is_sigreturn(m, sigreturn, sizeof(sigreturn) - 1, &row));
	m = &machine_aarch64; /* has no third register of that kind */
	unwind_is_sigreturn(m, sigreturn, sizeof(sigreturn), &row);
	OK(row.bx != UNWIND_AT_SP && row.fp == UNWIND_AT_SP);
}

static void test_walks(void)
{
	uint64_t stack[64], pcs[64];
	struct code c = { .table = table_of_two() };
	struct unwinder *u = unwinder_new(&(struct unwinder_opts){ .find = find, .arg = &c });
	for (size_t i = 0; i < 64; i++)
		stack[i] = i % 2 ? 0x1010 : 0;
	stack[41] = 0x1110; /* 21 frames, then the outermost */
	struct unwind_walk w = walk(u, stack, 64, 0x1010, pcs, 64);
	OK(w.end == UNWIND_COMPLETE && w.n == 22 && !w.guessed && !w.missing);
	OK_STR(unwind_end_name(w.end), "complete");
	OK(pcs[0] == 0x1010 && pcs[20] == 0x1010 && pcs[21] == 0x1110);
	OK(c.calls <= 3); /* found tables are cached */
	w = walk(u, stack, 64, 0x1010, pcs, 5);
	OK(w.end == UNWIND_DEPTH && w.n == 5);
	w = walk(u, stack, 10, 0x1010, pcs, 64);
	OK(w.end == UNWIND_TRUNCATED && w.n == 6 && w.missing == 0x8058);
	w = walk(u, stack, 0, 0x1010, pcs, 64);
	OK(w.end == UNWIND_TRUNCATED && w.n == 1);
	stack[3] = 0x9999; /* no code */
	w = walk(u, stack, 64, 0x1010, pcs, 64);
	OK(w.end == UNWIND_DAMAGED && w.n == 2);
	OK_STR(unwind_end_name(w.end), "damaged");
	stack[3] = 0; /* a return address of 0 proves nothing, */
	w = walk(u, stack, 64, 0x1010, pcs, 64);
	OK(w.end == UNWIND_DAMAGED && w.n == 2);
	w.regs = (struct unwind_regs){ /* nor does a frame pointer of 0 */
				       .machine = &machine_x86_64,
				       .pc = 0x5500,
				       .sp = 0x8000,
				       .exact = true
	};
	unwinder_walk(u, &w, pcs, 64);
	OK(w.end == UNWIND_NO_CFI && w.n == 1);
	/* code without any information: the frame pointer (0x8010) says where its caller is */
	stack[2] = 0x8020;
	stack[3] = 0x1010;
	w = walk(u, stack, 64, 0x5500, pcs, 64);
	OK(w.end == UNWIND_COMPLETE && w.guessed == 1 && pcs[0] == 0x5500 && pcs[1] == 0x1010);
	OK(w.n == 21 && w.certain == 1);
	/* the same struct again, of a walk without guesses */
	w.regs = (struct unwind_regs){
		.machine = &machine_x86_64, .pc = 0x1010, .sp = 0x8000, .fp = 0x8010, .exact = true
	};
	w.missing = 5;
	unwinder_walk(u, &w, pcs, 64);
	OK(w.end == UNWIND_COMPLETE && !w.guessed && !w.missing && w.certain == w.n);
	/* a call to nowhere */
	stack[0] = 0x1010;
	stack[2] = 0x1010;
	w = walk(u, stack, 3, 0, pcs, 64);
	OK(w.n == 3 && pcs[0] == 0 && pcs[1] == 0x1010 && w.guessed == 1);
	unwinder_free(u);
	u = unwinder_new(&(struct unwinder_opts){ .find = find, .arg = &c, .no_guess = true });
	w = walk(u, stack, 64, 0x5500, pcs, 64);
	OK(w.end == UNWIND_NO_CFI && w.n == 1);
	unwinder_free(u);
	unwind_table_free(c.table);
}

/* "push %rbp; mov %rsp, %rbp" at 0x5500, a system call for signal handlers at 0x5600, "add $8,
 * %rsp; ret" at 0x5700. */
static size_t code_at(void *arg, uint64_t addr, uint8_t *ret, size_t size)
{
	static const uint8_t push[] = { 0x55, 0x48, 0x89, 0xe5 };
	static const uint8_t sigreturn[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t leave[] = { 0x48, 0x83, 0xc4, 0x08, 0xc3 };
	if (((const struct code *)arg)->gone)
		return 0;
	for (size_t i = 0; i < size; i++, addr++) {
		ret[i] = 0x90;
		if (addr - 0x5700 < sizeof(leave))
			ret[i] = leave[addr - 0x5700];
		if (addr - 0x5500 < sizeof(push))
			ret[i] = push[addr - 0x5500];
		if (addr - 0x5600 < sizeof(sigreturn))
			ret[i] = sigreturn[addr - 0x5600];
	}
	return size;
}

/* Code without a table is read: the start of a function, the trampoline of a signal handler. */
static void test_walks_by_code(void)
{
	uint64_t stack[64] = { 0x1110, 0x1110, 0, 0x1110 }, pcs[64];
	struct code c = { .table = table_of_two() };
	struct unwinder *u =
		unwinder_new(&(struct unwinder_opts){ .find = find, .code = code_at, .arg = &c });
	static const struct {
		uint64_t pc;
		size_t return_at;
	} wanted[] = { { 0x5500, 0 }, { 0x5501, 1 }, { 0x5504, 3 } }; /* by sp, sp, fp */
	for (size_t i = 0; i < 3; i++) {
		for (size_t k = 0; k < 4; k++)
			stack[k] = k == wanted[i].return_at ? 0x1110 : k == 2 ? 0x8040 : 0x9999;
		struct unwind_walk w = walk(u, stack, 64, wanted[i].pc, pcs, 64);
		OK(w.end == UNWIND_COMPLETE && w.n == 2 && pcs[1] == 0x1110 && w.guessed == 1);
	}
	stack[0] = 0x8010; /* of 0x1010, which returns to the system call */
	stack[1] = 0x5600;
	const struct machine *m = &machine_x86_64;
	uint64_t *frame = stack + 2;
	frame[m->signal[m->sp] / 8] = 0x8100;
	frame[m->signal_pc / 8] = 0x1110;
	struct unwind_walk w = walk(u, stack, 64, 0x1010, pcs, 64);
	OK(w.end == UNWIND_COMPLETE && w.n == 3 && pcs[1] == 0x5600 && pcs[2] == 0x1110 &&
	   !w.guessed);
	OK(w.top == 0x8100);
	unwinder_free(u);
	unwind_table_free(c.table);
}

/* Rules from code stay known when the code cannot be read any more, until mappings change. */
static void test_code_that_is_gone(void)
{
	uint64_t stack[64] = { 0, 0x1110, 0x8040, 0x1110 }, pcs[64];
	struct code c = { .table = table_of_two() };
	struct unwinder *u =
		unwinder_new(&(struct unwinder_opts){ .find = find, .code = code_at, .arg = &c });
	struct unwind_walk w = walk(u, stack, 64, 0x5700, pcs, 64);
	OK(w.end == UNWIND_COMPLETE && w.n == 2 && !w.guessed && w.top == 0x8010);
	c.gone = true;
	w = walk(u, stack, 64, 0x5700, pcs, 64);
	OK(w.end == UNWIND_COMPLETE && w.n == 2 && !w.guessed && w.top == 0x8010);
	w = walk(u, stack, 64, 0x5710, pcs, 64);
	OK(w.n == 2 && w.guessed == 1 && w.top == 0x8020); /* by the frame pointer */
	walk(u, stack, 64, 0x1110, pcs, 64);
	size_t calls = c.calls;
	w = walk(u, stack, 64, 0x1110, pcs, 64);
	OK(w.n == 1 && c.calls == calls); /* kept */
	unwinder_flush(u);
	w = walk(u, stack, 64, 0x1110, pcs, 64);
	OK(w.n == 1 && c.calls == calls + 1); /* looked up again */
	w = walk(u, stack, 64, 0x5700, pcs, 64);
	OK(w.n == 2 && w.guessed == 1 && w.top == 0x8020);
	unwinder_free(u);
	unwind_table_free(c.table);
}

/* ---- this process ---- */

#ifdef __x86_64__
static bool read_own(void *arg, uint64_t addr, uint64_t *ret)
{
	(void)arg;
	memcpy(ret, (const void *)(uintptr_t)addr, sizeof(*ret));
	return true;
}

struct place {
	uint64_t pc;
	struct cfi_section section;
	bool found;
};

static int find_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct place *p = arg;
	const ElfW(Phdr) *hdr = NULL;
	bool covers = false;
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		covers |= h->p_type == PT_LOAD && p->pc - info->dlpi_addr - h->p_vaddr < h->p_memsz;
		if (h->p_type == PT_GNU_EH_FRAME)
			hdr = h;
	}
	for (int i = 0; covers && hdr && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + h->p_vaddr;
		if (h->p_type == PT_LOAD && hdr->p_vaddr - h->p_vaddr < h->p_filesz)
			p->found |= cfi_from_segment(
				&machine_x86_64, (const void *)(uintptr_t)start, h->p_filesz, start,
				info->dlpi_addr + hdr->p_vaddr, hdr->p_memsz, &p->section);
	}
	return covers;
}

static struct {
	uint64_t own[64];
	void *theirs[64];
	size_t n;
	int n_theirs;
	enum unwind_status end;
	bool signal;
} result;

static void handle(int sig)
{
	ucontext_t here;
	struct cfi_fde f;
	struct unwind_row row;
	(void)sig;
	getcontext(&here);
	result.n_theirs = backtrace(result.theirs, 64);
	const greg_t *g = here.uc_mcontext.gregs;
	struct unwind_regs r = { .machine = &machine_x86_64,
				 .pc = (uint64_t)g[REG_RIP],
				 .sp = (uint64_t)g[REG_RSP],
				 .fp = (uint64_t)g[REG_RBP],
				 .bx = (uint64_t)g[REG_RBX] };
	result.end = UNWIND_OK;
	for (result.n = 0; result.end == UNWIND_OK && result.n < 64;) {
		struct place p = { .pc = unwind_lookup_pc(&r) };
		result.own[result.n++] = r.pc;
		dl_iterate_phdr(find_module, &p);
		if (!p.found || !cfi_find(&p.section, p.pc, &f) ||
		    !cfi_row(&p.section, &f, p.pc, &row))
			break;
		result.signal |= row.flags & UNWIND_SIGNAL;
		result.end = unwind_step(&row, &r, read_own, NULL);
	}
}

static __attribute__((noinline)) void interrupted(int depth)
{
	_Alignas(64) volatile char aligned[128]; /* its CFA is read from memory */
	aligned[depth] = 1;
	if (depth)
		interrupted(depth - 1);
	else
		raise(SIGUSR1);
	aligned[depth] = aligned[depth + 1];
}

static int compare(const void *a, const void *b)
{
	(void)a;
	(void)b;
	interrupted(3);
	return 0;
}

static void check_result(void)
{
	/* From the outermost frame inward, but for the handler's own: one pc was taken after the
	 * other, and a sanitizer's backtrace() has a frame more. */
	size_t same = 0, n = result.n, m = (size_t)result.n_theirs;
	while (same < n && same < m &&
	       result.own[n - 1 - same] == (uint64_t)(uintptr_t)result.theirs[m - 1 - same])
		same++;
	printf("# %zu frames, backtrace() %d, same %zu\n", result.n, result.n_theirs, same);
	OK(result.end == UNWIND_END && result.signal);
	OK(n > 8 && m >= n && same == n - 1);
}

/* Out of a handler, through the C library's signal frame, and through qsort, up to _start; on the
 * stack that was interrupted, and on one of its own. */
static void test_own_stack(void)
{
	static char other[65536];
	int two[2] = { 1, 2 };
	struct sigaction a = { .sa_handler = handle };
	backtrace(result.theirs, 1); /* loads libgcc */
	sigaction(SIGUSR1, &a, NULL);
	qsort(two, 2, sizeof(*two), compare);
	check_result();
	result.signal = false;
	stack_t alt = { .ss_sp = other, .ss_size = sizeof(other) };
	sigaltstack(&alt, NULL);
	a.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &a, NULL);
	qsort(two, 2, sizeof(*two), compare);
	check_result();
}
#endif

/* ---- walks that go on as the last one did ---- */

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

enum { TRAIL_WORDS = 96, TRAIL_WALKS = 4000 };

/* Every function has a frame pointer, and [0x4100, 0x4200) is the outermost. */
static struct unwind_table *table_of_frames(void)
{
	static const uint8_t start[] = { 0x0c, 6, 16, 0x90, 1, 0x86, 2 }, last[] = { 0x07, 16 };
	static struct cfi_build b;
	b = (struct cfi_build){ 0 };
	cfi_cie(&b, false, 16, start, sizeof(start));
	cfi_fde(&b, 0x4000, 0x100, start, 0);
	cfi_fde(&b, 0x4100, 0x100, last, sizeof(last));
	struct cfi_section s = cfi_finish(&b, &machine_x86_64);
	return unwind_table_new(s.machine, &s, 1, NULL, NULL);
}

/* Frame pointers and return addresses by turns; now and then one without a table, nonsense, an
 * address that is no code, or the end. */
static uint64_t any_word(uint32_t *seed, size_t at)
{
	switch (next_random(seed) % 48) {
	case 0:
		return 0x1110;
	case 1:
		return next_random(seed) % 2 ? 0x5500 : 0x9999;
	case 2:
		return next_random(seed) % 2 ? 0 : 0x8000 + 8 * (at + next_random(seed) % 12);
	}
	return at % 2 ? 0x1010 + next_random(seed) % 4 : 0x8000 + 8 * (at + 2);
}

/* Stacks that change in a few words, and now and then in their end, from one walk to the next: the
 * result is the same with and without the trail of the last walk. */
static void test_trail(struct unwind_table *table, uint32_t seed)
{
	uint64_t stack[TRAIL_WORDS], plain[64], pcs[64], last[64];
	struct code c = { .table = table };
	struct unwinder *u = unwinder_new(&(struct unwinder_opts){ .find = find, .arg = &c });
	struct unwind_trail trail = { 0 };
	size_t n_last = 0, n_same = 0, differ = 0, wrong = 0;
	for (size_t i = 0; i < TRAIL_WORDS; i++)
		stack[i] = any_word(&seed, i);
	for (int i = 0; i < TRAIL_WALKS; i++) {
		for (uint32_t k = next_random(&seed) % 3; k; k--) {
			size_t at =
				next_random(&seed) % (next_random(&seed) % 4 ? 12 : TRAIL_WORDS);
			stack[at] = any_word(&seed, at);
		}
		if (!(next_random(&seed) % 50))
			unwinder_flush(u);
		size_t first = next_random(&seed) % 2 * 2;
		struct unwind_walk a = { .copy = (const void *)(stack + first),
					 .copy_addr = 0x8000 + 8 * first,
					 .copy_size = 8 * (TRAIL_WORDS - first) };
		if (!(next_random(&seed) % 5))
			a.copy_size = next_random(&seed) % a.copy_size;
		a.regs = (struct unwind_regs){ .machine = &machine_x86_64,
					       .pc = 0x1010 + next_random(&seed) % 4,
					       .sp = a.copy_addr,
					       .fp = 0x8000 + 8 * (next_random(&seed) % 8),
					       .exact = true };
		struct unwind_walk b = a;
		size_t max = next_random(&seed) % 10 ? 64 : 7;
		b.trail = &trail;
		unwinder_walk(u, &a, plain, max);
		unwinder_walk(u, &b, pcs, max);
		differ += a.n != b.n || a.end != b.end || a.top != b.top ||
			  a.guessed != b.guessed || a.certain != b.certain ||
			  memcmp(plain, pcs, a.n * sizeof(*pcs)) != 0;
		wrong += b.n_same > n_last || b.n_same > b.n ||
			 memcmp(last + n_last - b.n_same, pcs + b.n - b.n_same,
				b.n_same * sizeof(*pcs)) != 0;
		n_same += b.n_same;
		memcpy(last, pcs, b.n * sizeof(*pcs));
		n_last = b.n;
	}
	OK(!differ);
	OK(!wrong);
	OK(n_same > TRAIL_WALKS / 10);
	unwind_trail_free(&trail);
	unwinder_free(u);
	unwind_table_free(table);
}

int main(void)
{
	test_steps();
	test_aarch64();
	test_riscv64();
	test_guesses();
	test_go();
	test_linkage();
	test_leaving();
	test_has_left();
	test_perf_registers();
	test_walks();
	test_ends();
	test_origins();
	for (uint32_t seed = 1; seed <= 8; seed++) {
		test_trail(table_of_two(), seed);
		test_trail(table_of_frames(), seed);
	}
	test_signal_rows();
	test_walks_by_code();
	test_code_that_is_gone();
#ifdef __x86_64__
	test_own_stack();
#endif
	return DONE();
}
