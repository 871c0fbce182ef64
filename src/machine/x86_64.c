/* x86_64.c - x86-64, and the decoding of 32-bit x86 code. */
#include <elf.h>

#include "machine/machine.h"

enum { CALL = 0xe8, CALL_SIZE = 5 };

static int32_t displacement(const uint8_t *p) { return (int32_t)machine_word(p); }

/* ---- signals and frames ---- */

static bool is_sigreturn(const uint8_t *code, size_t size)
{
	static const uint8_t mov_rax[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 },
			     mov_eax[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	return machine_starts(code, size, mov_rax, sizeof(mov_rax)) ||
	       machine_starts(code, size, mov_eax, sizeof(mov_eax));
}

enum { MOV = 0x89, LEA = 0x8d };

/* The size of "mov %rbp, at(%rsp)" or "lea at(%rsp), %rbp", and its `at`; 0: it is another
 * instruction. */
static size_t rbp_slot(const uint8_t *code, size_t n, uint8_t operation, int32_t *at)
{
	if (n < 8 || code[0] != 0x48 || code[1] != operation || code[3] != 0x24)
		return 0;
	*at = code[2] == 0x6c ? (int8_t)code[4] : displacement(code + 4);
	return *at < 0 ? 0 : code[2] == 0x6c ? 5 : code[2] == 0xac ? 8 : 0;
}

/* The prologue of Go until 1.20, up to where the frame pointer is set: "cmp 16(%r14), %rsp; jbe
 * more; sub $size, %rsp; mov %rbp, size-8(%rsp); lea size-8(%rsp), %rbp". For a large frame another
 * register is compared. */
static bool go_frame(const uint8_t *code, size_t before, size_t after, struct machine_frame *ret)
{
	static const uint8_t cmp_rsp[] = { 0x49, 0x3b, 0x66, 0x10 },
			     cmp_r12[] = { 0x4d, 0x3b, 0x66, 0x10 }, sub_8[] = { 0x48, 0x83, 0xec },
			     sub_32[] = { 0x48, 0x81, 0xec };
	const uint8_t *last = code - (before < 4 ? 0 : 4);
	size_t n = machine_starts(code, after, sub_8, 3)    ? 4
		   : machine_starts(code, after, sub_32, 3) ? 7
							    : 0;
	int32_t at, then;
	*ret = (struct machine_frame){ .size = 8, .return_at = -8 };
	if (machine_starts(code, after, cmp_rsp, 4) || machine_starts(code, after, cmp_r12, 4) ||
	    machine_starts(last, before, cmp_rsp, 4) || machine_starts(last, before, cmp_r12, 4))
		return true;
	if (n && n < after && rbp_slot(code + n, after - n, MOV, &at))
		return true;
	n = rbp_slot(code, after, MOV, &at);
	if (n && rbp_slot(code + n, after - n, LEA, &then) && at == then && at < INT32_MAX - 16) {
		ret->size = at + 16;
		return true;
	}
	n = rbp_slot(code, after, LEA, &at);
	if (n && n <= before && rbp_slot(code - n, n + after, MOV, &then) == n && at == then &&
	    at < INT32_MAX - 16) {
		ret->size = at + 16;
		ret->fp_at = -16;
		return true;
	}
	return false;
}

static bool frame(const uint8_t *code, size_t before, size_t after, struct machine_frame *ret)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa }, push_rbp[] = { 0x55 },
			     mov_rbp_rsp[] = { 0x48, 0x89, 0xe5 },
			     mov_rbp_rsp_too[] = { 0x48, 0x8b, 0xec }, ret_near[] = { 0xc3 },
			     rep_ret[] = { 0xf3, 0xc3 }, ret_n[] = { 0xc2 };
	if (machine_starts(code, after, endbr64, 4) || machine_starts(code, after, push_rbp, 1) ||
	    machine_starts(code, after, ret_near, 1) || machine_starts(code, after, rep_ret, 2) ||
	    machine_starts(code, after, ret_n, 1)) {
		*ret = (struct machine_frame){ .size = 8, .return_at = -8 };
		return true;
	}
	if (before && code[-1] == 0x55 &&
	    (machine_starts(code, after, mov_rbp_rsp, 3) ||
	     machine_starts(code, after, mov_rbp_rsp_too, 3))) {
		*ret = (struct machine_frame){ .size = 16, .return_at = -8, .fp_at = -16 };
		return true;
	}
	return go_frame(code, before, after, ret);
}

struct leaving {                    /* what an instruction does to the stack pointer */
	size_t size;                /* 0: another instruction */
	int32_t up;                 /* bytes */
	bool is_pop_rbp, is_return; /* a jump to another function leaves as a return does */
};

