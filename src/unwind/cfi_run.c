/* cfi_run.c - call-frame instructions, run up to an address: DWARF 5 6.4.2. */
#include "unwind/cfi.h"
#include "unwind/cfi_expr.h"
#include "unwind/cfi_private.h"

enum {
	/* the upper two bits, with an operand in the others */
	OP_ADVANCE = 1,
	OP_OFFSET = 2,
	OP_RESTORE = 3,
	/* whole bytes */
	OP_NOP = 0,
	OP_SET_LOC = 1,
	OP_ADVANCE1 = 2,
	OP_ADVANCE2 = 3,
	OP_ADVANCE4 = 4,
	OP_OFFSET_EXTENDED = 5,
	OP_RESTORE_EXTENDED = 6,
	OP_UNDEFINED = 7,
	OP_SAME_VALUE = 8,
	OP_REGISTER = 9,
	OP_REMEMBER = 10,
	OP_RESTORE_STATE = 11,
	OP_DEF_CFA = 12,
	OP_DEF_CFA_REGISTER = 13,
	OP_DEF_CFA_OFFSET = 14,
	OP_DEF_CFA_EXPRESSION = 15,
	OP_EXPRESSION = 16,
	OP_OFFSET_EXTENDED_SF = 17,
	OP_DEF_CFA_SF = 18,
	OP_DEF_CFA_OFFSET_SF = 19,
	OP_VAL_OFFSET = 20,
	OP_VAL_OFFSET_SF = 21,
	OP_VAL_EXPRESSION = 22,
	OP_ADVANCE8 = 0x1d,         /* DW_CFA_MIPS_advance_loc8 */
	OP_NEGATE_RA_STATE_PC = 44, /* DW_CFA_AARCH64_negate_ra_state_with_pc */
	OP_NEGATE_RA_STATE = 45,    /* DW_CFA_AARCH64_negate_ra_state */
	OP_ARGS_SIZE = 46,          /* DW_CFA_GNU_args_size */
	OP_NEGATIVE_OFFSET = 47,    /* DW_CFA_GNU_negative_offset_extended */
};

enum how { SAME, UNDEFINED, OFFSET, VAL_OFFSET, REGISTER, EXPRESSION, VAL_EXPRESSION };

struct rule {
	int64_t n;     /* offset, or register, or where in the section the expression is */
	uint32_t size; /* of the expression */
	uint32_t how;
};

enum { RA, FP, BX, N_RULES };

/* Longer expressions are not looked at: real ones have a dozen bytes. */
enum { EXPRESSION_MAX = 64 };

struct cfi_state {
	struct rule saved[N_RULES];
	int64_t cfa_offset; /* or where the expression is */
	uint32_t cfa_reg;   /* or the size of the expression */
	bool cfa_expression, cfa_known, ra_signed;
};

struct cfi_run {
	const struct cfi_section *s;
	const struct cfi_fde *f;
	uint64_t loc;
	unsigned steps, depth;
	struct cfi_state now, initial, stack[CFI_DEPTH_MAX];
	/* Where to stop, and whom to tell of rows, if anybody. */
	uint64_t pc;
	void (*row)(void *arg, uint64_t low, const struct unwind_row *row);
	void *arg;
	bool told; /* `now` has not changed since the last row */
};

/* ---- registers ---- */

/* enum unwind_register, or -1. */
static int register_name(const struct machine *m, uint64_t number)
{
	if (number == m->sp)
		return UNWIND_SP;
	if (number == m->fp)
		return UNWIND_FP;
	if (number == m->bx)
		return UNWIND_BX;
	return number < m->n_registers ? UNWIND_DWARF + (int)number : -1;
}

/* The rule kept for a register; NULL: not one of those that matter. */
static struct rule *rule_of(const struct cfi_run *r, struct cfi_state *st, uint64_t number)
{
	if (number == r->f->ra_reg)
		return &st->saved[RA];
	if (number == r->s->machine->fp)
		return &st->saved[FP];
	if (number == r->s->machine->bx)
		return &st->saved[BX];
	return NULL;
}

static void set(struct cfi_run *r, uint64_t number, enum how how, int64_t n)
{
	struct rule *rule = rule_of(r, &r->now, number);
	if (!rule)
		return;
	rule->how = how;
	rule->n = n;
	rule->size = 0;
	r->told = false;
}

