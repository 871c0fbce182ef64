#include <stdio.h>

#include "object/disassembler.h"
#include "object/private.h"

typedef void call_fn(uint64_t site, uint64_t target, void *arg);

struct code { /* bytes[0] is at addr */
	const uint8_t *bytes;
	size_t n; /* up to the end of the section: an instruction may reach beyond the range */
	uint64_t addr, high;
};

static uint32_t le32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* ---- x86 ---- */

enum { CALL = 0xe8, CALL_SIZE = 5 };

/* GNU: every byte may start an instruction, the displacement has no sign and addresses do not wrap:
 * so it never finds a call that goes backwards. */
static void scan_x86(const struct code *c, call_fn *call, void *arg)
{
	for (size_t i = 0; i < c->n && c->n - i >= CALL_SIZE && c->addr + i < c->high; i++)
		if (c->bytes[i] == CALL)
			call(c->addr + i, c->addr + i + CALL_SIZE + le32(c->bytes + i + 1), arg);
}

static void decode_x86(struct disassembler *d, const struct code *c, bool is_64bit, call_fn *call,
		       void *arg)
{
	const uint8_t *p = c->bytes;
	size_t left = c->n;
	uint64_t addr = c->addr;

	while (left && addr < c->high) {
		if (!d->next(d->handle, &p, &left, &addr, d->insn)) {
			p++, left--, addr++; /* data, or an instruction newer than capstone */
			continue;
		}
		const uint8_t *end = p; /* prefixes may stand before the call */
		if (d->insn->id != X86_INS_CALL || d->insn->size < CALL_SIZE ||
		    end[-CALL_SIZE] != CALL)
			continue;
		uint64_t target = addr + (uint64_t)(int64_t)(int32_t)le32(end - 4);
		call(d->insn->address, is_64bit ? target : (uint32_t)target, arg);
	}
}

/* ---- aarch64: instructions are little-endian words always ---- */

static void scan_aarch64(const struct code *c, bool with_jumps, call_fn *call, void *arg)
{
	const uint32_t mask = with_jumps ? 0x7c000000 : 0xfc000000;
	for (size_t i = -c->addr & 3; i < c->n && c->n - i >= 4 && c->addr + i < c->high; i += 4) {
		uint32_t insn = le32(c->bytes + i);
		if ((insn & mask) != (0x94000000 & mask))
			continue;
		uint64_t words = insn & 0x03ffffff;
		words = (words ^ 0x02000000) - 0x02000000; /* 26 bits with sign */
		call(c->addr + i, c->addr + i + words * 4, arg);
	}
}

/* ---- backwards ---- */

/* Of "call *operand", from its two first bytes and what may be a third. */
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

static bool x86_call_ends_at(const struct object_file *o, uint64_t addr)
{
	for (unsigned n = 2; n <= 7 && n <= addr; n++) {
		size_t size;
		const uint8_t *code = object_code(o, addr - n, &size);
		if (!code || size < n)
			continue;
		if (n == CALL_SIZE && code[0] == CALL)
			return true;
		if (code[0] == 0xff && (code[1] & 0x38) == 0x10 && /* call *operand */
		    call_size(code[1], n > 2 ? code[2] : 0) == n)
			return true;
	}
	return false;
}

static bool aarch64_call_ends_at(const struct object_file *o, uint64_t addr)
{
	size_t size;
	const uint8_t *code = addr < 4 ? NULL : object_code(o, addr - 4, &size);
	if (!code || size < 4)
		return false;
	uint32_t word = le32(code);
	return word >> 26 == 0x25 || (word & 0xfffffc1f) == 0xd63f0000; /* BL, BLR */
}

bool object_call_ends_at(const struct object_file *o, uint64_t addr)
{
	size_t size;
	if (!object_code(o, addr, &size))
		return true;
	switch (o->main->header.e_machine) {
	case EM_X86_64:
	case EM_386:
		return x86_call_ends_at(o, addr);
	case EM_AARCH64:
		return aarch64_call_ends_at(o, addr);
	}
	return true;
}

/* ---- any ---- */