static struct leaving leaving_at(const uint8_t *code, size_t n)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa }, ret_rep[] = { 0xf3, 0xc3 },
			     add_8[] = { 0x48, 0x83, 0xc4 }, add_32[] = { 0x48, 0x81, 0xc4 },
			     sub_8[] = { 0x48, 0x83, 0xec }, jmp_slot[] = { 0xff, 0x25 },
			     bnd_jmp_slot[] = { 0xf2, 0xff, 0x25 };
	if (machine_starts(code, n, endbr64, 4))
		return (struct leaving){ .size = 4 };
	if (n > 5 && code[0] == 0x41 && code[1] == 0xbb) /* mov $number, %r11d: of mold's PLT */
		return (struct leaving){ .size = 6 };
	if (n > 3 && machine_starts(code, n, add_8, 3))
		return (struct leaving){ .size = 4, .up = (int8_t)code[3] };
	if (n > 3 && machine_starts(code, n, sub_8, 3))
		return (struct leaving){ .size = 4, .up = -(int8_t)code[3] };
	if (n > 6 && machine_starts(code, n, add_32, 3) && !code[6])
		return (struct leaving){ .size = 7, .up = displacement(code + 3) };
	if (n && (code[0] & 0xf8) == 0x58 && code[0] != 0x5c)
		return (struct leaving){ .size = 1, .up = 8, .is_pop_rbp = code[0] == 0x5d };
	if (n > 1 && code[0] == 0x41 && (code[1] & 0xf8) == 0x58)
		return (struct leaving){ .size = 2, .up = 8 };
	if (n > 1 && code[0] == 0xff && (code[1] & 0xf8) == 0xd0) /* call *register */
		return (struct leaving){ .size = 2 };
	if (n && (code[0] == 0xc3 || machine_starts(code, n, ret_rep, 2) ||
		  machine_starts(code, n, jmp_slot, 2) || machine_starts(code, n, bnd_jmp_slot, 3)))
		return (struct leaving){ .size = 1, .is_return = true };
	return (struct leaving){ 0 };
}

/* Also goes through python's trampolines, which have no other frame than "sub $8, %rsp; call *%rcx;
 * add $8, %rsp; ret". A PLT's code for lazy binding, "push slot; jmp *slot", is left out: there is
 * more on the stack. */
static bool leaves(const uint8_t *code, size_t before, size_t size, struct machine_frame *ret)
{
	static const uint8_t push_slot[] = { 0xff, 0x35 };
	int32_t up = 0, rbp_at = -1;
	struct leaving x;
	if (before >= 6 && machine_starts(code - 6, 6, push_slot, 2))
		return false;
	for (size_t at = 0; (x = leaving_at(code + at, size - at)).size; at += x.size) {
		if (x.is_return) {
			*ret = (struct machine_frame){ .size = up + 8, .return_at = -8 };
			if (rbp_at >= 0 && up - rbp_at < INT16_MAX - 8)
				ret->fp_at = (int16_t)(rbp_at - up - 8);
			return up >= 0;
		}
		if (x.is_pop_rbp)
			rbp_at = up;
		up += x.up;
	}
	return false;
}

static bool has_taken_off(const uint8_t *end, size_t before)
{
	static const uint8_t add_8[] = { 0x48, 0x83, 0xc4 }, add_32[] = { 0x48, 0x81, 0xc4 };
	static const uint8_t leave[] = { 0xc9 }, pop_r12[] = { 0x41, 0x5c };
	enum { POP = 0x58, POP_RSP = 0x5c };
	return (before >= 1 && machine_starts(end - 1, 1, leave, 1)) ||
	       (before >= 1 && (end[-1] & 0xf8) == POP && end[-1] != POP_RSP) ||
	       (before >= 2 && machine_starts(end - 2, 2, pop_r12, 2)) ||
	       (before >= 4 && machine_starts(end - 4, 4, add_8, 3)) ||
	       (before >= 7 && machine_starts(end - 7, 7, add_32, 3));
}

/* Python's trampolines until 3.13, and from 3.14 on; each may begin with endbr64. */
static const uint8_t *trampoline(size_t size)
{
	static const uint8_t call_rcx[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 8,
					    0xff, 0xd1, 0x48, 0x83, 0xc4, 8,    0xc3 },
			     with_rbp[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48,
					    0x89, 0xe5, 0xff, 0xd1, 0x5d, 0xc3 };
	enum { OLDER = sizeof(call_rcx), LATER = sizeof(with_rbp), ENDBR = 4 };
	switch (size) {
	case OLDER:
		return call_rcx;
	case OLDER - ENDBR:
		return call_rcx + ENDBR;
	case LATER:
		return with_rbp;
	case LATER - ENDBR:
		return with_rbp + ENDBR;
	default:
		return NULL;
	}
}

