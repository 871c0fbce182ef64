/* x86_64_effect.c - the length of an instruction of x86-64, and what it does to the stack.
 *
 * A decoder of our own. It does not tell what an instruction computes, but where it ends, which
 * general registers it writes, and where it may write to memory relative to one of them. Where it
 * is not sure it fails, or counts more as lost than is. */
#include "machine/machine.h"

enum { LENGTH_MAX = 15, NONE = MACHINE_NO_REGISTER };

/* By the processor's numbers. */
enum { AX, CX, DX, BX, SP, BP, SI, DI };

static const uint8_t dwarf[16] = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 };

/* What follows each opcode. '.': nothing; m: ModRM; b, w, e: a number of 1, 2, 3 bytes; v: of the
 * operand's size; z: the same, but 4 bytes at most; o: of an address's size; j, J: a jump's
 * distance of 1, 4 bytes; B, Z: m and b, z; g, G: m, and b, z if its operation is TEST; p: prefix,
 * escape; x: no instruction, or one that programs do not have. */
static const char one_byte[16][17] = {
	"mmmmbzxxmmmmbzxp", "mmmmbzxxmmmmbzxx", "mmmmbzpxmmmmbzpx", "mmmmbzpxmmmmbzpx",
	"pppppppppppppppp", "................", "xxpmppppzZbB....", "jjjjjjjjjjjjjjjj",
	"BZxBmmmmmmmmmmmm", "..........x.....", "oooo....bz......", "bbbbbbbbvvvvvvvv",
	"BBw.ppBZe.w..bx.", "mmmmxxx.mmmmmmmm", "jjjjbbbbJJxj....", "p.pp..gG......mm",
};
static const char two_bytes[16][17] = {
	/* after 0f */
	"mmmmx.....x.xm.x", "mmmmmmmmmmmmmmmm", "xxxxxxxxmmmmmmmm", "......x.pxpxxxxx",
	"mmmmmmmmmmmmmmmm", "mmmmmmmmmmmmmmmm", "mmmmmmmmmmmmmmmm", "BBBBmmm.xmxxmmmm",
	"JJJJJJJJJJJJJJJJ", "mmmmmmmmmmmmmmmm", "...mBmxx..xmBmmm", "mmmmmmmmmmBmmmmm",
	"mmBmBBBm........", "mmmmmmmmmmmmmmmm", "mmmmmmmmmmmmmmmm", "mmmmmmmmmmmmmmmm",
};

enum map { ONE_BYTE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_5 = 5, MAP_6 };

struct x86_memory {          /* [base + index * scale + displacement] */
	uint8_t base, index; /* DWARF; NONE: there is none */
	bool by_pc;
	uint8_t scale;
	int32_t displacement;
};

struct x86_decoded {
	const uint8_t *code;
	size_t size, at; /* bytes that may be read; that were read */
	bool failed;
	bool is_16bit, is_32bit_address, f2, f3, lock;
	uint8_t rex;                      /* W R X B */
	bool has_rex, is_vector, is_evex; /* vector: VEX, EVEX */
	uint8_t vvvv, vector_bytes;
	enum map map;
	uint8_t opcode;
	uint8_t mod, operation, reg, rm; /* of ModRM; registers with their fourth bit */
	struct x86_memory memory;
	int64_t number;
	uint64_t addr, next;
};

enum { REX_W = 8, REX_R = 4, REX_X = 2, REX_B = 1 };

/* ---- length ---- */

static uint8_t take(struct x86_decoded *x)
{
	if (x->at >= x->size || x->at >= LENGTH_MAX) {
		x->failed = true;
		return 0;
	}
	return x->code[x->at++];
}

/* With its sign. */
static int64_t take_number(struct x86_decoded *x, unsigned bytes)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < bytes; i++)
		n |= (uint64_t)take(x) << 8 * i;
	unsigned unused = 64 - 8 * bytes;
	return bytes ? (int64_t)(n << unused) >> unused : 0;
}

static void take_prefixes(struct x86_decoded *x)
{
	for (;;) {
		uint8_t b = take(x);
		switch (b) {
		case 0x66:
			x->is_16bit = true;
			continue;
		case 0x67:
			x->is_32bit_address = true;
			continue;
		case 0xf2:
			x->f2 = true;
			continue;
		case 0xf3:
			x->f3 = true;
			continue;
		case 0xf0:
			x->lock = true;
			continue;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
			continue;
		default:
			x->opcode = b;
			return;
		}
	}
}

