/* disasm.c - calls found in code, and code as text. */
#include <stdio.h>

#include "object/disassembler.h"
#include "object/object_private.h"

typedef void call_fn(uint64_t site, uint64_t target, void *arg);

/* ---- x86 ---- */

enum { CALL = 0xe8, CALL_SIZE = 5 };

static void decode_x86(struct disassembler *d, const struct object_code *c, bool is_64bit,
		       call_fn *call, void *arg)
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

/* ---- any machine ---- */

/* For machines whose instructions tell their size. */
static void decode(const struct machine *m, const struct object_code *c, call_fn *call, void *arg)
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
	size_t size;
	if (!m || !object_code_part(o, addr, 1, &size))
		return true;
	const uint8_t *code = object_code_before(o, addr, &size);
	return m->call_ends(size ? code + size : NULL, size);
}

static struct disassembler *disassembler_of(struct object_file *o)
{
	if (!o->disassembler && !o->no_disassembler)
		o->disassembler =
			disassembler_new(o->main->image.header.e_machine, &o->no_disassembler);
	return o->disassembler;
}

const uint8_t *object_instruction(struct object_file *o, uint64_t addr, size_t *size)
{
	size_t n;
	const struct machine *m = object_has_code(o) ? object_kind(o) : NULL;
	const uint8_t *code = m ? object_code(o, addr, &n) : NULL, *end = code;
	if (!code)
		return NULL;
	if (m->length) {
		*size = m->length(code, n);
		return *size && *size <= n ? code : NULL;
	}
	struct disassembler *d = disassembler_of(o);
	if (!d || !d->next(d->handle, &end, &n, &addr, d->insn))
		return NULL;
	*size = (size_t)(end - code);
	return code;
}

const char *object_calls_problem(const struct object_file *o) { return o->no_disassembler; }

static bool scan(struct object_file *o, const struct object_code *c, const struct call_rules *rules,
		 call_fn *call, void *arg)
{
	const struct machine *m = object_kind(o);
	if (rules)
		return rules->scan(o->main->image.header.e_machine, c, call, arg);
	if (m && m->length)
		decode(m, c, call, arg);
	else if (m && disassembler_of(o))
		decode_x86(o->disassembler, c, object_is_64bit(o), call, arg);
	return m && (m->length || o->disassembler);
}

bool object_calls(struct object_file *o, uint64_t low, uint64_t high,
		  const struct call_rules *rules, call_fn *call, void *arg)
{
	const struct object_code nothing = { 0 };
	if (rules) { /* in .text only */
		low = low > o->text.low ? low : o->text.low;
		high = high < o->text.high ? high : o->text.high;
	}
	for (size_t i = elf_file_code_after(o->main, low);
	     object_has_code(o) && i < o->main->n_code && o->main->code[i].low < high; i++) {
		const struct code_range *r = &o->main->code[i];
		struct object_code c = { .addr = low > r->low ? low : r->low,
					 .high = high < r->high ? high : r->high };
		if (c.addr >= c.high)
			continue;
		c.bytes = object_code(o, c.addr, &c.n);
		if (c.bytes && !scan(o, &c, rules, call, arg))
			return false;
	}
	return scan(o, &nothing, rules, call, arg);
}

/* ---- code as text ---- */

static void add_byte(const struct object_code *c, uint64_t addr, const uint8_t *p,
		     void (*add)(const struct object_instruction *insn, void *arg), void *arg)
{
	char value[8];
	struct object_instruction i = { addr, p, 1, ".byte", value };
	snprintf(value, sizeof(value), "0x%02x", *p);
	if (addr < c->high)
		add(&i, arg);
}

static void print_code(struct disassembler *d, const struct object_code *c,
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
	struct object_code c = { .addr = low, .high = high };

	if (!object_kind(o) || !disassembler_of(o))
		return false;
	c.bytes = object_code(o, low, &c.n);
	disassembler_syntax(o->disassembler, intel);
	if (c.bytes && low < high && object_has_code(o))
		print_code(o->disassembler, &c, add, arg);
	return true;
}

/* ---- code as a number ---- */

enum { LEAST_CODE = 8 }; /* instructions: shorter functions resemble others by chance */

struct gist {
	const struct machine *machine;
	uint64_t hash, kept; /* hash of all instructions; up to the last one that does something */
	size_t n;            /* instructions that do something */
};

static void add_gist(const struct object_instruction *i, void *arg)
{
	struct gist *g = arg;
	uint64_t gist = g->machine->gist(i->bytes, i->size);

	g->hash = machine_hash(g->hash, (const uint8_t *)&gist, sizeof(gist));
	if (!gist)
		return;
	g->kept = g->hash;
	g->n++;
}

uint64_t object_gist(struct object_file *o, uint64_t low, uint64_t high)
{
	struct gist g = { .machine = object_kind(o), .hash = MACHINE_HASH };
	size_t n;

	if (!object_has_code(o) || !object_code(o, low, &n) || n < high - low)
		return 0; /* part of the function is missing */
	if (!object_instructions(o, low, high, false, add_gist, &g) || g.n < LEAST_CODE)
		return 0;
	return g.kept | 1;
}
