/* Facts about each machine: its registers, calls, frames and linkage tables. */
#include <elf.h>
#include <string.h>

#include "base/err.h"
#include "gnu/rules.h"
#include "machine/machine.h"
#include "object/object.h"
#include "tap.h"
#include "unwind/perf_regs.h"

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static const struct machine *const walked[] = { &machine_x86_64, &machine_aarch64,
						&machine_riscv64 };

static void test_find(void)
{
	OK(machine_find(EM_X86_64) == &machine_x86_64 && machine_find(EM_386) == &machine_i386);
	OK(machine_find(EM_AARCH64) == &machine_aarch64);
	OK(machine_find(EM_RISCV) == &machine_riscv64);
	OK(!machine_find(EM_S390) && !machine_find(EM_NONE) && !machine_find(0x10000 | EM_X86_64));
	OK(machine_by_name("riscv64") == &machine_riscv64 && !machine_by_name("i386"));
	for (size_t i = 0; i < N_OF(walked); i++)
		OK(machine_by_registers(walked[i]->perf_mask) == walked[i]);
	OK(machine_by_registers(UINT64_MAX) == &machine_aarch64);
	OK(!machine_by_registers(0) && !machine_by_registers(0xffff));
	OK(machine_native() == machine_by_name(KIN_MACHINE));
	OK(!machine_by_name("ppc64le") && !machine_by_name(""));
}

/* Every register is somewhere, and no two at one place. */
static void test_registers(void)
{
	for (size_t i = 0; i < N_OF(walked); i++) {
		const struct machine *m = walked[i];
		uint64_t seen = UINT64_C(1) << m->perf_pc, places = UINT64_C(1)
								    << m->signal_pc / 8 % 64;
		for (unsigned n = 0; n < m->n_registers; n++) {
			if (m->perf[n] == MACHINE_NO_REGISTER)
				continue;
			OK(!(seen >> m->perf[n] & 1) && !(places >> m->signal[n] / 8 % 64 & 1));
			seen |= UINT64_C(1) << m->perf[n];
			places |= UINT64_C(1) << m->signal[n] / 8 % 64;
		}
		OK(seen == m->perf_mask);
		OK(m->sp < m->n_registers && m->fp < m->n_registers);
	}
}

static uint64_t gist(const struct machine *m, const char *code, size_t size)
{
	return m->gist((const uint8_t *)code, size);
}