/* Prefixes VEX and EVEX; their bits of register numbers are inverted. */
static void take_vex(struct x86_decoded *x)
{
	uint8_t first = x->opcode, p = take(x), q;
	x->is_vector = true;
	if (x->has_rex || x->is_16bit || x->f2 || x->f3 || x->lock)
		x->failed = true;
	x->rex = (uint8_t)(~p >> 5 & REX_R);
	x->vector_bytes = 16;
	switch (first) {
	case 0xc5:
		x->map = MAP_0F;
		q = p;
		break;
	case 0xc4:
		x->rex = (uint8_t)(~p >> 5 & 7);
		x->map = (enum map)(p & 31);
		q = take(x);
		x->rex |= q >> 4 & REX_W;
		break;
	default: /* EVEX; bit 4 of a vector register is of no interest */
		x->rex = (uint8_t)(~p >> 5 & 7);
		x->map = (enum map)(p & 7);
		q = take(x);
		x->rex |= q >> 4 & REX_W;
		if (p & 8 || !(q & 4))
			x->failed = true;
		x->is_evex = true;
		x->vector_bytes = (uint8_t)(16 << (take(x) >> 5 & 3));
		break;
	}
	if (first != 0x62 && q & 4)
		x->vector_bytes = 32;
	x->vvvv = ~q >> 3 & 15;
	x->is_16bit = (q & 3) == 1;
	x->f3 = (q & 3) == 2;
	x->f2 = (q & 3) == 3;
	if (x->map < MAP_0F || x->map == 4 || x->map > MAP_6 ||
	    (x->map > MAP_0F3A && first != 0x62))
		x->failed = true;
	x->opcode = take(x);
}

static void take_opcode(struct x86_decoded *x)
{
	take_prefixes(x);
	if ((x->opcode & 0xf0) == 0x40) {
		x->rex = x->opcode & 15;
		x->has_rex = true;
		x->opcode = take(x);
	}
	if (x->opcode == 0xc4 || x->opcode == 0xc5 || x->opcode == 0x62) {
		take_vex(x);
		return;
	}
	if (x->opcode != 0x0f)
		return;
	x->map = MAP_0F;
	x->opcode = take(x);
	if (x->opcode == 0x38 || x->opcode == 0x3a) {
		x->map = x->opcode == 0x38 ? MAP_0F38 : MAP_0F3A;
		x->opcode = take(x);
	}
}

static void take_modrm(struct x86_decoded *x)
{
	uint8_t b = take(x), sib = 0;
	unsigned low = b & 7;
	x->mod = b >> 6;
	x->operation = b >> 3 & 7;
	x->reg = (uint8_t)(x->operation | (x->rex & REX_R ? 8 : 0));
	x->rm = (uint8_t)(low | (x->rex & REX_B ? 8 : 0));
	x->memory = (struct x86_memory){ .base = NONE, .index = NONE, .scale = 1 };
	if (x->mod == 3)
		return;
	x->memory.base = dwarf[x->rm];
	if (low == 4) {
		sib = take(x);
		low = sib & 7;
		x->memory.base = dwarf[low | (x->rex & REX_B ? 8 : 0)];
		unsigned index = (sib >> 3 & 7u) | (x->rex & REX_X ? 8 : 0);
		if (index != SP)
			x->memory.index = dwarf[index];
		x->memory.scale = (uint8_t)(1 << (sib >> 6));
		if (low == 5 && !x->mod)
			x->memory.base = NONE;
	} else if (low == 5 && !x->mod) {
		x->memory.base = NONE;
		x->memory.by_pc = true;
	}
	if (x->mod == 1)
		x->memory.displacement = (int32_t)take_number(x, 1);
	else if (x->mod == 2 || (low == 5 && !x->mod))
		x->memory.displacement = (int32_t)take_number(x, 4);
}

/* Whether an instruction of that map of VEX and EVEX has a number behind it. */
static bool vector_has_number(const struct x86_decoded *x)
{
	uint8_t op = x->opcode;
	return x->map == MAP_0F3A ||
	       (x->map == MAP_0F &&
		((op >= 0x70 && op <= 0x73) || op == 0xc2 || (op >= 0xc4 && op <= 0xc6)));
}

static char operands_of(const struct x86_decoded *x)
{
	if (x->is_vector)
		return x->map == MAP_0F && x->opcode == 0x77 ? '.'
		       : vector_has_number(x)                ? 'B'
							     : 'm';
	switch (x->map) {
	case ONE_BYTE:
		return one_byte[x->opcode >> 4][x->opcode & 15];
	case MAP_0F:
		return two_bytes[x->opcode >> 4][x->opcode & 15];
	case MAP_0F38:
		return 'm';
	case MAP_0F3A:
		return 'B';
	case MAP_5:
	case MAP_6:
		break;
	}
	return 'x';
}

