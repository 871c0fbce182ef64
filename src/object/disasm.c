/* disasm.c - calls found in code, and code as text. */
#include <stdio.h>

#include "object/disassembler.h"
#include "object/private.h"

typedef void call_fn(uint64_t site, uint64_t target, void *arg);

struct code { /* bytes[0] is at addr */
	const uint8_t *bytes;
	size_t n; /* up to the end of the section: an instruction may reach beyond the range */
	uint64_t addr, high;
};

/* ---- x86 ---- */

enum { CALL = 0xe8, CALL_SIZE = 5 };

/* GNU: every byte may start an instruction, the displacement has no sign and addresses do not wrap:
 * so it never finds a call that goes backwards. */
static void scan_x86(const struct code *c, call_fn *call, void *arg)
{
	for (size_t i = 0; i < c->n && c->n - i >= CALL_SIZE && c->addr + i < c->high; i++)
		if (c->bytes[i] == CALL)
			call(c->addr + i, c->addr + i + CALL_SIZE + machine_word(c->bytes + i + 1),
			     arg);
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
		uint64_t target = addr + (uint64_t)(int64_t)(int32_t)machine_word(end - 4);
		call(d->insn->address, is_64bit ? target : (uint32_t)target, arg);
	}
}

/* ---- aarch64 ---- */

/* GNU: jumps are calls as well. */
static void scan_aarch64(const struct code *c, call_fn *call, void *arg)
{
	for (size_t i = -c->addr & 3; i < c->n && c->n - i >= 4 && c->addr + i < c->high; i += 4) {
		uint32_t insn = machine_word(c->bytes + i);
		if ((insn & 0x7c000000) != 0x14000000)
			continue;
		uint64_t words = insn & 0x03ffffff;
		words = (words ^ 0x02000000) - 0x02000000; /* 26 bits with sign */
		call(c->addr + i, c->addr + i + words * 4, arg);
	}
}

/* ---- any ---- */

/* Machines whose instructions tell their size. */
static void decode(const struct machine *m, const struct code *c, call_fn *call, void *arg)
{
	size_t size;
	for (size_t i = -c->addr & (m->code_align - 1u); i < c->n && c->addr + i < c->high;
	     i += size) {
		uint64_t addr = c->addr + i, target;
		size = m->length(c->bytes + i, c->n - i);
		if (m->call_at(c->bytes + i, c->n - i, addr, &target))
			call(addr, target, arg);
	}
}

bool object_call_ends_at(const struct object_file *o, uint64_t addr)
{
	const struct machine *m = object_kind(o);
	const uint8_t *code;
	size_t size, before = MACHINE_CALL_MAX;
	if (!m || !object_code(o, addr, &size))
		return true;
	for (; before; before--)
		if (before <= addr && (code = object_code(o, addr - before, &size)) &&
		    size >= before)
			return m->call_ends(code + before, before);
	return m->call_ends(NULL, 0);
}

size_t object_call_at(const struct object_file *o, uint64_t addr, uint64_t *target)
{
	size_t n;
	const struct machine *m = object_has_code(o) ? object_kind(o) : NULL;
	const uint8_t *code = object_code(o, addr, &n);
	return m && code ? m->call_at(code, n, addr, target) : 0;
}

static struct disassembler *disassembler_of(struct object_file *o)
{
	static const struct {
		uint16_t machine;
		cs_arch arch;
		cs_mode mode;
	} known[] = {
		{ EM_X86_64, CS_ARCH_X86, CS_MODE_64 },
		{ EM_386, CS_ARCH_X86, CS_MODE_32 },
		{ EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM },
#if CS_API_MAJOR >= 5
		{ EM_RISCV, CS_ARCH_RISCV, (cs_mode)(CS_MODE_RISCV64 | CS_MODE_RISCVC) },
#endif
	};
	for (size_t i = 0; !o->disassembler && !o->no_disassembler && i < ARRAY_LEN(known); i++)
		if (known[i].machine == o->main->header.e_machine)
			o->disassembler =
				disassembler_new(known[i].arch, known[i].mode, &o->no_disassembler);
	return o->disassembler;
}

const char *object_calls_problem(const struct object_file *o) { return o->no_disassembler; }

/* GNU's rules are for few machines. */
static bool scan_gnu(uint16_t machine, const struct code *c, call_fn *call, void *arg)
{
	switch (machine) {
	case EM_X86_64:
	case EM_386:
		scan_x86(c, call, arg);
		return true;
	case EM_AARCH64:
		scan_aarch64(c, call, arg);
		return true;
	}
	return false;
}

static bool scan(struct object_file *o, const struct code *c, bool gnu, call_fn *call, void *arg)
{
	const struct machine *m = object_kind(o);
	if (gnu)
		return scan_gnu(o->main->header.e_machine, c, call, arg);
	if (m && m->length)
		decode(m, c, call, arg);
	else if (m && disassembler_of(o))
		decode_x86(o->disassembler, c, m->elf == EM_X86_64, call, arg);
	return m && (m->length || o->disassembler);
}

bool object_calls(struct object_file *o, uint64_t low, uint64_t high, bool gnu, call_fn *call,
		  void *arg)
{
	const struct code nothing = { 0 };
	if (gnu) { /* it knows of .text only */
		low = low > o->text.low ? low : o->text.low;
		high = high < o->text.high ? high : o->text.high;
	}
	for (size_t i = object_code_after(o, low);
	     object_has_code(o) && i < o->n_code && o->code[i].low < high; i++) {
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

bool object_instructions(struct object_file *o, uint64_t low, uint64_t high, bool intel,
			 void (*add)(const struct object_instruction *insn, void *arg), void *arg)
{
	struct code c = { .addr = low, .high = high };

	if (!object_kind(o) || !disassembler_of(o))
		return false;
	c.bytes = object_code(o, low, &c.n);
	disassembler_syntax(o->disassembler, intel);
	if (c.bytes && low < high && object_has_code(o))
		print_code(o->disassembler, &c, add, arg);
	return true;
}
