/* bare_state.c - how an instruction changes what is known of the frame. */
#include "unwind/bare_state.h"

#include <string.h>

static void set(struct bare_state *s, unsigned reg, enum bare_kind kind, int32_t n)
{
	s->kind[reg] = (uint8_t)kind;
	s->n[reg] = kind == BARE_UNKNOWN ? 0 : n;
}

static bool has_register(unsigned reg) { return reg < MACHINE_REGISTERS; }

static unsigned register_of(const struct machine *m, enum bare_saved which)
{
	return which == BARE_RETURN ? m->lr : which == BARE_FP ? m->fp : m->bx;
}

static bool is_callers(const struct bare_state *s, unsigned reg, enum bare_saved which)
{
	return has_register(reg) && s->kind[reg] == BARE_CALLER && s->n[reg] == (int32_t)which;
}

/* From the CFA: a call may have pushed its return address. */
static int32_t sp_at_start(const struct machine *m)
{
	return m->lr == MACHINE_NO_REGISTER ? -8 : 0;
}

void bare_state_start(const struct machine *m, struct bare_state *ret)
{
	memset(ret, 0, sizeof(*ret));
	set(ret, m->sp, BARE_FRAME, sp_at_start(m));
	for (unsigned i = 0; i < BARE_N_SAVED; i++)
		if (has_register(register_of(m, (enum bare_saved)i)))
			set(ret, register_of(m, (enum bare_saved)i), BARE_CALLER, (int32_t)i);
	if (m->lr == MACHINE_NO_REGISTER)
		ret->saved[BARE_RETURN] = -8;
}

/* ---- instructions ---- */

/* The distance of base + n from the CFA. */
static bool place_of(const struct bare_state *s, unsigned base, int32_t n, int32_t *ret)
{
	return has_register(base) && s->kind[base] == BARE_FRAME &&
	       !__builtin_add_overflow(s->n[base], n, ret);
}

static void set_to(struct bare_state *s, const struct machine_change *c)
{
	int32_t n;
	if (place_of(s, c->b, c->n, &n))
		set(s, c->a, BARE_FRAME, n);
	else if (has_register(c->b) && s->kind[c->b] == BARE_CALLER && !c->n)
		set(s, c->a, BARE_CALLER, s->n[c->b]);
	else
		set(s, c->a, BARE_UNKNOWN, 0);
}

static void load(struct bare_state *s, const struct machine_change *c)
{
	int32_t at = 0;
	bool is_known = place_of(s, c->b, c->n, &at);
	set(s, c->a, BARE_UNKNOWN, 0);
	for (unsigned i = 0; is_known && i < BARE_N_SAVED; i++)
		if (s->saved[i] && s->saved[i] == at)
			set(s, c->a, BARE_CALLER, (int32_t)i);
}

static void store(const struct machine *m, struct bare_state *s, const struct machine_change *c)
{
	int32_t at;
	if (!place_of(s, c->b, c->n, &at))
		return;
	for (unsigned i = 0; i < BARE_N_SAVED; i++)
		if (s->saved[i] && s->saved[i] < (int64_t)at + c->width && at < s->saved[i] + 8)
			s->saved[i] = 0;
	bool is_word = has_register(c->a) && s->kind[c->a] == BARE_CALLER && c->width == 8 &&
		       at < 0 && !(at & 7);
	bool is_kept = s->kind[m->sp] != BARE_FRAME || at >= s->n[m->sp];
	if (is_word && is_kept && !s->saved[s->n[c->a]])
		s->saved[s->n[c->a]] = at;
}

/* What is below the stack pointer may change at any time. */
static void drop_below_sp(const struct machine *m, struct bare_state *s)
{
	for (unsigned i = 0; s->kind[m->sp] == BARE_FRAME && i < BARE_N_SAVED; i++)
		if (s->saved[i] < s->n[m->sp])
			s->saved[i] = 0;
}

void bare_state_apply(const struct machine *m, const struct machine_effect *e, struct bare_state *s)
{
	uint32_t lost = e->lost;
	for (unsigned i = 0; i < e->n_changes; i++) {
		const struct machine_change *c = &e->change[i];
		bool sets = c->kind == CHANGE_SET || c->kind == CHANGE_LOAD;
		if (sets && !has_register(c->a))
			continue;
		if (c->kind == CHANGE_SET)
			set_to(s, c);
		else if (c->kind == CHANGE_LOAD)
			load(s, c);
		else if (c->kind == CHANGE_STORE)
			store(m, s, c);
		if (sets)
			lost &= ~(UINT32_C(1) << c->a);
	}
	for (unsigned i = 0; lost && i < MACHINE_REGISTERS; i++)
		if (lost >> i & 1)
			set(s, i, BARE_UNKNOWN, 0);
	drop_below_sp(m, s);
}

/* ---- paths that meet ---- */