static void take_operands(struct x86_decoded *x)
{
	unsigned z = x->is_16bit && !(x->rex & REX_W) ? 2 : 4;
	char c = operands_of(x);
	switch (c) {
	case '.':
		return;
	case 'm':
		take_modrm(x);
		return;
	case 'g':
	case 'G':
		take_modrm(x);
		if (x->operation < 2)
			x->number = take_number(x, c == 'g' ? 1 : z);
		return;
	case 'B':
	case 'Z':
		take_modrm(x);
		x->number = take_number(x, c == 'B' ? 1 : z);
		return;
	case 'b':
	case 'j':
		x->number = take_number(x, 1);
		return;
	case 'w':
		x->number = take_number(x, 2);
		return;
	case 'e':
		x->number = take_number(x, 3);
		return;
	case 'z':
		x->number = take_number(x, z);
		return;
	case 'v':
		x->number = take_number(x, x->rex & REX_W ? 8 : z);
		return;
	case 'o':
		x->number = take_number(x, x->is_32bit_address ? 4 : 8);
		return;
	case 'J': /* with 16 bits, processors differ */
		if (x->is_16bit && !(x->rex & REX_W))
			x->failed = true;
		x->number = take_number(x, 4);
		return;
	default:
		x->failed = true;
	}
}

/* ---- effects ---- */

static void lose(struct machine_effect *e, unsigned reg) { e->lost |= UINT32_C(1) << dwarf[reg]; }

static void change(struct machine_effect *e, enum change_kind kind, unsigned a, unsigned b,
		   int32_t n)
{
	e->change[e->n_changes++] = (struct machine_change){ .kind = (uint8_t)kind,
							     .a = (uint8_t)a,
							     .b = (uint8_t)b,
							     .c = NONE,
							     .width = 8,
							     .n = n };
}

static void move_sp(struct machine_effect *e, int32_t n)
{
	change(e, CHANGE_SET, dwarf[SP], dwarf[SP], n);
}

/* Whether the operand is in memory, at a fixed distance from a register. */
static bool is_plain_memory(const struct x86_decoded *x)
{
	return x->mod != 3 && x->memory.base != NONE && x->memory.index == NONE &&
	       !x->is_32bit_address;
}

/* `width` bytes are written to the operand in memory. EVEX counts a short displacement in units of
 * `width`. */
static void store(const struct x86_decoded *x, struct machine_effect *e, unsigned reg,
		  unsigned width)
{
	if (!is_plain_memory(x))
		return;
	int32_t units = x->is_evex && x->mod == 1 ? (int32_t)width : 1;
	change(e, CHANGE_STORE, reg, x->memory.base, x->memory.displacement * units);
	e->change[e->n_changes - 1].width = (uint16_t)width;
}

/* A register of 8 bits: without REX, 4 to 7 are the second bytes of the first four. */
static unsigned byte_register(const struct x86_decoded *x, unsigned reg)
{
	return x->has_rex || reg < 4 || reg > 7 ? reg : reg - 4;
}

static unsigned operand_width(const struct x86_decoded *x, bool is_byte)
{
	return is_byte ? 1 : x->rex & REX_W ? 8 : x->is_16bit ? 2 : 4;
}

/* Something is written to ModRM's rm operand, a register or memory. */
static void write_rm(const struct x86_decoded *x, struct machine_effect *e, bool is_byte)
{
	if (x->mod == 3)
		lose(e, is_byte ? byte_register(x, x->rm) : x->rm);
	else
		store(x, e, NONE, operand_width(x, is_byte));
}

/* Something is written to the register in ModRM's reg field. */
static void write_reg(const struct x86_decoded *x, struct machine_effect *e, bool is_byte)
{
	lose(e, is_byte ? byte_register(x, x->reg) : x->reg);
}

static bool is_64bit(const struct x86_decoded *x) { return x->rex & REX_W; }

static void compare(const struct x86_decoded *x, struct machine_effect *e, unsigned reg,
		    bool is_byte)
{
	if (!is_byte && x->number < 0)
		return;
	e->compared = dwarf[reg];
	e->compare_to = is_byte ? (uint8_t)x->number : (uint32_t)x->number;
}

/* An operation, by its number, on the rm operand and a number. */
static void compute(const struct x86_decoded *x, struct machine_effect *e, bool is_byte)
{
	enum { ADD = 0, AND = 4, SUB = 5, CMP = 7 };
	unsigned reg = is_byte && x->mod == 3 ? byte_register(x, x->rm) : x->rm;
	if (x->operation == CMP) {
		if (x->mod == 3 && reg == x->rm)
			compare(x, e, reg, is_byte);
		return;
	}
	write_rm(x, e, is_byte);
	if (x->mod != 3 || is_byte)
		return;
	if (x->operation == AND && x->number >= 0)
		change(e, CHANGE_MASK, dwarf[reg], NONE, (int32_t)x->number);
	if (is_64bit(x) && x->operation == ADD)
		change(e, CHANGE_SET, dwarf[reg], dwarf[reg], (int32_t)x->number);
	if (is_64bit(x) && x->operation == SUB && x->number != INT32_MIN)
		change(e, CHANGE_SET, dwarf[reg], dwarf[reg], (int32_t)-x->number);
}

