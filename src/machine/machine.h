/* machine.h - what depends on the processor: registers, calls, signal frames.
 *
 *	const struct machine *m = machine_find(header.e_machine);
 *	if (!m)
 *		... unknown: its calls, frames and registers cannot be decoded ...
 *
 * One constant per machine, in a file of its own; all other code uses the constants. To add a
 * machine, write such a file and add its line in machine.c. Code is little-endian.
 *
 * Freestanding like unwind/row.h: constants, and functions that decode untrusted bytes. */
#ifndef MACHINE_MACHINE_H
#define MACHINE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MACHINE_REGISTERS = 32,    /* most registers of any machine, by DWARF number */
	MACHINE_NO_REGISTER = 255, /* in place of a register's number */
	MACHINE_CALL_MAX = 8,      /* bytes of the longest call */
	MACHINE_ORIGIN_MAX = 16,   /* most bytes that .starts_thread reads */
	MACHINE_LEAVES_MAX = 24,   /* most bytes that .leaves reads */
};

/* A frame of `size` bytes. return_at and fp_at are the offsets from its upper end (the CFA) of the
 * return address and the caller's frame pointer; 0: not saved yet, or restored already: still in
 * their registers. */
struct machine_frame {
	int32_t size;
	int16_t return_at, fp_at; /* bytes, negative */
};

enum step_kind {
	STEP_ON,        /* to the next instruction */
	STEP_CALL,      /* to target */
	STEP_CALL_SLOT, /* to the address in the variable at target; target 0: in a register */
	STEP_JUMP,      /* to target */
	STEP_BRANCH,    /* to target, or to the next instruction */
	STEP_SWITCH, /* to an address in a register, or to an entry of the table at target, if not 0
		      */
	STEP_RETURN,
	STEP_STOP, /* trap: does not go on */
};

/* Where control goes after an instruction. */
struct machine_step {
	uint64_t target; /* STEP_ON: the address of a variable or table that it uses, or 0 */
	enum step_kind kind;
};

/* What an instruction does to the values by which stack frames are found: sp, registers that hold
 * an address in the stack, and words there in which callers' registers are saved. */
enum change_kind {
	CHANGE_SET,   /* a = b + n */
	CHANGE_LOAD,  /* a = the word at b + n */
	CHANGE_STORE, /* the word at b + n = a; a NO_REGISTER: `width` bytes there, of anything */
	/* Other changes matter only for computing addresses in jump tables: */
	CHANGE_CONST,   /* a = the address `place` */
	CHANGE_ADD,     /* a = a + b */
	CHANGE_NARROW,  /* a = b, extended from fewer bits */
	CHANGE_INDEXED, /* a = signed `width`-byte word at n + b + c * width; b NO_REGISTER: 0 */
	CHANGE_MASK,    /* a = a & n */
};

struct machine_change {
	uint8_t kind;    /* enum change_kind */
	uint8_t a, b, c; /* registers by DWARF's numbers */
	uint16_t width;
	int32_t n;
};

enum { MACHINE_CHANGES = 3 };

struct machine_effect {
	uint8_t size;    /* of the instruction */
	uint8_t kind;    /* enum step_kind */
	uint16_t pops;   /* STEP_RETURN: bytes that it takes off the stack, beside the address */
	uint32_t lost;   /* mask of registers whose values are lost, unless `change` tells them */
	uint64_t target; /* as in struct machine_step; STEP_SWITCH: 0 */
	/* Applied in this order. */
	struct machine_change change[MACHINE_CHANGES];
	uint8_t n_changes;
	bool is_syscall;
	/* STEP_SWITCH: the register that has the target, or, if `is_table`, its address is n + b +
	 * c * 8 as in CHANGE_INDEXED. NO_REGISTER: elsewhere. */
	bool is_table;
	struct machine_change at;
	uint64_t place; /* CHANGE_CONST: the address */
	/* Compares register `compared` with compare_to, both unsigned; NO_REGISTER: does not.
	 * `keeps_flags`: the result of an earlier comparison stays. */
	uint8_t compared;
	uint32_t compare_to;
	bool keeps_flags;
	/* STEP_BRANCH: goes to target if the compared register is at most, or more than, compare_to
	 * + most; both false: for another reason. */
	bool if_most, if_more;
	int8_t most;
};

struct machine {
	uint16_t elf;  /* e_machine */
	char name[14]; /* as in uname -m: "x86_64" */

	/* ---- registers, by DWARF's numbers ---- */

	/* All general registers and sp are below this number. 0: the machine's code can be decoded,
	 * but its stacks cannot be walked. */
	uint8_t n_registers;
	uint8_t sp, fp;
	uint8_t bx; /* the third register that CFAs are computed from, or NO_REGISTER */
	/* The link register, where a call leaves the return address. NO_REGISTER: calls push it. */
	uint8_t lr;
	bool is_signing; /* return addresses may carry an authentication code */

	/* ---- registers, by the kernel's numbers (asm/perf_regs.h) ---- */

	uint64_t perf_mask;              /* mask of those in perf[] */
	uint8_t perf[MACHINE_REGISTERS]; /* the kernel's number of each DWARF register; NO_REGISTER:
					    it is always 0 */
	uint64_t sample_mask; /* mask of all registers that the kernel puts into samples of any
				 event */
	uint8_t perf_pc;
	/* perf's names of the kernel's registers from number 0 on, separated by spaces; ".": none.
	 */
	const char *perf_names;

	/* ---- signals ---- */

	/* Where the kernel saves a register for a signal handler: offset in bytes from the sp that
	 * the handler returns with. 0: nowhere. */
	uint16_t signal_pc, signal[MACHINE_REGISTERS];
	/* Whether code is the kernel's return trampoline from a signal handler. */
	bool (*is_sigreturn)(const uint8_t *code, size_t size);