/* ---- calls ---- */

static size_t call_at(const uint8_t *code, size_t size, uint64_t addr, uint64_t *target)
{
	if (size < CALL_SIZE || *code != CALL)
		return 0;
	*target = addr + CALL_SIZE + (uint64_t)(int64_t)displacement(code + 1);
	return CALL_SIZE;
}

/* The size of "call *operand", from its first two bytes and a possible third. */
static unsigned call_size(uint8_t modrm, uint8_t sib)
{
	unsigned mod = modrm >> 6, rm = modrm & 7;
	if (mod == 3)
		return 2;
	unsigned size = 2 + (rm == 4);
	if (mod == 0)
		return size + (rm == 5 || (rm == 4 && (sib & 7) == 5) ? 4 : 0);
	return size + (mod == 1 ? 1 : 4);
}

static bool call_ends(const uint8_t *end, size_t before)
{
	for (unsigned n = 2; n <= 7 && n <= before; n++) {
		const uint8_t *code = end - n;
		if (n == CALL_SIZE && code[0] == CALL)
			return true;
		if (code[0] == 0xff && (code[1] & 0x38) == 0x10 && /* call *operand */
		    call_size(code[1], n > 2 ? code[2] : 0) == n)
			return true;
	}
	return false;
}

static bool jump_ends(const uint8_t *end, size_t before)
{
	for (unsigned n = 2; n <= 7 && n <= before; n++) {
		const uint8_t *code = end - n;
		if ((n == 2 && code[0] == 0xeb) || (n == 5 && code[0] == 0xe9))
			return true;
		if (code[0] == 0xff && (code[1] & 0x38) == 0x20 && /* jmp *operand */
		    call_size(code[1], n > 2 ? code[2] : 0) == n)
			return true;
	}
	return false;
}

/* musl's clone(): "syscall; test %eax, %eax; jnz parent; xor %ebp, %ebp; pop %rdi; call *%r9". */
static bool starts_thread(const uint8_t *end, size_t before)
{
	static const uint8_t child[] = { 0x0f, 0x05, 0x85, 0xc0, 0x75 },
			     calls[] = { 0x31, 0xed, 0x5f, 0x41, 0xff, 0xd1 };
	enum { SIZE = sizeof(child) + 1 + sizeof(calls) };
	return before >= SIZE && machine_starts(end - SIZE, SIZE, child, sizeof(child)) &&
	       machine_starts(end - sizeof(calls), sizeof(calls), calls, sizeof(calls));
}

/* "mov register, %rsp"; %rbp has an address in the same stack. */
static bool drops_stack(const uint8_t *code, size_t size)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t skip = machine_starts(code, size, endbr64, sizeof(endbr64)) ? sizeof(endbr64) : 0;
	const uint8_t *at = code + skip;
	if (size < skip + 3)
		return false;
	bool store = (at[0] & 0xfb) == 0x48 && at[1] == 0x89 && (at[2] & 0xc7) == 0xc4;
	bool load = (at[0] & 0xfe) == 0x48 && at[1] == 0x8b && (at[2] & 0xf8) == 0xe0;
	bool by_rbp = at[0] == 0x48 && (at[2] == 0xec || at[2] == 0xe5);
	return (store || load) && !by_rbp;
}

/* Only for the registers that need no prefix, as arguments and results are in these. */
static bool passes_on(const uint8_t *code, size_t size, uint64_t addr, uint64_t *function)
{
	enum { LEA_SIZE = 7 };
	if (size < LEA_SIZE + 2 || code[size - 2] != 0xff || (code[size - 1] & 0xf8) != 0xe0)
		return false;
	const uint8_t lea[] = { 0x48, 0x8d, (uint8_t)(5 | (code[size - 1] & 7) << 3) };
	for (size_t i = size - LEA_SIZE - 2 + 1; i-- > 0;)
		if (machine_starts(code + i, LEA_SIZE, lea, sizeof(lea))) {
			*function =
				addr + i + LEA_SIZE + (uint64_t)(int64_t)displacement(code + i + 3);
			return true;
		}
	return false;
}

/* ---- where control goes ---- */

struct x86_instruction { /* without its prefixes */
	const uint8_t *p;
	size_t n;
	bool is_64bit;
};