static void load_address(const struct x86_decoded *x, struct machine_effect *e)
{
	const struct x86_memory *m = &x->memory;
	lose(e, x->reg);
	if (!is_64bit(x) || x->is_32bit_address)
		return;
	if (m->by_pc) {
		e->place = x->next + (uint64_t)(int64_t)m->displacement;
		change(e, CHANGE_CONST, dwarf[x->reg], NONE, 0);
	} else if (m->base != NONE && m->index == NONE) {
		change(e, CHANGE_SET, dwarf[x->reg], m->base, m->displacement);
	}
}

/* A load from memory with an index, as from a table. */
static void load_indexed(const struct x86_decoded *x, struct machine_effect *e, unsigned width)
{
	const struct x86_memory *m = &x->memory;
	if (x->mod == 3 || m->index == NONE || m->scale != width || x->is_32bit_address)
		return;
	change(e, CHANGE_INDEXED, dwarf[x->reg], m->base, m->displacement);
	e->change[e->n_changes - 1].c = m->index;
	e->change[e->n_changes - 1].width = (uint16_t)width;
}

/* mov */
static void move(const struct x86_decoded *x, struct machine_effect *e, bool to_reg)
{
	unsigned to = to_reg ? x->reg : x->rm, from = to_reg ? x->rm : x->reg;
	if (x->mod == 3) {
		lose(e, to);
		if (is_64bit(x))
			change(e, CHANGE_SET, dwarf[to], dwarf[from], 0);
		else if (!x->is_16bit)
			change(e, CHANGE_NARROW, dwarf[to], dwarf[from], 0);
	} else if (!to_reg) {
		store(x, e, is_64bit(x) ? dwarf[from] : NONE, operand_width(x, false));
	} else {
		lose(e, to);
		if (is_64bit(x) && is_plain_memory(x))
			change(e, CHANGE_LOAD, dwarf[to], x->memory.base, x->memory.displacement);
		else if (is_64bit(x))
			load_indexed(x, e, 8);
	}
}

/* Pushes a register; NONE: anything. */
static void push(struct machine_effect *e, unsigned reg)
{
	move_sp(e, -8);
	change(e, CHANGE_STORE, reg, dwarf[SP], 0);
}

static void pop(struct machine_effect *e, unsigned reg)
{
	lose(e, reg);
	change(e, CHANGE_LOAD, dwarf[reg], dwarf[SP], 0);
	if (reg != SP)
		move_sp(e, 8);
	else
		e->n_changes = 0;
}

/* False: not known. */
static bool group_ff(const struct x86_decoded *x, struct machine_effect *e)
{
	switch (x->operation) {
	case 0:
	case 1:
		write_rm(x, e, false);
		return true;
	case 2:
		e->kind = STEP_CALL_SLOT;
		if (x->memory.by_pc)
			e->target = x->next + (uint64_t)(int64_t)x->memory.displacement;
		return !x->is_16bit;
	case 4:
		e->kind = STEP_SWITCH;
		if (x->mod == 3) {
			e->at.a = dwarf[x->rm];
		} else if (x->memory.index != NONE && x->memory.scale == 8) {
			e->is_table = true;
			e->at.b = x->memory.base;
			e->at.c = x->memory.index;
			e->at.n = x->memory.displacement;
		}
		return !x->is_16bit;
	case 6:
		push(e, NONE);
		return !x->is_16bit;
	default: /* far calls and jumps */
		return false;
	}
}

static void lose_string(struct machine_effect *e, unsigned a, unsigned b)
{
	lose(e, a);
	lose(e, b);
	lose(e, CX);
}

/* Instructions of x87 that write to memory. */
static void x87(const struct x86_decoded *x, struct machine_effect *e)
{
	static const uint8_t width[8][8] = {
		[1] = { [2] = 4, [3] = 4, [6] = 28, [7] = 2 },
		[3] = { [1] = 4, [2] = 4, [3] = 4, [7] = 10 },
		[5] = { [1] = 8, [2] = 8, [3] = 8, [6] = 108, [7] = 2 },
		[7] = { [1] = 2, [2] = 2, [3] = 2, [6] = 10, [7] = 8 },
	};
	unsigned n = width[x->opcode & 7][x->operation];
	if (x->mod != 3 && n)
		store(x, e, NONE, n);
	if (x->mod == 3 && x->opcode == 0xdf) /* fnstsw %ax */
		lose(e, AX);
}