static void restore(struct cfi_run *r, uint64_t number)
{
	struct rule *rule = rule_of(r, &r->now, number);
	if (!rule)
		return;
	*rule = *rule_of(r, &r->initial, number);
	r->told = false;
}

/* ---- rows ---- */

static bool fits(int64_t n, int16_t *ret)
{
	*ret = (int16_t)(n / 8);
	return n % 8 == 0 && n / 8 >= INT16_MIN && n / 8 <= INT16_MAX;
}

/* A place in memory as a row expresses it: far ones are relative to the register that the CFA is
 * computed from. enum unwind_place, or -1 if a row cannot express it. */
static int place_at(const struct unwind_row *row, enum unwind_place place, int64_t n, int16_t *ret)
{
	if (fits(n, ret))
		return (int)place;
	if (place == UNWIND_AT_CFA && row->cfa == UNWIND_CFA_REG && row->reg <= UNWIND_FP &&
	    !__builtin_add_overflow(n, row->cfa_offset, &n) && fits(n, ret))
		return row->reg == UNWIND_SP ? UNWIND_AT_SP : UNWIND_AT_FP;
	return -1;
}

static int place_by_expression(const struct cfi_run *r, const struct unwind_row *row,
			       const struct rule *rule, int16_t *ret)
{
	struct cfi_value v;
	const uint8_t *at = r->s->data + rule->n;
	if (rule->size > EXPRESSION_MAX || !cfi_expression(at, at + rule->size, true, &v))
		return -1;
	if (v.kind == CFI_ENTRY)
		return place_at(row, UNWIND_AT_CFA, v.offset, ret);
	int reg = register_name(r->s->machine, v.reg);
	if (v.kind == CFI_REGISTER && (reg == UNWIND_SP || reg == UNWIND_FP))
		return place_at(row, reg == UNWIND_SP ? UNWIND_AT_SP : UNWIND_AT_FP, v.offset, ret);
	if (v.kind == CFI_MEMORY && row->cfa == UNWIND_CFA_DEREF && reg == row->reg &&
	    v.offset == row->cfa_offset)
		return place_at(row, UNWIND_AT_CFA, v.add - row->cfa_add, ret);
	return -1;
}

/* enum unwind_place, or -1 if a row cannot express the rule. */
static int place_of(const struct cfi_run *r, const struct unwind_row *row, const struct rule *rule,
		    int16_t *ret)
{
	int reg;
	*ret = 0;
	switch ((enum how)rule->how) {
	case SAME:
		return UNWIND_SAME;
	case UNDEFINED:
		return UNWIND_UNKNOWN;
	case OFFSET:
		return place_at(row, UNWIND_AT_CFA, rule->n, ret);
	case REGISTER:
		reg = register_name(r->s->machine, (uint64_t)rule->n);
		*ret = (int16_t)reg;
		return reg < 0 ? -1 : UNWIND_IN_REG;
	case EXPRESSION:
		return place_by_expression(r, row, rule, ret);
	case VAL_OFFSET:
	case VAL_EXPRESSION:
		return -1;
	}
	return -1;
}

static bool cfa_by_expression(const struct cfi_run *r, struct unwind_row *row)
{
	struct cfi_value v;
	const uint8_t *at = r->s->data + r->now.cfa_offset, *end = at + r->now.cfa_reg;
	if (r->s->machine->lr == MACHINE_NO_REGISTER && cfi_is_plt(at, end, &row->cfa_add)) {
		row->cfa = UNWIND_CFA_PLT;
		return true;
	}
	if (r->now.cfa_reg > EXPRESSION_MAX || !cfi_expression(at, end, false, &v) ||
	    v.kind == CFI_ENTRY)
		return false;
	int reg = register_name(r->s->machine, v.reg);
	if (reg < 0 || v.offset != (int32_t)v.offset || v.add != (int16_t)v.add)
		return false;
	row->cfa = v.kind == CFI_MEMORY ? UNWIND_CFA_DEREF : UNWIND_CFA_REG;
	row->reg = (uint8_t)reg;
	row->cfa_offset = (int32_t)v.offset;
	row->cfa_add = (int16_t)v.add;
	return true;
}