static struct x86_instruction skip_prefixes(const uint8_t *code, size_t size, bool is_64bit)
{
	struct x86_instruction x = { code, size, is_64bit };
	for (; x.n > 1; x.p++, x.n--) {
		uint8_t b = *x.p;
		bool is_prefix = b == 0x66 || b == 0xf2 || b == 0xf3 || b == 0x2e || b == 0x3e ||
				 b == 0x64 || b == 0x65 || (is_64bit && (b & 0xf0) == 0x40);
		if (!is_prefix)
			break;
	}
	return x;
}

/* The operand disp(%rip), or disp(,%reg,scale): where a variable or table lies. 0: it is another
 * operand. */
static uint64_t operand_address(const struct x86_instruction *x, uint64_t next)
{
	if (x->n < 6 || x->p[1] >> 6)
		return 0;
	if (x->is_64bit && (x->p[1] & 7) == 5)
		return next + (uint64_t)(int64_t)displacement(x->p + 2);
	if (x->n == 7 && (x->p[1] & 7) == 4 && (x->p[2] & 7) == 5)
		return (uint32_t)displacement(x->p + 3);
	return 0;
}

static void group_ff(struct machine_step *s, const struct x86_instruction *x, uint64_t next)
{
	unsigned operation = x->n > 1 ? x->p[1] >> 3 & 7 : 0;
	if (operation == 2 || operation == 3) {
		s->kind = STEP_CALL_SLOT;
		s->target = operand_address(x, next);
	} else if (operation == 4 || operation == 5) {
		s->kind = STEP_SWITCH;
		s->target = operand_address(x, next);
	}
}

static void step_any(const uint8_t *code, size_t size, uint64_t addr, bool is_64bit,
		     struct machine_step *s)
{
	struct x86_instruction x = skip_prefixes(code, size, is_64bit);
	uint64_t next = addr + size;
	uint8_t op = x.p[0], second = x.n > 1 ? x.p[1] : 0;
	bool is_far = op == 0x0f && x.n >= 6 && (second & 0xf0) == 0x80;