static void jump_if(const struct x86_decoded *x, struct machine_effect *e)
{
	enum { BELOW = 2, ABOVE_OR_EQUAL, BELOW_OR_EQUAL = 6, ABOVE };
	unsigned condition = x->opcode & 15;
	e->kind = STEP_BRANCH;
	e->keeps_flags = true;
	e->if_most = condition == BELOW || condition == BELOW_OR_EQUAL;
	e->if_more = condition == ABOVE || condition == ABOVE_OR_EQUAL;
	e->most = condition == BELOW || condition == ABOVE_OR_EQUAL ? -1 : 0;
}

/* add, or, adc, sbb, and, sub, xor, cmp: of registers and memory. */
static void arithmetic(const struct x86_decoded *x, struct machine_effect *e)
{
	enum { ADD = 0x01, ADD_TO_REG = 0x03, CMP = 0x38 };
	uint8_t op = x->opcode;
	bool is_byte = !(op & 1);
	if ((op & 0x38) == CMP) {
		if ((op & 7) >= 4)
			compare(x, e, AX, is_byte);
		return;
	}
	if ((op & 7) >= 4)
		lose(e, AX);
	else if (op & 2)
		write_reg(x, e, is_byte);
	else
		write_rm(x, e, is_byte);
	if (x->mod == 3 && is_64bit(x) && (op == ADD || op == ADD_TO_REG))
		change(e, CHANGE_ADD, dwarf[op == ADD ? x->rm : x->reg],
		       dwarf[op == ADD ? x->reg : x->rm], 0);
}