static bool cfa_by_register(const struct cfi_run *r, struct unwind_row *row)
{
	int reg = register_name(r->s->machine, r->now.cfa_reg);
	if (reg < 0 || r->now.cfa_offset != (int32_t)r->now.cfa_offset)
		return false;
	row->cfa = UNWIND_CFA_REG;
	row->reg = (uint8_t)reg;
	row->cfa_offset = (int32_t)r->now.cfa_offset;
	return true;
}

static const struct unwind_row no_row;

static void make_row(const struct cfi_run *r, struct unwind_row *ret)
{
	struct unwind_row row = no_row;
	*ret = no_row;
	const struct rule *saved = r->now.saved;
	/* If the stack ends, nothing else matters. */
	if (saved[RA].how == UNDEFINED) {
		ret->cfa = UNWIND_CFA_REG;
		ret->ra = UNWIND_UNKNOWN;
		return;
	}
	if (!r->now.cfa_known ||
	    !(r->now.cfa_expression ? cfa_by_expression(r, &row) : cfa_by_register(r, &row)))
		return;
	if (r->f->signal && saved[RA].how == SAME) /* a mark without rules: unwind_is_sigreturn() */
		return;
	int ra = place_of(r, &row, &saved[RA], &row.ra_offset);
	int fp = place_of(r, &row, &saved[FP], &row.fp_offset);
	int bx = place_of(r, &row, &saved[BX], &row.bx_offset);
	if (ra < 0)
		return;
	row.ra = (unsigned)ra & 15;
	row.fp = (unsigned)(fp < 0 ? UNWIND_UNKNOWN : fp) & 15;
	row.bx = (unsigned)(bx < 0 ? UNWIND_UNKNOWN : bx) & 15;
	row.flags = (r->f->signal ? UNWIND_SIGNAL : 0) | (r->now.ra_signed ? UNWIND_SIGNED : 0);
	*ret = row;
}

static void tell(struct cfi_run *r)
{
	struct unwind_row row;
	if (!r->row || r->told)
		return;
	make_row(r, &row);
	r->row(r->arg, r->loc, &row);
	r->told = true;
}

/* ---- instructions ---- */

enum next { GO_ON, REACHED, DAMAGED };

static enum next move_to(struct cfi_run *r, uint64_t loc)
{
	if (loc < r->loc)
		return DAMAGED;
	if (loc > r->pc || loc >= r->f->high)
		return REACHED;
	if (loc > r->loc)
		tell(r);
	r->loc = loc;
	return GO_ON;
}

static enum next advance(struct cfi_run *r, uint64_t units)
{
	uint64_t n, loc;
	if (__builtin_mul_overflow(units, r->f->code_align, &n) ||
	    __builtin_add_overflow(r->loc, n, &loc))
		return DAMAGED;
	return move_to(r, loc);
}

static int64_t factored(const struct cfi_run *r, uint64_t n)
{
	return (int64_t)(n * (uint64_t)r->f->data_align);
}

static void cfa_register(struct cfi_run *r, uint64_t number)
{
	r->now.cfa_reg = number < 0xffff ? (uint32_t)number : 0xffff;
	r->now.cfa_expression = false;
	r->now.cfa_known = true;
	r->told = false;
}

static void cfa_offset(struct cfi_run *r, int64_t n)
{
	r->now.cfa_offset = n;
	r->told = false;
}

/* An expression: its length, then so many bytes. */
static uint32_t take_block(const struct cfi_run *r, struct bytes *c, int64_t *at)
{
	uint64_t size = bytes_uleb(c);
	*at = c->pos - r->s->data;
	if (size > UINT32_MAX)
		bytes_fail(c);
	bytes_skip(c, size);
	return (uint32_t)size;
}

static void cfa_block(struct cfi_run *r, struct bytes *c)
{
	r->now.cfa_reg = take_block(r, c, &r->now.cfa_offset);
	r->now.cfa_expression = r->now.cfa_known = true;
	r->told = false;
}

