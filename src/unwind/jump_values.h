/* jump_values.h - where a jump through a register or a table leads, by what registers are known to
 * hold on the way to it. Compilers make such jumps for switch statements:
 *
 *	cmp $5, %edi; ja other; lea table(%rip), %rdx; movslq (%rdx,%rdi,4), %rax; add %rdx, %rax;
 *	jmp *%rax
 *
 * The number of entries comes from the comparison: without one nothing is read. */
#ifndef UNWIND_JUMP_VALUES_H
#define UNWIND_JUMP_VALUES_H

#include "machine/machine.h"

enum jump_value {
	JUMP_UNKNOWN,
	JUMP_CONST,    /* an address */
	JUMP_ENTRY,    /* an entry of the table: an address */
	JUMP_DISTANCE, /* an entry of the table: an address less `base` */
	JUMP_TARGET,   /* such an entry plus base */
};

struct jump_table {
	uint64_t at, base;
	uint32_t n;
	uint16_t width; /* 8: addresses; 4: distances, with a sign, from base */
};

enum { JUMP_TABLE_MAX = 2048 }; /* entries */

/* What registers hold on one path. All zero: nothing is known. */
struct jump_values {
	uint8_t kind[MACHINE_REGISTERS];  /* enum jump_value */
	uint64_t is[MACHINE_REGISTERS];   /* the value of a JUMP_CONST */
	struct jump_table table;          /* the table whose entry registers hold */
	uint8_t group[MACHINE_REGISTERS]; /* registers with equal values, or lower bits; 0: alone */
	uint8_t n_groups;
	uint32_t bounded; /* mask of registers that hold at most `most` */
	uint32_t most;
	bool has_compared;
	uint8_t compared;
	uint32_t compared_to;
};

/* Updates v for an instruction that does not jump, or calls, or was not taken. */
void jump_values_apply(const struct machine_effect *e, struct jump_values *v);
/* Updates v for a branch, taken or not. */
void jump_values_branch(const struct machine_effect *e, bool is_taken, struct jump_values *v);

/* Where a STEP_SWITCH leads to: a table, or one address; JUMP_UNKNOWN: not known. */
enum jump_value jump_values_target(const struct machine_effect *e, const struct jump_values *v,
				   struct jump_table *table, uint64_t *target);

#endif
