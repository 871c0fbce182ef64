/* cfi_expr.h - the few shapes of DWARF expressions that occur in call-frame information.
 *
 * Compilers and C libraries write a register plus an offset, what lies there in memory plus
 * another, and linkers one formula for lazily bound PLT entries. Anything else is not understood.
 * Freestanding. */
#ifndef UNWIND_CFI_EXPR_H
#define UNWIND_CFI_EXPR_H

#include <stdbool.h>
#include <stdint.h>

enum cfi_kind {
	CFI_REGISTER, /* reg + offset */
	CFI_MEMORY,   /* [reg + offset] + add */
	CFI_ENTRY,    /* what was on the stack at first (the CFA) + offset */
	CFI_CONSTANT, /* offset; no result, only on the way to one */
};

struct cfi_value {
	enum cfi_kind kind;
	uint64_t reg; /* DWARF number */
	int64_t offset, add;
};

/* `entry`: whether a value is on the stack at first, as for DW_CFA_expression. */
bool cfi_expression(const uint8_t *at, const uint8_t *end, bool entry, struct cfi_value *ret);

/* Whether it is "rsp + 8 + ((rip & 15) >= N) * 8", of which *n is N. */
bool cfi_is_plt(const uint8_t *at, const uint8_t *end, int16_t *n);

#endif