static void rule_block(struct cfi_run *r, struct bytes *c, enum how how)
{
	uint64_t number = bytes_uleb(c);
	int64_t at;
	uint32_t size = take_block(r, c, &at);
	set(r, number, how, at);
	struct rule *rule = rule_of(r, &r->now, number);
	if (rule)
		rule->size = size;
}

static enum next remember(struct cfi_run *r)
{
	if (r->depth == CFI_DEPTH_MAX)
		return DAMAGED;
	r->stack[r->depth++] = r->now;
	return GO_ON;
}

static enum next recall(struct cfi_run *r)
{
	if (!r->depth)
		return DAMAGED;
	r->now = r->stack[--r->depth];
	r->told = false;
	return GO_ON;
}

static enum next set_loc(struct cfi_run *r, struct bytes *c)
{
	struct cfi_bases b = { 0 };
	b.start = r->s->data;
	b.addr = r->s->addr;
	b.text = r->s->text_base;
	b.data = r->s->data_base;
	b.function = r->f->low;
	uint64_t loc = cfi_pointer(c, r->f->encoding, &b);
	return c->failed ? DAMAGED : move_to(r, loc);
}

static enum next run_extended(struct cfi_run *r, struct bytes *c, uint8_t op)
{
	uint64_t reg;
	switch (op) {
	case OP_NOP:
		return GO_ON;
	case OP_SET_LOC:
		return set_loc(r, c);
	case OP_ADVANCE1:
		return advance(r, bytes_word(c, 1));
	case OP_ADVANCE2:
		return advance(r, bytes_word(c, 2));
	case OP_ADVANCE4:
		return advance(r, bytes_word(c, 4));
	case OP_ADVANCE8:
		return advance(r, bytes_word(c, 8));
	case OP_OFFSET_EXTENDED:
		reg = bytes_uleb(c);
		set(r, reg, OFFSET, factored(r, bytes_uleb(c)));
		return GO_ON;
	case OP_OFFSET_EXTENDED_SF:
		reg = bytes_uleb(c);
		set(r, reg, OFFSET, factored(r, (uint64_t)bytes_sleb(c)));
		return GO_ON;
	case OP_NEGATIVE_OFFSET:
		reg = bytes_uleb(c);
		set(r, reg, OFFSET, factored(r, -bytes_uleb(c)));
		return GO_ON;
	case OP_VAL_OFFSET:
		reg = bytes_uleb(c);
		set(r, reg, VAL_OFFSET, factored(r, bytes_uleb(c)));
		return GO_ON;
	case OP_VAL_OFFSET_SF:
		reg = bytes_uleb(c);
		set(r, reg, VAL_OFFSET, factored(r, (uint64_t)bytes_sleb(c)));
		return GO_ON;
	case OP_RESTORE_EXTENDED:
		restore(r, bytes_uleb(c));
		return GO_ON;
	case OP_UNDEFINED:
		set(r, bytes_uleb(c), UNDEFINED, 0);
		return GO_ON;
	case OP_SAME_VALUE:
		set(r, bytes_uleb(c), SAME, 0);
		return GO_ON;
	case OP_REGISTER:
		reg = bytes_uleb(c);
		set(r, reg, REGISTER, (int64_t)bytes_uleb(c));
		return GO_ON;
	case OP_REMEMBER:
		return remember(r);
	case OP_RESTORE_STATE:
		return recall(r);
	case OP_DEF_CFA:
		cfa_register(r, bytes_uleb(c));
		cfa_offset(r, (int64_t)bytes_uleb(c));
		return GO_ON;
	case OP_DEF_CFA_SF:
		cfa_register(r, bytes_uleb(c));
		cfa_offset(r, factored(r, (uint64_t)bytes_sleb(c)));
		return GO_ON;
	case OP_DEF_CFA_REGISTER:
		if (r->now.cfa_expression) /* an expression has no offset to go with the register */
			return DAMAGED;
		cfa_register(r, bytes_uleb(c));
		return GO_ON;
	case OP_DEF_CFA_OFFSET:
		cfa_offset(r, (int64_t)bytes_uleb(c));
		return r->now.cfa_expression ? DAMAGED : GO_ON;
	case OP_DEF_CFA_OFFSET_SF:
		cfa_offset(r, factored(r, (uint64_t)bytes_sleb(c)));
		return r->now.cfa_expression ? DAMAGED : GO_ON;
	case OP_DEF_CFA_EXPRESSION:
		cfa_block(r, c);
		return GO_ON;
	case OP_EXPRESSION:
		rule_block(r, c, EXPRESSION);
		return GO_ON;
	case OP_VAL_EXPRESSION:
		rule_block(r, c, VAL_EXPRESSION);
		return GO_ON;
	case OP_NEGATE_RA_STATE:
	case OP_NEGATE_RA_STATE_PC:
		if (!r->s->machine->is_signing)
			return DAMAGED;
		r->now.ra_signed = !r->now.ra_signed;
		r->told = false;
		return GO_ON;
	case OP_ARGS_SIZE:
		bytes_uleb(c);
		return GO_ON;
	default:
		return DAMAGED;
	}
}