	if (op == 0xe8 || op == 0xe9 || is_far) {
		s->kind = is_far ? STEP_BRANCH : op == 0xe8 ? STEP_CALL : STEP_JUMP;
		if (x.n >= 5)
			s->target = next + (uint64_t)(int64_t)displacement(x.p + x.n - 4);
	} else if (x.n == 2 && (op == 0xeb || (op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0)) {
		s->kind = op == 0xeb ? STEP_JUMP : STEP_BRANCH;
		s->target = next + (uint64_t)(int64_t)(int8_t)second;
	} else if (op == 0xff) {
		group_ff(s, &x, next);
	} else if ((op & 0xf6) == 0xc2) {
		s->kind = STEP_RETURN;
	} else if (op == 0xf4 || (op == 0x0f && second == 0x0b)) {
		s->kind = STEP_STOP;
	} else if (op == 0x8d || op == 0x8b) {
		s->target = operand_address(&x, next);
	}
	if (!is_64bit)
		s->target = (uint32_t)s->target;
}

/* Offset of the 32 bits that name an address relative to the instruction; 0: there are none. */
static size_t place_in(const struct x86_instruction *x)
{
	uint8_t op = x->p[0];
	size_t modrm = 1;

	if (x->n == 5 && (op == 0xe8 || op == 0xe9))
		return 1;
	if (x->n == 6 && op == 0x0f && (x->p[1] & 0xf0) == 0x80)
		return 2;
	if (op == 0x0f && x->n > 1)
		modrm = x->p[1] == 0x38 || x->p[1] == 0x3a ? 3 : 2;
	else if (x->is_64bit && op == 0xc5) /* VEX, EVEX */
		modrm = 3;
	else if (x->is_64bit && op == 0xc4)
		modrm = 4;
	else if (x->is_64bit && op == 0x62)
		modrm = 5;
	return modrm + 5 <= x->n && (x->p[modrm] & 0xc7) == 5 ? modrm + 1 : 0;
}

static uint64_t gist_any(const uint8_t *code, size_t size, bool is_64bit)
{
	struct x86_instruction x = skip_prefixes(code, size, is_64bit);
	bool is_nop =
		x.p[0] == 0x90 || x.p[0] == 0xcc || (x.n > 1 && x.p[0] == 0x0f && x.p[1] == 0x1f);
	size_t place = place_in(&x), before = place ? (size_t)(x.p - code) + place : size;
	size_t behind = place ? before + 4 : size;

	uint64_t hash = machine_hash(MACHINE_HASH, code, before);
	return is_nop ? 0 : machine_hash(hash, code + behind, size - behind) | 1;
}

static uint64_t gist_64(const uint8_t *code, size_t size) { return gist_any(code, size, true); }
static uint64_t gist_32(const uint8_t *code, size_t size) { return gist_any(code, size, false); }

static void step_64(const uint8_t *code, size_t size, uint64_t addr, struct machine_step *ret)
{
	step_any(code, size, addr, true, ret);
}

static void step_32(const uint8_t *code, size_t size, uint64_t addr, struct machine_step *ret)
{
	step_any(code, size, addr, false, ret);
}

/* ---- procedure linkage tables: [endbr] [bnd] jmp *slot ---- */

/* The offset of the jump's operand in code; 0: there is no such jump. *by_got: it is relative to
 * the GOT. */
static size_t jump_operand(const uint8_t *code, size_t size, bool *by_got)
{
	size_t i = 0;
	if (size >= 4 && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e &&
	    (code[3] & 0xfe) == 0xfa)
		i = 4;
	if (size > i && code[i] == 0xf2)
		i++;
	if (size < i + 6 || code[i] != 0xff || (code[i + 1] != 0x25 && code[i + 1] != 0xa3))
		return 0;
	*by_got = code[i + 1] == 0xa3;
	return i + 2;
}

static bool plt_slot_64(const uint8_t *code, size_t size, uint64_t addr, uint64_t got,
			uint64_t *slot)
{
	bool by_got;
	size_t at = jump_operand(code, size, &by_got);
	(void)got;
	if (!at || by_got)
		return false;
	*slot = addr + at + 4 + (uint64_t)(int64_t)displacement(code + at);
	return true;
}

static bool plt_slot_32(const uint8_t *code, size_t size, uint64_t addr, uint64_t got,
			uint64_t *slot)
{
	bool by_got;
	size_t at = jump_operand(code, size, &by_got);
	(void)addr;
	if (!at)
		return false;
	*slot = (uint32_t)(machine_word(code + at) + (by_got ? got : 0));
	return true;
}

/* ---- the machines ---- */

/* Signals: struct ucontext has r8 .. r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip from 40 on.
 * DWARF's order: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 .. r15; perf's: ax, bx, cx, dx, si, di,
 * bp, sp, ip, flags, six segments, r8 .. r15. */
const struct machine machine_x86_64 = {
	.elf = EM_X86_64,
	.name = "x86_64",
	.n_registers = 16,
	.sp = 7,
	.fp = 6,
	.bx = 3,
	.lr = MACHINE_NO_REGISTER,
	.perf_mask = 0xff01ff,
	.sample_mask = 0xff0fff,
	.perf_names =
		"AX BX CX DX SI DI BP SP IP FLAGS CS SS DS ES FS GS R8 R9 R10 R11 R12 R13 R14 "
		"R15 . . . . . . . . XMM0 XMM0 XMM1 XMM1 XMM2 XMM2 XMM3 XMM3 XMM4 XMM4 XMM5 "
		"XMM5 XMM6 XMM6 XMM7 XMM7 XMM8 XMM8 XMM9 XMM9 XMM10 XMM10 XMM11 XMM11 XMM12 "
		"XMM12 XMM13 XMM13 XMM14 XMM14 XMM15 XMM15",
	.perf = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23 },
	.perf_pc = 8,
	.signal_pc = 168,
	.signal = { 144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88, 96 },
	.is_sigreturn = is_sigreturn,
	.cfa_from_fp = 16,
	.return_from_fp = 8,
	.frame = frame,
	.leaves = leaves,
	.has_taken_off = has_taken_off,
	.trampoline = trampoline,
	.code_align = 1,
	.call_at = call_at,
	.call_ends = call_ends,
	.jump_ends = jump_ends,
	.starts_thread = starts_thread,
	.drops_stack = drops_stack,
	.passes_on = passes_on,
	.step = step_64,
	.gist = gist_64,
	.hook_call_size = CALL_SIZE,
	.flag_for_hooks = "-mfentry",
	.plt_align = 8,
	.plt_slot = plt_slot_64,
	.jump_slot = R_X86_64_JUMP_SLOT,
	.glob_dat = R_X86_64_GLOB_DAT,
	.irelative = R_X86_64_IRELATIVE,
	.relative = R_X86_64_RELATIVE,
};

const struct machine machine_i386 = {
	.elf = EM_386,
	.name = "i386",
	.code_align = 1,
	.call_at = call_at,
	.call_ends = call_ends,
	.step = step_32,
	.gist = gist_32,
	.hook_call_size = CALL_SIZE,
	.plt_align = 8,
	.plt_slot = plt_slot_32,
	.jump_slot = R_386_JMP_SLOT,
	.glob_dat = R_386_GLOB_DAT,
	.irelative = R_386_IRELATIVE,
};