size_t object_call_at(const struct object_file *o, uint64_t addr, uint64_t *target)
{
	size_t n;
	const uint8_t *code = object_code(o, addr, &n);
	uint16_t machine = o->main->header.e_machine;
	if (code && machine == EM_AARCH64 && n >= 4 && le32(code) >> 26 == 0x25) {
		uint64_t words = le32(code) & 0x03ffffff;
		words = (words ^ 0x02000000) - 0x02000000;
		*target = addr + words * 4;
		return 4;
	}
	if (code && (machine == EM_X86_64 || machine == EM_386) && n >= CALL_SIZE &&
	    *code == CALL) {
		*target = addr + CALL_SIZE + (uint64_t)(int64_t)(int32_t)le32(code + 1);
		return CALL_SIZE;
	}
	return 0;
}

static struct disassembler *disassembler_of(struct object_file *o)
{
	uint16_t machine = o->main->header.e_machine;
	if (o->disassembler || o->no_disassembler)
		return o->disassembler;
	if (machine == EM_AARCH64)
		o->disassembler = disassembler_new(CS_ARCH_ARM64, CS_MODE_ARM, &o->no_disassembler);
	else
		o->disassembler = disassembler_new(CS_ARCH_X86,
						   machine == EM_X86_64 ? CS_MODE_64 : CS_MODE_32,
						   &o->no_disassembler);
	return o->disassembler;
}

const char *object_calls_problem(const struct object_file *o) { return o->no_disassembler; }

static bool scan(struct object_file *o, const struct code *c, bool gnu, call_fn *call, void *arg)
{
	switch (o->main->header.e_machine) {
	case EM_X86_64:
	case EM_386:
		if (gnu)
			scan_x86(c, call, arg);
		else if (disassembler_of(o))
			decode_x86(o->disassembler, c, o->main->header.e_machine == EM_X86_64, call,
				   arg);
		return gnu || o->disassembler;
	case EM_AARCH64:
		scan_aarch64(c, gnu, call, arg);
		return true;
	}
	return false;
}

bool object_calls(struct object_file *o, uint64_t low, uint64_t high, bool gnu, call_fn *call,
		  void *arg)
{
	const struct code nothing = { 0 };
	if (gnu) { /* it knows of .text only */
		low = low > o->text.low ? low : o->text.low;
		high = high < o->text.high ? high : o->text.high;
	}
	for (size_t i = object_code_after(o, low); i < o->n_code && o->code[i].low < high; i++) {
		const struct code_range *r = &o->code[i];
		struct code c = { .addr = low > r->low ? low : r->low,
				  .high = high < r->high ? high : r->high };
		if (c.addr >= c.high)
			continue;
		c.bytes = object_code(o, c.addr, &c.n);
		if (c.bytes && !scan(o, &c, gnu, call, arg))
			return false;
	}
	return scan(o, &nothing, gnu, call, arg);
}

/* ---- as text ---- */

static void add_byte(const struct code *c, uint64_t addr, const uint8_t *p,
		     void (*add)(const struct object_instruction *insn, void *arg), void *arg)
{
	char value[8];
	struct object_instruction i = { addr, p, 1, ".byte", value };
	snprintf(value, sizeof(value), "0x%02x", *p);
	if (addr < c->high)
		add(&i, arg);
}

static void print_code(struct disassembler *d, const struct code *c,
		       void (*add)(const struct object_instruction *insn, void *arg), void *arg)
{
	const uint8_t *p = c->bytes;
	size_t left = c->n;
	uint64_t addr = c->addr;

	while (left && addr < c->high) {
		const uint8_t *start = p;
		if (!d->next(d->handle, &p, &left, &addr, d->insn)) {
			add_byte(c, addr, p, add, arg);
			p++, left--, addr++;
			continue;
		}
		struct object_instruction i = { d->insn->address, start, d->insn->size,
						d->insn->mnemonic, d->insn->op_str };
		add(&i, arg);
	}
}

bool object_instructions(struct object_file *o, uint64_t low, uint64_t high,
			 void (*add)(const struct object_instruction *insn, void *arg), void *arg)
{
	uint16_t machine = o->main->header.e_machine;
	struct code c = { .addr = low, .high = high };

	if ((machine != EM_X86_64 && machine != EM_386 && machine != EM_AARCH64) ||
	    !disassembler_of(o))
		return false;
	c.bytes = object_code(o, low, &c.n);
	if (c.bytes && low < high)
		print_code(o->disassembler, &c, add, arg);
	return true;
}
