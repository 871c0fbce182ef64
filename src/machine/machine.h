/* machine.h - what a processor decides: its registers, its calls, its signal frames.
 *
 *	const struct machine *m = machine_find(header.e_machine);
 *	if (!m)
 *		... not known here: no call, frame or register of it can be told ...
 *
 * One constant per machine, in a file of its own that alone knows it; all others ask the constant.
 * To add a machine: such a file, and its line in machine.c. Code is little-endian.
 *
 * Freestanding like unwind/row.h: constants, and functions of bytes that are not trusted. */
#ifndef MACHINE_MACHINE_H
#define MACHINE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MACHINE_REGISTERS = 32,    /* most that any has, by DWARF number */
	MACHINE_NO_REGISTER = 255, /* where a register's number is expected */
	MACHINE_CALL_MAX = 8,      /* bytes of the longest call */
	MACHINE_LEAVES_MAX = 24,   /* bytes that .leaves reads at most */
};

/* A frame of `size` bytes: how far behind its upper end (the CFA) the return address and the
 * caller's frame pointer are; 0: not saved yet, or no more, and still in their registers. */
struct machine_frame {
	int32_t size;
	int16_t return_at, fp_at; /* bytes, negative */
};

enum step_kind {
	STEP_ON,        /* to the next instruction */
	STEP_CALL,      /* of target */
	STEP_CALL_SLOT, /* of what the variable at target holds; target 0: of what a register holds
			 */
	STEP_JUMP,      /* to target */
	STEP_BRANCH,    /* to target, or on */
	STEP_SWITCH,    /* to where a register says, or an entry of the table at target, if not 0 */
	STEP_RETURN,
	STEP_STOP, /* nowhere: a trap */
};

/* Where control goes from an instruction. */
struct machine_step {
	uint64_t target; /* STEP_ON: of what it takes the address or a table's entry, or 0 */
	enum step_kind kind;
	bool ends_call; /* behind a call: stores what it returned, or drops its arguments */
};

struct machine {
	uint16_t elf;  /* e_machine */
	char name[14]; /* as uname -m says it: "x86_64" */

	/* ---- registers, by DWARF's numbers ---- */

	/* General registers and sp are below this number. 0: the machine's code can be read, but
	 * its stacks cannot be walked. */
	uint8_t n_registers;
	uint8_t sp, fp;
	uint8_t bx; /* the third one that CFAs are computed from, or NO_REGISTER */
	/* The link register, where a call leaves the return address. NO_REGISTER: calls push it. */
	uint8_t lr;
	bool is_signing; /* return addresses may carry an authentication code */

	/* ---- registers, by the kernel's numbers (asm/perf_regs.h) ---- */

	uint64_t perf_mask;              /* of those below */
	uint8_t perf[MACHINE_REGISTERS]; /* each DWARF register's; NO_REGISTER: it is always 0 */
	uint64_t sample_mask;            /* all that the kernel puts into samples of any event */
	uint8_t perf_pc;
	/* Names of the kernel's registers from number 0 on, as perf has them, a space between two;
	 * ".": a number without one. */
	const char *perf_names;

	/* ---- signals ---- */

	/* Where the kernel lays a register down for a handler: bytes from the sp that the handler
	 * returns with. 0: nowhere. */
	uint16_t signal_pc, signal[MACHINE_REGISTERS];
	/* Whether code is the kernel's way back from a handler. */
	bool (*is_sigreturn)(const uint8_t *code, size_t size);

	/* ---- frames by guess ---- */

	/* What lies where, in bytes from where the frame pointer points to. */
	int8_t cfa_from_fp, return_from_fp, saved_from_fp;
	/* The frame at an instruction at the very start or end of a function: `before` bytes before
	 * `code` may be read, and `after` from it. False: the instruction does not tell. */
	bool (*frame)(const uint8_t *code, size_t before, size_t after, struct machine_frame *ret);

	/* The frame at code that runs straight to a return and that can be read up to there: what
	 * it takes off the stack tells, for certain. NULL: frame pointers do as well there. */
	bool (*leaves)(const uint8_t *code, size_t size, struct machine_frame *ret);

	/* The code of python's trampoline that is of that size (Python/asm_trampoline.S), for where
	 * it cannot be read; NULL: none is. NULL: frame pointers lead through it. */
	const uint8_t *(*trampoline)(size_t size);

	/* ---- instructions ---- */

	uint8_t code_align; /* where they may start: 1, 2, 4 */
	/* The size of the instruction at code, at most `size`. NULL: it takes a disassembler. */
	size_t (*length)(const uint8_t *code, size_t size);
	/* The size of the direct call at code, which lies at addr, and where it goes; 0: none. */
	size_t (*call_at)(const uint8_t *code, size_t size, uint64_t addr, uint64_t *target);
	/* Whether a call may end right before `end`; `before` bytes before it may be read. */
	bool (*call_ends)(const uint8_t *end, size_t before);
	/* The instruction of `size` bytes at addr; *ret is zeroed before. */
	void (*step)(const uint8_t *code, size_t size, uint64_t addr, struct machine_step *ret);
	/* The bytes that the call of a hook has in compiled code. */
	uint8_t hook_call_size;

	/* ---- compilers ---- */

	/* What they are told beside -pg for hooks that come before a function's own code, and for
	 * stacks that can be walked wherever a sample falls; NULL: nothing. */
	const char *flag_for_hooks, *flag_for_stacks;

	/* ---- procedure linkage tables ---- */

	uint8_t plt_align; /* of entries; they are as far apart at least */
	/* The slot that the entry at code jumps through; false: it is none. `got`: .got.plt. */
	bool (*plt_slot)(const uint8_t *code, size_t size, uint64_t addr, uint64_t got,
			 uint64_t *slot);
	uint32_t jump_slot, glob_dat, irelative; /* types of the relocations of slots */
	uint32_t relative; /* ... and of those of addresses in data; 0: they lie in the data */
};

extern const struct machine machine_x86_64, machine_aarch64, machine_riscv64;
extern const struct machine machine_i386; /* its stacks are not walked */

/* NULL: not known. */
const struct machine *machine_find(uint32_t elf);
const struct machine *machine_by_name(const char *name); /* whose stacks can be walked */
/* Of those whose registers (perf_mask) are all in this one, the one with most; NULL: none. */
const struct machine *machine_by_registers(uint64_t perf_mask);
/* What kin itself is compiled for (KIN_MACHINE, by the build: as uname -m says it); NULL: not
 * known. */
const struct machine *machine_native(void);

/* Where a register is among those that perf_mask selects: values[n]. */
static inline unsigned machine_perf_place(const struct machine *m, unsigned perf_register)
{
	return (unsigned)__builtin_popcountll(m->perf_mask & ((UINT64_C(1) << perf_register) - 1));
}

static inline uint32_t machine_word(const uint8_t *p) /* little-endian */
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline bool machine_starts(const uint8_t *code, size_t size, const uint8_t *with, size_t n)
{
	if (size < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (code[i] != with[i])
			return false;
	return true;
}

#endif
