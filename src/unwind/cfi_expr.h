/* cfi_expr.h - the few forms of DWARF expressions that occur in call-frame information.
 *
 * Compilers and C libraries use a register plus an offset, and the value in memory there plus
 * another offset; linkers use one formula for lazily bound PLT entries. Other expressions are not
 * supported. Freestanding. */
#ifndef UNWIND_CFI_EXPR_H
#define UNWIND_CFI_EXPR_H

#include <stdbool.h>
#include <stdint.h>

enum cfi_kind {
	CFI_REGISTER, /* reg + offset */
	CFI_MEMORY,   /* [reg + offset] + add */
	CFI_ENTRY,    /* the initial stack value (the CFA) + offset */
	CFI_CONSTANT, /* offset; an intermediate value, never a result */
};

struct cfi_value {
	enum cfi_kind kind;
	uint64_t reg; /* DWARF number */
	int64_t offset, add;
};

/* `entry`: whether a value is on the stack initially, as for DW_CFA_expression. */
bool cfi_expression(const uint8_t *at, const uint8_t *end, bool entry, struct cfi_value *ret);

/* Whether it is "rsp + 8 + ((rip & 15) >= N) * 8"; *n is N. */
bool cfi_is_plt(const uint8_t *at, const uint8_t *end, int16_t *n);

#endif