/* Instructions that differ only in an address have the same gist; others differ. */
static void test_gist(void)
{
	static const struct {
		const struct machine *m;
		size_t size;
		const char *code, *moved, *other;
	} cases[] = {
		{ &machine_x86_64, 5, "\xe8\1\2\3\4", "\xe8\5\6\7\1", "\xe9\1\2\3\4" }, /* call */
		{ &machine_x86_64, 6, "\x0f\x84\1\2\3\4", "\x0f\x84\7\2\3\4", "\x0f\x85\1\2\3\4" },
		/* lea, movsd, vmovsd, and mov of a constant to memory at the place */
		{ &machine_x86_64, 7, "\x48\x8d\x05\1\2\3\4", "\x48\x8d\x05\4\2\3\4",
		  "\x48\x8d\x0d\1\2\3\4" },
		{ &machine_x86_64, 8, "\xf2\x0f\x10\x05\1\2\3\4", "\xf2\x0f\x10\x05\4\2\3\4",
		  "\xf2\x0f\x10\x0d\1\2\3\4" },
		{ &machine_x86_64, 8, "\xc5\xfb\x10\x05\1\2\3\4", "\xc5\xfb\x10\x05\4\2\3\4",
		  "\xc5\xfb\x10\x0d\1\2\3\4" },
		{ &machine_x86_64, 10, "\xc7\x05\1\2\3\4\5\6\7\1", "\xc7\x05\7\2\3\4\5\6\7\1",
		  "\xc7\x05\1\2\3\4\5\6\7\2" },
		{ &machine_x86_64, 5, "\xb8\1\2\3\4", "\xb8\1\2\3\4", "\xb8\2\2\3\4" }, /* mov $ */
		{ &machine_i386, 6, "\x8b\x0d\1\2\3\4", "\x8b\x0d\4\2\3\4", "\x8b\x15\1\2\3\4" },
		/* bl, adrp, add, and a branch within the function */
		{ &machine_aarch64, 4, "\1\0\0\x94", "\2\1\0\x94", "\1\0\0\x14" },
		{ &machine_aarch64, 4, "\x21\0\0\x90", "\x41\1\0\xb0", "\x22\0\0\x90" },
		{ &machine_aarch64, 4, "\x21\x40\0\x91", "\x21\x80\1\x91", "\x22\x40\0\x91" },
		{ &machine_aarch64, 4, "\x41\0\0\x54", "\x41\0\0\x54", "\x61\0\0\x54" },
		/* auipc, jal, addi, sw, c.j, c.mv */
		{ &machine_riscv64, 4, "\x17\x15\0\0", "\x17\x25\0\0", "\x97\x15\0\0" },
		{ &machine_riscv64, 4, "\xef\x10\0\0", "\xef\x20\0\1", "\x6f\x10\0\0" },
		{ &machine_riscv64, 4, "\x13\5\x15\0", "\x13\5\x25\1", "\x13\6\x15\0" },
		{ &machine_riscv64, 4, "\x23\x20\xa5\0", "\x23\x24\xa5\2", "\x23\x20\xb5\0" },
		{ &machine_riscv64, 2, "\1\xa0", "\5\xa0", "\1\xc0" },
		{ &machine_riscv64, 2, "\x2a\x84", "\x2a\x84", "\x2e\x84" },
	};
	for (size_t i = 0; i < N_OF(cases); i++) {
		uint64_t a = gist(cases[i].m, cases[i].code, cases[i].size);
		OK(a && a == gist(cases[i].m, cases[i].moved, cases[i].size));
		OK(a != gist(cases[i].m, cases[i].other, cases[i].size));
	}
	OK(!gist(&machine_x86_64, "\x90", 1) && !gist(&machine_x86_64, "\x66\x90", 2) &&
	   !gist(&machine_x86_64, "\x0f\x1f\x44\0\0", 5) && !gist(&machine_x86_64, "\xcc", 1));
	OK(!gist(&machine_aarch64, "\x1f\x20\3\xd5", 4) && !gist(&machine_riscv64, "\1\0", 2) &&
	   !gist(&machine_riscv64, "\x13\0\0\0", 4));
}

static void regs_of(const struct machine *m, uint64_t mask, const uint64_t *values, uint64_t *all,
		    struct unwind_regs *ret)
{
	struct perf_places p = unwind_perf_places(m, mask);
	unwind_regs_of_perf(&p, values, all, ret);
}

static void test_perf(void)
{
	uint64_t values[64], all[MACHINE_REGISTERS];
	struct unwind_regs r;
	for (size_t i = 0; i < 64; i++)
		values[i] = 100 + i;
	/* bx .. ip, then r8: without ax the others move down */
	regs_of(&machine_x86_64, 0x101fe, values, all, &r);
	OK(r.machine == &machine_x86_64 && r.exact && r.all == all);
	OK(all[0] == 0 && r.bx == 100 && all[3] == 100 && r.fp == 105 && r.sp == 106);
	OK(r.pc == 107 && all[8] == 108 && all[9] == 0 && all[16] == 0);
	regs_of(&machine_aarch64, machine_aarch64.perf_mask, values, all, &r);
	OK(r.pc == 132 && r.sp == 131 && r.lr == 130 && r.fp == 129 && all[5] == 105);
	regs_of(&machine_riscv64, machine_riscv64.perf_mask, values, all, &r);
	OK(r.pc == 100 && r.lr == 101 && r.sp == 102 && r.fp == 108);
	OK(all[0] == 0 && all[31] == 131); /* x0 is 0 */
}

/* ---- riscv64: instructions as riscv64-linux-gnu-as makes them ---- */

struct encoded {
	uint32_t word;
	unsigned size;
};

static size_t put(uint8_t *to, const struct encoded *e, size_t n)
{
	size_t at = 0;
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < e[i].size; k++)
			to[at++] = (uint8_t)(e[i].word >> 8 * k);
	return at;
}