static enum next run_one(struct cfi_run *r, struct bytes *c)
{
	uint8_t op = bytes_u8(c), operand = op & 0x3f;
	switch (op >> 6) {
	case OP_ADVANCE:
		return advance(r, operand);
	case OP_OFFSET:
		set(r, operand, OFFSET, factored(r, bytes_uleb(c)));
		return GO_ON;
	case OP_RESTORE:
		restore(r, operand);
		return GO_ON;
	default:
		return run_extended(r, c, op);
	}
}

static bool run_instructions(struct cfi_run *r, const uint8_t *code, const uint8_t *end)
{
	struct bytes c = bytes_of(NULL, code, (size_t)(end - code));
	while (bytes_left(&c)) {
		enum next next = run_one(r, &c);
		if (next == DAMAGED || c.failed || ++r->steps > CFI_STEPS_MAX)
			return false;
		if (next == REACHED)
			return true;
	}
	return true;
}

/* The state before any instruction: callee-saved registers are unchanged, and a call has pushed the
 * return address, or left it in the link register. */
static void start(struct cfi_run *r, const struct cfi_section *s, const struct cfi_fde *f)
{
	r->s = s;
	r->f = f;
	r->loc = f->low;
	r->steps = r->depth = 0;
	r->row = NULL;
	r->told = false;
	for (int i = 0; i < N_RULES; i++) {
		r->now.saved[i].how = SAME;
		r->now.saved[i].n = 0;
		r->now.saved[i].size = 0;
	}
	if (s->machine->lr == MACHINE_NO_REGISTER) {
		r->now.saved[RA].how = OFFSET;
		r->now.saved[RA].n = -8;
	}
	r->now.cfa_offset = 0;
	r->now.cfa_reg = 0;
	r->now.cfa_expression = r->now.cfa_known = r->now.ra_signed = false;
	r->initial = r->now;
}

static bool run_entry(struct cfi_run *r)
{
	const struct cfi_fde *f = r->f;
	uint64_t pc = r->pc;
	r->pc = f->low; /* a CIE moves nowhere */
	if (!run_instructions(r, f->init, f->init_end))
		return false;
	r->pc = pc;
	r->loc = f->low;
	r->depth = 0;
	r->initial = r->now;
	return run_instructions(r, f->code, f->code_end);
}

/* The registers in rules of an unknown machine are not known. */
static bool is_walked(const struct cfi_section *s) { return s->machine && s->machine->n_registers; }

bool cfi_row(const struct cfi_section *s, const struct cfi_fde *f, uint64_t pc,
	     struct unwind_row *ret)
{
	struct cfi_run r;
	*ret = no_row;
	if (!is_walked(s))
		return false;
	start(&r, s, f);
	r.pc = pc;
	if (!run_entry(&r))
		return false;
	make_row(&r, ret);
	return true;
}

unsigned cfi_rows(const struct cfi_section *s, const struct cfi_fde *f,
		  void (*row)(void *arg, uint64_t low, const struct unwind_row *row), void *arg)
{
	struct cfi_run r;
	if (!is_walked(s)) {
		row(arg, f->low, &no_row);
		return 0;
	}
	start(&r, s, f);
	r.pc = UINT64_MAX;
	r.row = row;
	r.arg = arg;
	if (run_entry(&r))
		tell(&r);
	else
		row(arg, r.loc, &no_row);
	return r.steps;
}
