/* cfi_expr.c - the shapes of DWARF expressions that occur in call-frame information (DWARF 5 2.5).
 */
#include "unwind/cfi_expr.h"

#include "base/bytes.h"

enum {
	DEREF = 0x06,
	CONST1U = 0x08,
	CONST1S = 0x09,
	CONST2U = 0x0a,
	CONST2S = 0x0b,
	CONST4U = 0x0c,
	CONST4S = 0x0d,
	CONST8U = 0x0e,
	CONST8S = 0x0f,
	CONSTU = 0x10,
	CONSTS = 0x11,
	AND = 0x1a,
	MINUS = 0x1c,
	PLUS = 0x22,
	PLUS_UCONST = 0x23,
	SHL = 0x24,
	GE = 0x2a,
	LIT0 = 0x30,
	LIT31 = 0x4f,
	BREG0 = 0x70,
	BREG31 = 0x8f,
	BREGX = 0x92,
	NOP = 0x96,
	STACK_MAX = 4,
};

struct expr_stack {
	struct cfi_value at[STACK_MAX];
	unsigned n;
};

static bool push(struct expr_stack *s, enum cfi_kind kind, uint64_t reg, int64_t offset)
{
	if (s->n == STACK_MAX)
		return false;
	struct cfi_value *v = &s->at[s->n++];
	v->kind = kind;
	v->reg = reg;
	v->offset = offset;
	v->add = 0;
	return true;
}

static bool push_constant(struct expr_stack *s, struct bytes *c, uint8_t op)
{
	int64_t n;
	if (op == CONSTU)
		n = (int64_t)bytes_uleb(c);
	else if (op == CONSTS)
		n = bytes_sleb(c);
	else {
		unsigned bytes = 1U << ((op - CONST1U) / 2);
		n = op & 1 ? bytes_sword(c, bytes) : (int64_t)bytes_word(c, bytes);
	}
	return push(s, CFI_CONSTANT, 0, n);
}

static bool add_offset(struct cfi_value *v, int64_t n)
{
	int64_t *to = v->kind == CFI_MEMORY ? &v->add : &v->offset;
	return !__builtin_add_overflow(*to, n, to);
}

/* One of the two must be a constant. */
static bool add_top(struct expr_stack *s, bool minus)
{
	if (s->n < 2)
		return false;
	struct cfi_value *a = &s->at[s->n - 2], *b = &s->at[s->n - 1];
	int64_t n = b->offset;
	s->n--;
	if (b->kind == CFI_CONSTANT)
		return (!minus || !__builtin_sub_overflow(0, n, &n)) && add_offset(a, n);
	if (a->kind != CFI_CONSTANT || minus)
		return false;
	n = a->offset;
	*a = *b;
	return add_offset(a, n);
}

static bool deref(struct expr_stack *s)
{
	if (!s->n || s->at[s->n - 1].kind != CFI_REGISTER)
		return false;
	s->at[s->n - 1].kind = CFI_MEMORY;
	return true;
}

static bool evaluate(struct expr_stack *s, struct bytes *c)
{
	uint8_t op = bytes_u8(c);
	uint64_t reg;
	if (op >= BREG0 && op <= BREG31)
		return push(s, CFI_REGISTER, (uint64_t)(op - BREG0), bytes_sleb(c));
	if (op >= LIT0 && op <= LIT31)
		return push(s, CFI_CONSTANT, 0, op - LIT0);
	if (op >= CONST1U && op <= CONSTS)
		return push_constant(s, c, op);
	switch (op) {
	case BREGX:
		reg = bytes_uleb(c);
		return push(s, CFI_REGISTER, reg, bytes_sleb(c));
	case DEREF:
		return deref(s);
	case PLUS:
	case MINUS:
		return add_top(s, op == MINUS);
	case PLUS_UCONST:
		reg = bytes_uleb(c);
		return s->n && reg <= INT64_MAX && add_offset(&s->at[s->n - 1], (int64_t)reg);
	case NOP:
		return true;
	default:
		return false;
	}
}

bool cfi_expression(const uint8_t *at, const uint8_t *end, bool entry, struct cfi_value *ret)
{
	struct bytes c = bytes_of(NULL, at, (size_t)(end - at));
	struct expr_stack s;
	s.n = 0;
	if (entry)
		push(&s, CFI_ENTRY, 0, 0);
	while (bytes_left(&c))
		if (!evaluate(&s, &c) || c.failed)
			return false;
	if (!s.n || s.at[s.n - 1].kind == CFI_CONSTANT)
		return false;
	*ret = s.at[s.n - 1];
	return true;
}

bool cfi_is_plt(const uint8_t *at, const uint8_t *end, int16_t *n)
{
	const uint8_t shape[] = { BREG0 + 7, 8,  BREG0 + 16, 0,   LIT0 + 15, AND,
				  LIT0,      GE, LIT0 + 3,   SHL, PLUS };
	enum { COUNT = 6 };
	if (end - at != (int)sizeof(shape))
		return false;
	for (unsigned i = 0; i < sizeof(shape); i++)
		if (i != COUNT && at[i] != shape[i])
			return false;
	if (at[COUNT] < LIT0 || at[COUNT] > LIT0 + 15)
		return false;
	*n = (int16_t)(at[COUNT] - LIT0);
	return true;
}