static void test_riscv_calls(void)
{
	static const struct {
		struct encoded code[2];
		uint64_t target; /* of a direct call; 0: there is none */
		bool ends;
	} cases[] = {
		{ { { 0xfd7ff0ef, 4 } }, 0x10000 - 42, true },              /* jal ra */
		{ { { 0x7ffff2ef, 4 } }, 0x10000 + 0xffffe, true },         /* jal t0 */
		{ { { 0x0000006f, 4 } }, 0, false },                        /* j */
		{ { { 0x000080e7, 4 } }, 0, true },                         /* jalr ra */
		{ { { 0x00008067, 4 } }, 0, false },                        /* ret */
		{ { { 0x9782, 2 } }, 0, true },                             /* c.jalr a5 */
		{ { { 0x8782, 2 } }, 0, false },                            /* c.jr a5 */
		{ { { 0x9002, 2 } }, 0, false },                            /* c.ebreak */
		{ { { 0x97aa, 2 } }, 0, false },                            /* c.add a5, a0 */
		{ { { 0xfffff097, 4 }, { 0xff8080e7, 4 } }, 0xeff8, true }, /* call, far */
		{ { { 0x00000317, 4 }, { 0x00830067, 4 } }, 0, false },     /* tail, far */
		{ { { 0x00000097, 4 }, { 0x000780e7, 4 } }, 0, true },      /* jalr by another */
	};
	for (size_t i = 0; i < N_OF(cases); i++) {
		uint8_t code[8];
		uint64_t target = 0;
		size_t n = put(code, cases[i].code, 2);
		size_t found = machine_riscv64.call_at(code, n, 0x10000, &target);
		OK(found == (cases[i].target ? n : 0) && target == cases[i].target);
		OK(machine_riscv64.call_ends(code + n, n) == cases[i].ends);
		OK(!machine_riscv64.call_at(code, n - 1, 0x10000, &target) ||
		   cases[i].code[1].size);
	}
	OK(!machine_riscv64.call_ends(NULL, 0));
}

static void test_riscv_steps(void)
{
	static const struct {
		struct encoded code;
		enum step_kind kind;
		uint64_t target;
	} cases[] = {
		{ { 0xfd7ff0ef, 4 }, STEP_CALL, 0x10000 - 42 },
		{ { 0x0080006f, 4 }, STEP_JUMP, 0x10008 },
		{ { 0xfea798e3, 4 }, STEP_BRANCH, 0x10000 - 16 }, /* bne a5, a0 */
		{ { 0xbfd5, 2 }, STEP_JUMP, 0x10000 - 12 },       /* c.j */
		{ { 0xfbf5, 2 }, STEP_BRANCH, 0x10000 - 12 },     /* c.bnez a5 */
		{ { 0x8082, 2 }, STEP_RETURN, 0 },
		{ { 0x00008067, 4 }, STEP_RETURN, 0 },
		{ { 0x8782, 2 }, STEP_SWITCH, 0 },
		{ { 0x9782, 2 }, STEP_CALL_SLOT, 0 },
		{ { 0x9002, 2 }, STEP_STOP, 0 },
		{ { 0x842a, 2 }, STEP_ON, 0 },     /* mv s0, a0 */
		{ { 0xe42a, 2 }, STEP_ON, 0 },     /* sd a0, 8(sp) */
		{ { 0x00a42023, 4 }, STEP_ON, 0 }, /* sw a0, 0(s0) */
		{ { 0x9d3d, 2 }, STEP_ON, 0 },
	};
	for (size_t i = 0; i < N_OF(cases); i++) {
		uint8_t code[4];
		struct machine_step s = { 0 };
		size_t n = put(code, &cases[i].code, 1);
		OK(machine_riscv64.length(code, n) == n && machine_riscv64.length(code, 1) == 1);
		machine_riscv64.step(code, n, 0x10000, &s);
		OK(s.kind == cases[i].kind && s.target == cases[i].target);
	}
}

