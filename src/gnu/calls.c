/* calls.c - finds calls in the code as GNU gprof 2.40 does, for -c: on few machines, without a
 * disassembler. */
#include <elf.h>

#include "gnu/rules.h"
#include "machine/machine.h"
#include "object/object.h"

typedef void call_fn(uint64_t site, uint64_t target, void *arg);

/* ---- x86 ---- */

enum { CALL = 0xe8, CALL_SIZE = 5 };

/* Every byte may start an instruction. The displacement is unsigned and addresses do not wrap, so
 * calls that go backwards are never found. */
static void scan_x86(const struct object_code *c, call_fn *call, void *arg)
{
	for (size_t i = 0; i < c->n && c->n - i >= CALL_SIZE && c->addr + i < c->high; i++)
		if (c->bytes[i] == CALL)
			call(c->addr + i, c->addr + i + CALL_SIZE + machine_word(c->bytes + i + 1),
			     arg);
}

/* ---- aarch64 ---- */

/* Jumps count as calls, too. */
static void scan_aarch64(const struct object_code *c, call_fn *call, void *arg)
{
	for (size_t i = -c->addr & 3; i < c->n && c->n - i >= 4 && c->addr + i < c->high; i += 4) {
		uint32_t insn = machine_word(c->bytes + i);
		if ((insn & 0x7c000000) != 0x14000000)
			continue;
		uint64_t words = insn & 0x03ffffff;
		words = (words ^ 0x02000000) - 0x02000000; /* signed, 26 bits */
		call(c->addr + i, c->addr + i + words * 4, arg);
	}
}

/* ---- any machine ---- */

static bool scan(uint16_t machine, const struct object_code *c, call_fn *call, void *arg)
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

const struct call_rules gnu_call_rules = { scan };