static bool one_byte_effect(const struct x86_decoded *x, struct machine_effect *e)
{
	uint8_t op = x->opcode, low = (uint8_t)((op & 7) | (x->rex & REX_B ? 8 : 0));
	bool is_byte = !(op & 1);
	if (op < 0x40) {
		arithmetic(x, e);
		return true;
	}
	switch (op & 0xf8) {
	case 0x50:
		push(e, low == SP ? NONE : dwarf[low]);
		e->keeps_flags = true;
		return !x->is_16bit;
	case 0x58:
		pop(e, low);
		e->keeps_flags = true;
		return !x->is_16bit;
	case 0x70:
	case 0x78:
		jump_if(x, e);
		return true;
	case 0x90:
		if (low) { /* xchg */
			lose(e, AX);
			lose(e, low);
		}
		e->keeps_flags = true;
		return true;
	case 0xb0: /* mov to %al: the number of a system call */
		lose(e, byte_register(x, low));
		e->keeps_flags = true;
		e->place = (uint8_t)x->number;
		if (low == AX)
			change(e, CHANGE_CONST, dwarf[AX], NONE, 0);
		return true;
	case 0xb8:
		lose(e, low);
		e->keeps_flags = true;
		if (!x->is_16bit) {
			e->place = is_64bit(x) ? (uint64_t)x->number : (uint32_t)x->number;
			change(e, CHANGE_CONST, dwarf[low], NONE, 0);
		}
		return true;
	case 0xd8:
		x87(x, e);
		e->keeps_flags = op != 0xdb && op != 0xdf; /* fcomi */
		return true;
	}
	switch (op) {
	case 0x63: /* movslq */
		lose(e, x->reg);
		e->keeps_flags = true;
		if (is_64bit(x) && x->mod == 3)
			change(e, CHANGE_NARROW, dwarf[x->reg], dwarf[x->rm], 0);
		else if (is_64bit(x))
			load_indexed(x, e, 4);
		return true;
	case 0x68:
	case 0x6a:
		push(e, NONE);
		return !x->is_16bit;
	case 0x69:
	case 0x6b:
		write_reg(x, e, false);
		return true;
	case 0x6c:
	case 0x6d:
	case 0x6e:
	case 0x6f:
	case 0xa4:
	case 0xa5:
	case 0xa6:
	case 0xa7:
		lose_string(e, SI, DI);
		return true;
	case 0xaa:
	case 0xab:
	case 0xae:
	case 0xaf:
		lose_string(e, DI, DI);
		return true;
	case 0xac:
	case 0xad:
		lose_string(e, SI, AX);
		return true;
	case 0x80:
	case 0x81:
	case 0x83:
		compute(x, e, op == 0x80);
		return true;
	case 0x84: /* test */
	case 0x85:
	case 0xa8:
	case 0xa9:
		return true;
	case 0x86: /* xchg */
	case 0x87:
		write_rm(x, e, is_byte);
		write_reg(x, e, is_byte);
		return true;
	case 0x88:
		write_rm(x, e, true);
		e->keeps_flags = true;
		return true;
	case 0x8a:
		write_reg(x, e, true);
		e->keeps_flags = true;
		return true;
	case 0x89:
	case 0x8b:
		move(x, e, op == 0x8b);
		e->keeps_flags = true;
		return true;
	case 0x8c: /* mov of a segment register */
		if (x->mod == 3)
			lose(e, x->rm);
		else
			store(x, e, NONE, 2);
		return true;
	case 0x8d:
		load_address(x, e);
		e->keeps_flags = true;
		return x->mod != 3;
	case 0x8e:
		return true;
	case 0x8f:
		if (x->operation || x->mod == 3 || x->is_16bit) /* XOP; pop to a register */
			return false;
		move_sp(e, 8);
		store(x, e, NONE, 8);
		return true;
	case 0x98: /* cltq */
		lose(e, AX);
		e->keeps_flags = true;
		if (!x->is_16bit)
			change(e, CHANGE_NARROW, dwarf[AX], dwarf[AX], 0);
		return true;
	case 0x99:
		lose(e, DX);
		return true;
	case 0x9b:
	case 0x9e:
		return true;
	case 0x9c:
		push(e, NONE);
		return !x->is_16bit;
	case 0x9d:
		move_sp(e, 8);
		return !x->is_16bit;
	case 0x9f:
	case 0xa0:
	case 0xa1:
	case 0xd7:
		lose(e, AX);
		return true;
	case 0xa2:
	case 0xa3:
		return true;
	case 0xc0:
	case 0xc1:
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		write_rm(x, e, is_byte);
		return true;
	case 0xc6:
	case 0xc7:
		if (x->operation) /* xabort, xbegin */
			return false;
		write_rm(x, e, is_byte);
		e->keeps_flags = true;
		if (x->mod == 3 && !is_byte && is_64bit(x)) {
			e->place = (uint64_t)x->number;
			change(e, CHANGE_CONST, dwarf[x->rm], NONE, 0);
		}
		return true;
	case 0xc2:
	case 0xc3:
		e->kind = STEP_RETURN;
		e->pops = op == 0xc2 ? (uint16_t)x->number : 0;
		return !x->is_16bit;
	case 0xc9: /* leave */
		lose(e, BP);
		change(e, CHANGE_SET, dwarf[SP], dwarf[BP], 0);
		change(e, CHANGE_LOAD, dwarf[BP], dwarf[SP], 0);
		move_sp(e, 8);
		return !x->is_16bit;
	case 0xcc: /* int3, int1, hlt */
	case 0xf1:
	case 0xf4:
		e->kind = STEP_STOP;
		return true;
	case 0xcd: /* int $0x80: a system call as well */
		e->is_syscall = true;
		lose(e, AX);
		return true;
	case 0xe0:
	case 0xe1:
	case 0xe2:
	case 0xe3:
		e->kind = STEP_BRANCH;
		lose(e, CX);
		return true;
	case 0xe4:
	case 0xe5:
	case 0xec:
	case 0xed:
		lose(e, AX);
		return true;
	case 0xe6:
	case 0xe7:
	case 0xee:
	case 0xef:
		return true;
	case 0xe8:
		e->kind = STEP_CALL;
		return true;
	case 0xe9:
	case 0xeb:
		e->kind = STEP_JUMP;
		return true;
	case 0xf5:
	case 0xf8:
	case 0xf9:
	case 0xfa:
	case 0xfb:
	case 0xfc:
	case 0xfd:
		return true;
	case 0xf6:
	case 0xf7:
		if (x->operation == 2 || x->operation == 3)
			write_rm(x, e, is_byte);
		if (x->operation >= 4) {
			lose(e, AX);
			lose(e, DX);
		}
		return true;
	case 0xfe:
		if (x->operation > 1)
			return false;
		write_rm(x, e, true);
		return true;
	case 0xff:
		return group_ff(x, e);
	default:
		return false;
	}
}

/* The bytes that a vector register has here. */
static unsigned vector_width(const struct x86_decoded *x)
{
	return x->vector_bytes ? x->vector_bytes : 16;
}

/* The bytes that an instruction with vector registers in map 0f writes to memory; 0: none. */
static unsigned vector_store(const struct x86_decoded *x)
{
	switch (x->opcode) {
	case 0x11:
		return x->f3 ? 4 : x->f2 ? 8 : vector_width(x);
	case 0x13:
	case 0x17:
	case 0xd6:
		return 8;
	case 0x29:
	case 0x2b:
	case 0xe7:
		return vector_width(x);
	case 0x7e:
		return x->f3 ? 0 : is_64bit(x) ? 8 : 4;
	case 0x7f:
		return vector_width(x);
	case 0x91: /* kmov */
		return x->is_vector ? 8 : 0;
	default:
		return 0;
	}
}

/* Whether such an instruction has its result in the general register of the field reg. */
static bool vector_to_reg(const struct x86_decoded *x)
{
	switch (x->opcode) {
	case 0x2c:
	case 0x2d:
		return x->f2 || x->f3;
	case 0x50:
	case 0xc5:
	case 0xd7:
		return true;
	case 0x78:
	case 0x79:
	case 0x93:
		return x->is_vector;
	default:
		return false;
	}
}