/* Whether the frame pointer holds the same address in the frame on both paths. */
static bool same_frame(const struct machine *m, const struct bare_state *a,
		       const struct bare_state *b)
{
	return a->kind[m->fp] == BARE_FRAME && b->kind[m->fp] == BARE_FRAME &&
	       a->n[m->fp] == b->n[m->fp];
}

enum bare_meeting bare_state_meet(const struct machine *m, struct bare_state *s,
				  const struct bare_state *other)
{
	enum bare_meeting ret = BARE_SAME;
	bool framed = same_frame(m, s, other);
	for (unsigned i = 0; i < m->n_registers; i++) {
		if (s->kind[i] == BARE_UNKNOWN ||
		    (s->kind[i] == other->kind[i] && s->n[i] == other->n[i]))
			continue;
		if (i == m->sp && other->kind[i] == BARE_FRAME && !framed)
			ret = BARE_CONFLICT;
		else if (ret == BARE_SAME)
			ret = BARE_LESS;
		set(s, i, BARE_UNKNOWN, 0);
	}
	for (unsigned i = 0; i < BARE_N_SAVED; i++) {
		if (!s->saved[i] || s->saved[i] == other->saved[i])
			continue;
		if (other->saved[i])
			ret = BARE_CONFLICT;
		else if (ret == BARE_SAME)
			ret = BARE_LESS;
		s->saved[i] = 0;
	}
	return ret;
}

bool bare_state_returns(const struct machine *m, const struct bare_state *s)
{
	struct bare_state start;
	bare_state_start(m, &start);
	return s->kind[m->sp] == BARE_FRAME && s->n[m->sp] == start.n[m->sp] &&
	       s->saved[BARE_RETURN] == start.saved[BARE_RETURN] &&
	       (m->lr == MACHINE_NO_REGISTER || is_callers(s, m->lr, BARE_RETURN));
}

bool bare_state_leaves(const struct machine *m, const struct bare_state *s)
{
	return bare_state_returns(m, s) && is_callers(s, m->fp, BARE_FP) &&
	       (m->bx == MACHINE_NO_REGISTER || is_callers(s, m->bx, BARE_BX));
}

/* ---- rows ---- */

/* Sets the register from which the row computes the CFA: one that is known in other frames, too, if
 * possible. */
static bool find_cfa(const struct machine *m, const struct bare_state *s, struct unwind_row *row)
{
	const uint8_t names[] = { m->sp, m->fp, m->bx };
	for (unsigned i = 0; i < sizeof(names); i++)
		if (has_register(names[i]) && s->kind[names[i]] == BARE_FRAME) {
			row->reg = (uint8_t)i;
			row->cfa_offset = -s->n[names[i]];
			return true;
		}
	for (unsigned i = 0; i < m->n_registers; i++)
		if (s->kind[i] == BARE_FRAME) {
			row->reg = (uint8_t)(UNWIND_DWARF + i);
			row->cfa_offset = -s->n[i];
			return true;
		}
	return false;
}

/* Where a register of the caller is: in the frame, or where it was. */
static enum unwind_place place(const struct machine *m, const struct bare_state *s,
			       enum bare_saved which, int16_t *offset)
{
	int32_t at = s->saved[which];
	*offset = (int16_t)(at / 8);
	if (at && at / 8 >= INT16_MIN)
		return UNWIND_AT_CFA;
	*offset = 0;
	unsigned reg = register_of(m, which);
	return is_callers(s, reg, which) || (which == BARE_BX && !has_register(reg))
		       ? UNWIND_SAME
		       : UNWIND_UNKNOWN;
}

static bool return_in_register(const struct machine *m, const struct bare_state *s,
			       struct unwind_row *row)
{
	for (unsigned i = 0; i < m->n_registers; i++)
		if (is_callers(s, i, BARE_RETURN) && i != m->fp && i != m->bx) {
			row->ra = UNWIND_IN_REG;
			row->ra_offset = (int16_t)(UNWIND_DWARF + i);
			return true;
		}
	return false;
}

bool bare_state_row(const struct machine *m, const struct bare_state *s, struct unwind_row *ret)
{
	struct unwind_row row = { .cfa = UNWIND_CFA_REG };
	int16_t offset;
	*ret = (struct unwind_row){ 0 };
	if (!find_cfa(m, s, &row) || row.cfa_offset == INT32_MIN)
		return false;
	row.ra = (unsigned)place(m, s, BARE_RETURN, &offset) & 15;
	row.ra_offset = offset;
	if (row.ra == UNWIND_UNKNOWN && !return_in_register(m, s, &row))
		return false;
	row.fp = (unsigned)place(m, s, BARE_FP, &offset) & 15;
	row.fp_offset = offset;
	row.bx = (unsigned)place(m, s, BARE_BX, &offset) & 15;
	row.bx_offset = offset;
	*ret = row;
	return true;
}