	/* ---- frames without call-frame information ---- */

	/* Offsets in bytes from the address in the frame pointer. */
	int8_t cfa_from_fp, return_from_fp, saved_from_fp;
	/* The frame at an instruction in the prologue or epilogue of a function: `before` bytes
	 * before `code` may be read, and `after` from it on. False: the instruction does not tell.
	 */
	bool (*frame)(const uint8_t *code, size_t before, size_t after, struct machine_frame *ret);

	/* The frame at straight code up to a return, or a jump to another file's function as in a
	 * PLT, computed with certainty from what it takes off the stack. False if the code does not
	 * tell. NULL: on this machine frame pointers do as well there. */
	bool (*leaves)(const uint8_t *code, size_t before, size_t size, struct machine_frame *ret);
	/* Whether the instruction before `end` may have taken a part of the frame off the stack.
	 * There if .leaves is. */
	bool (*has_taken_off)(const uint8_t *end, size_t before);

	/* The code of python's trampoline of that size (Python/asm_trampoline.S), for when it
	 * cannot be read; returns NULL if there is none. NULL: frame pointers lead through it. */
	const uint8_t *(*trampoline)(size_t size);

	/* ---- instructions ---- */

	uint8_t code_align; /* alignment of instructions: 1, 2, 4 */
	/* The size of the instruction at code, at most `size`. NULL: it takes a disassembler to
	 * tell. */
	size_t (*length)(const uint8_t *code, size_t size);
	/* The size of the direct call at code, which lies at addr, and its target; 0: it is not a
	 * call. */
	size_t (*call_at)(const uint8_t *code, size_t size, uint64_t addr, uint64_t *target);
	/* Whether a call may end right before `end`; `before` bytes before it may be read. */
	bool (*call_ends)(const uint8_t *end, size_t before);
	/* The same of a jump that is not conditional: behind it an address may lie that was pushed
	 * by hand. NULL: not known. */
	bool (*jump_ends)(const uint8_t *end, size_t before);
	/* Whether the code before a return address is that of a new thread, from the system call
	 * that made it on: nobody called it. NULL: not known. */
	bool (*starts_thread)(const uint8_t *end, size_t before);
	/* Whether the code goes on to another stack first of all, without a look at its own: its
	 * address was put there as makecontext() does. NULL: not known. */
	bool (*drops_stack)(const uint8_t *code, size_t size);
	/* The function to which the one of `size` bytes at addr finally jumps, by an address that
	 * it computes: "lea function, %rax; .. jmp *%rax". False: it does not. NULL: not known. */
	bool (*passes_on)(const uint8_t *code, size_t size, uint64_t addr, uint64_t *function);
	/* Decodes the instruction of `size` bytes at addr; *ret is zeroed by the caller. */
	void (*step)(const uint8_t *code, size_t size, uint64_t addr, struct machine_step *ret);
	/* A number for the instruction of `size` bytes that does not depend on the addresses of the
	 * code and data to which it refers: a function has the same numbers in another build. 0:
	 * the instruction does nothing, and may be padding between functions. */
	uint64_t (*gist)(const uint8_t *code, size_t size);
	/* Size of a hook's call in compiled code, in bytes. */
	uint8_t hook_call_size;

	/* ---- compilers ---- */

	/* Compiler flags, besides -pg, that put hooks before a function's own code, and that make
	 * stacks walkable at every instruction; NULL: none are needed. */
	const char *flag_for_hooks, *flag_for_stacks;

	/* ---- procedure linkage tables ---- */

	uint8_t plt_align; /* alignment and least distance of entries */
	/* The slot that the entry at code jumps through; false: it is not an entry. `got`: address
	 * of .got.plt. */
	bool (*plt_slot)(const uint8_t *code, size_t size, uint64_t addr, uint64_t got,
			 uint64_t *slot);
	uint32_t jump_slot, glob_dat, irelative; /* relocation types of slots */
	uint32_t relative; /* relocation type of addresses in data; 0: addresses lie in the data
			      itself */
};

extern const struct machine machine_x86_64, machine_aarch64, machine_riscv64;
extern const struct machine machine_i386; /* its stacks cannot be walked */

/* Decodes the instruction at code, of which `size` bytes can be read. False: it is no instruction,
 * or not known well enough. Not among the constants, as the runtime has no use for it. */
typedef bool machine_effect_decoder(const uint8_t *code, size_t size, uint64_t addr,
				    struct machine_effect *ret);
machine_effect_decoder machine_x86_64_effect;
/* NULL: not known of that machine's instructions. */
machine_effect_decoder *machine_effects(const struct machine *m);

/* NULL: unknown machine. */
const struct machine *machine_find(uint32_t elf);
const struct machine *
machine_by_name(const char *name); /* only machines whose stacks can be walked */
/* The machine with the most registers among those whose registers (perf_mask) are all in this mask;
 * NULL: none. */
const struct machine *machine_by_registers(uint64_t perf_mask);
/* The machine that kin itself is compiled for (KIN_MACHINE, set by the build as in uname -m); NULL:
 * unknown. */
const struct machine *machine_native(void);

/* Index of a register's value among those that perf_mask selects. */
static inline unsigned machine_perf_place(const struct machine *m, unsigned perf_register)
{
	return (unsigned)__builtin_popcountll(m->perf_mask & ((UINT64_C(1) << perf_register) - 1));
}

static inline uint32_t machine_word(const uint8_t *p) /* little-endian */
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* FNV-1a over n bytes, from MACHINE_HASH or the hash of what is before them on. */
#define MACHINE_HASH UINT64_C(0xcbf29ce484222325)
static inline uint64_t machine_hash(uint64_t hash, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
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