static bool group_ae(const struct x86_decoded *x, struct machine_effect *e)
{
	enum { XSAVE_MAX = 16384 };
	static const uint16_t width[8] = { [0] = 512, [3] = 4, [4] = XSAVE_MAX, [6] = XSAVE_MAX };
	if (x->mod == 3 && x->f3) /* rdfsbase ..; incssp moves another stack */
		lose(e, x->rm);
	else if (x->mod != 3 && width[x->operation])
		store(x, e, NONE, width[x->operation]);
	return true;
}

/* cmpxchg8b and 16b, rdrand, xsavec .. */
static void group_c7(const struct x86_decoded *x, struct machine_effect *e)
{
	enum { XSAVE_MAX = 16384 };
	if (x->mod == 3) {
		lose(e, x->rm);
		return;
	}
	lose(e, AX);
	lose(e, DX);
	store(x, e, NONE, x->operation == 1 ? 16 : XSAVE_MAX);
}

static bool map_0f_effect(const struct x86_decoded *x, struct machine_effect *e)
{
	uint8_t op = x->opcode;
	unsigned stored = vector_store(x);
	if (stored && x->mod != 3) {
		store(x, e, NONE, stored);
		e->keeps_flags = true;
		return true;
	}
	if (vector_to_reg(x)) {
		lose(e, x->reg);
		return true;
	}
	if (op == 0x7e && !x->f3) {
		lose(e, x->rm);
		return true;
	}
	e->keeps_flags = (op >= 0x10 && op <= 0x2a) || (op >= 0x51 && op <= 0x7f && op != 0x77);
	if (x->is_vector)
		return true;
	switch (op & 0xf0) {
	case 0x40: /* cmov */
		write_reg(x, e, false);
		e->keeps_flags = true;
		return true;
	case 0x80:
		jump_if(x, e);
		return true;
	case 0x90:
		write_rm(x, e, true);
		e->keeps_flags = true;
		return true;
	}
	switch (op) {
	case 0x00:
	case 0x01:
		if (x->mod == 3) { /* many; vmcall and the like are not for programs */
			lose(e, AX);
			lose(e, CX);
			lose(e, DX);
			lose(e, x->rm);
			if (x->rm == SP || x->rm == BP || x->rm == BX)
				return op == 0x01 && (x->operation == 2 || x->operation == 7);
		} else {
			store(x, e, NONE, 10);
		}
		return true;
	case 0x02:
	case 0x03:
		write_reg(x, e, false);
		return true;
	case 0x05:
		e->is_syscall = true;
		lose(e, AX);
		lose(e, CX);
		e->lost |= 1 << 11;
		return true;
	case 0x0b: /* ud2, ud1, ud0 */
	case 0xb9:
	case 0xff:
		e->kind = STEP_STOP;
		return true;
	case 0x0d:
	case 0x0e:
	case 0x77:
		return true;
	case 0x1e: /* rdssp; endbr64 */
		if (x->f3 && x->mod == 3 && x->operation == 1)
			lose(e, x->rm);
		return true;
	case 0x06:
	case 0x07:
	case 0x08:
	case 0x09:
	case 0x30:
	case 0x34:
	case 0x35:
	case 0x37:
		return false;
	case 0x31:
	case 0x32:
	case 0x33:
		lose(e, AX);
		lose(e, DX);
		return true;
	case 0xa0: /* push, pop %fs, %gs */
	case 0xa8:
		push(e, NONE);
		return !x->is_16bit;
	case 0xa1:
	case 0xa9:
		move_sp(e, 8);
		return !x->is_16bit;
	case 0xa2:
		lose(e, AX);
		lose(e, BX);
		lose(e, CX);
		lose(e, DX);
		return true;
	case 0xa3:
		return true;
	case 0xa4:
	case 0xa5:
	case 0xab:
	case 0xac:
	case 0xad:
	case 0xb3:
	case 0xbb:
		write_rm(x, e, false);
		return true;
	case 0xba:
		if (x->operation != 4)
			write_rm(x, e, false);
		return true;
	case 0xae:
		return group_ae(x, e);
	case 0xaf:
	case 0xb2:
	case 0xb4:
	case 0xb5:
	case 0xb8:
	case 0xbc:
	case 0xbd:
		write_reg(x, e, false);
		return true;
	case 0xb6:
	case 0xb7:
	case 0xbe:
	case 0xbf:
		write_reg(x, e, false);
		e->keeps_flags = true;
		if (x->mod == 3 && !x->is_16bit && ((op & 1) || byte_register(x, x->rm) == x->rm))
			change(e, CHANGE_NARROW, dwarf[x->reg], dwarf[x->rm], 0);
		return true;
	case 0xb0:
	case 0xb1:
		write_rm(x, e, !(op & 1));
		lose(e, AX);
		return true;
	case 0xc0:
	case 0xc1:
		write_rm(x, e, !(op & 1));
		write_reg(x, e, !(op & 1));
		return true;
	case 0xc3: /* movnti */
		store(x, e, NONE, operand_width(x, false));
		return true;
	case 0xc7:
		group_c7(x, e);
		return true;
	case 0xc8:
	case 0xc9:
	case 0xca:
	case 0xcb:
	case 0xcc:
	case 0xcd:
	case 0xce:
	case 0xcf: /* bswap */
		lose(e, (op & 7u) | (x->rex & REX_B ? 8 : 0));
		return true;
	default: /* instructions with vector registers only */
		return true;
	}
}