static void test_riscv_frames(void)
{
	static const struct {
		struct encoded code[2]; /* the second one is that at the pc */
		int32_t size;           /* -1: unknown */
	} cases[] = {
		{ { { 0x0001, 2 }, { 0x1101, 2 } }, 0 },  /* addi sp, sp, -32 */
		{ { { 0x0001, 2 }, { 0x7139, 2 } }, 0 },  /* addi sp, sp, -64 */
		{ { { 0x0001, 2 }, { 0x6105, 2 } }, -1 }, /* addi sp, sp, 32 */
		{ { { 0x0001, 2 }, { 0x8082, 2 } }, 0 },  /* ret */
		{ { { 0x1101, 2 }, { 0xec06, 2 } }, 32 }, /* sd ra, 24(sp) */
		{ { { 0x7139, 2 }, { 0xfc06, 2 } }, 64 }, /* sd ra, 56(sp) */
		{ { { 0xd8010113, 4 }, { 0x26113c23, 4 } }, 640 },
		{ { { 0x0001, 2 }, { 0xec06, 2 } }, -1 },    /* by whom sp was moved is not seen */
		{ { { 0x0001, 2 }, { 0x00002e17, 4 } }, 0 }, /* a PLT entry */
		{ { { 0x0001, 2 }, { 0x9d3d, 2 } }, -1 },
	};
	for (size_t i = 0; i < N_OF(cases); i++) {
		uint8_t code[8];
		struct machine_frame f;
		size_t n = put(code, cases[i].code, 2), before = cases[i].code[0].size;
		bool known = machine_riscv64.frame(code + before, before, n - before, &f);
		OK(known == (cases[i].size >= 0));
		OK(!known || (f.size == cases[i].size && !f.return_at && !f.fp_at));
	}
}

/* ---- a file of another machine ---- */

static void take_call(uint64_t site, uint64_t target, void *arg)
{
	uint64_t *sum = arg;
	sum[0]++;
	sum[1] += site;
	sum[2] += target;
}

/* The assumed rules of trampolines that cannot be read are those of their code: from behind the
 * call on, the return address is 16 bytes up, and trampolines of python 3.14 and later have saved
 * rbp. */
static void test_trampolines(void)
{
	static const struct {
		size_t size, behind_call;
		int16_t fp_at;
	} cases[] = { { 11, 6, 0 }, { 15, 10, 0 }, { 8, 6, -16 }, { 12, 10, -16 } };
	struct machine_frame f;
	for (size_t i = 0; i < N_OF(cases); i++) {
		size_t at = cases[i].behind_call, left = cases[i].size - at;
		const uint8_t *code = machine_x86_64.trampoline(cases[i].size);
		OK(code && machine_x86_64.call_ends(code + at, at));
		OK(machine_x86_64.leaves(code + at, at, left, &f));
		OK(f.size == 16 && f.return_at == -8 && f.fp_at == cases[i].fp_at);
		OK(machine_x86_64.leaves(code, 0, cases[i].size, &f) == !cases[i].fp_at);
	}
	OK(!machine_x86_64.trampoline(0) && !machine_x86_64.trampoline(9));
}

static void test_object(const char *dir)
{
	char path[4096];
	struct object_file *o = NULL;
	uint64_t target = 0, sum[3] = { 0 };
	snprintf(path, sizeof(path), "%s/unwind/riscv64.so", dir);
	kin_error_free(object_open(path, &(struct object_opts){ 0 }, &o));
	if (!OK(o))
		return;
	OK(object_call_before(o, 0x33e, &target) && target == 0x310);
	OK(object_call_ends_at(o, 0x33e) && !object_call_ends_at(o, 0x340));
	OK(object_calls(o, 0x320, 0x3cc, NULL, take_call, sum));
	OK(sum[0] == 3 && sum[1] == 0x33a + 0x384 + 0x3b8 && sum[2] == 3 * 0x310);
	OK(!object_calls(o, 0x320, 0x3cc, &gnu_call_rules, take_call,
			 sum)); /* GNU's has no rule for it */
	object_free(o);
}

int main(int argc, char **argv)
{
	test_find();
	test_registers();
	test_gist();
	test_perf();
	test_riscv_calls();
	test_riscv_steps();
	test_riscv_frames();
	test_trampolines();
	if (argc > 1)
		test_object(argv[1]);
	return DONE();
}