static bool map_0f38_effect(const struct x86_decoded *x, struct machine_effect *e)
{
	uint8_t op = x->opcode;
	if (op >= 0xf0 || (x->is_vector && op >= 0xe0)) { /* movbe, crc32; andn .. shlx */
		lose(e, x->reg);
		if (x->is_vector)
			lose(e, x->vvvv);
		if (x->mod == 3)
			lose(e, x->rm);
		else
			store(x, e, NONE, 64);
		return true;
	}
	/* Stores of some elements, of narrower ones, and to several places, by an index. */
	if (x->is_vector && x->mod != 3 &&
	    (op == 0x2e || op == 0x2f || op == 0x8e || op == 0x8a || op == 0x8b || op == 0x63 ||
	     (x->f3 && op >= 0x10 && op <= 0x35)))
		store(x, e, NONE, vector_width(x));
	return !x->is_evex || x->mod != 1 || !e->n_changes;
}

static bool map_0f3a_effect(const struct x86_decoded *x, struct machine_effect *e)
{
	uint8_t op = x->opcode;
	if (op == 0xf0 || op == 0xcc) { /* rorx; sha1rnds4 has vector registers */
		if (op == 0xf0)
			lose(e, x->reg);
		return true;
	}
	if (op >= 0x60 && op <= 0x63 && !(x->is_vector && x->vector_bytes == 64)) /* pcmpistri */
		lose(e, CX);
	bool extracts = op >= 0x14 && op <= 0x17;
	if (extracts && x->mod == 3)
		lose(e, x->rm);
	else if (x->mod != 3 && extracts)
		store(x, e, NONE, 8);
	else if (x->mod != 3 && x->is_vector && (op == 0x19 || op == 0x39))
		store(x, e, NONE, 16);
	else if (x->mod != 3 && x->is_vector && (op == 0x1b || op == 0x3b))
		store(x, e, NONE, 32);
	else if (x->mod != 3 && x->is_vector && op == 0x1d)
		store(x, e, NONE, vector_width(x) / 2);
	return !x->is_evex || x->mod != 1 || !extracts;
}

static bool map_5_effect(const struct x86_decoded *x, struct machine_effect *e)
{
	uint8_t op = x->opcode;
	if (op == 0x2c || op == 0x2d || op == 0x78 || op == 0x79)
		lose(e, x->reg);
	else if (op == 0x7e && x->mod == 3)
		lose(e, x->rm);
	else if ((op == 0x7e || op == 0x11) && x->mod != 3)
		store(x, e, NONE, 2);
	return true;
}

static bool effect_of(const struct x86_decoded *x, struct machine_effect *e)
{
	switch (x->map) {
	case ONE_BYTE:
		return one_byte_effect(x, e);
	case MAP_0F:
		return map_0f_effect(x, e);
	case MAP_0F38:
		return map_0f38_effect(x, e);
	case MAP_0F3A:
		return map_0f3a_effect(x, e);
	case MAP_5:
		return map_5_effect(x, e);
	case MAP_6:
		return true;
	}
	return false;
}

/* Registers that a function may have changed when it returns. */
static const uint32_t not_saved = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 0xf00;

bool machine_x86_64_effect(const uint8_t *code, size_t size, uint64_t addr,
			   struct machine_effect *ret)
{
	struct x86_decoded x = { .code = code, .size = size, .addr = addr };
	*ret = (struct machine_effect){ .compared = NONE,
					.at = { .a = NONE, .b = NONE, .c = NONE } };
	take_opcode(&x);
	if (!x.failed)
		take_operands(&x);
	if (x.failed)
		return false;
	x.next = addr + x.at;
	ret->size = (uint8_t)x.at;
	if (!effect_of(&x, ret))
		return false;
	if (ret->kind == STEP_CALL || ret->kind == STEP_JUMP || ret->kind == STEP_BRANCH)
		ret->target = x.next + (uint64_t)x.number;
	if (ret->kind == STEP_CALL || ret->kind == STEP_CALL_SLOT)
		ret->lost = not_saved;
	return true;
}
