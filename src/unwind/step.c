/* step.c - one frame up, and rules made up where there is no call-frame information. */
#include "unwind/step.h"

#include "unwind/step_inline.h"

enum unwind_status unwind_step(const struct unwind_row *row, struct unwind_regs *r,
			       unwind_read *read, void *arg)
{
	return unwind_step_inline(row, r, read, arg);
}

const struct unwind_row unwind_outermost = { .cfa = UNWIND_CFA_REG, .ra = UNWIND_UNKNOWN };

/* ---- rows made up ---- */

static const struct unwind_row no_row;

static struct unwind_row frame_row(const struct machine *m, const struct machine_frame *f)
{
	struct unwind_row row = no_row;
	row.cfa = UNWIND_CFA_REG;
	row.flags = UNWIND_GUESSED;
	row.reg = UNWIND_SP;
	row.cfa_offset = f->size;
	if (f->return_at) {
		row.ra = UNWIND_AT_CFA;
		row.ra_offset = f->return_at / 8;
		row.flags |= m->is_signing ? UNWIND_SIGNED : 0; /* it may be */
	}
	row.fp = f->fp_at ? UNWIND_AT_CFA : UNWIND_SAME;
	row.fp_offset = f->fp_at / 8;
	row.bx = UNWIND_UNKNOWN;
	return row;
}

static struct unwind_row fp_row(const struct machine *m)
{
	struct unwind_row row = no_row;
	row.cfa = UNWIND_CFA_REG;
	row.flags = UNWIND_GUESSED | (m->is_signing ? UNWIND_SIGNED : 0);
	row.reg = UNWIND_FP;
	row.cfa_offset = m->cfa_from_fp;
	row.ra = row.fp = UNWIND_AT_FP;
	row.ra_offset = m->return_from_fp / 8;
	row.fp_offset = m->saved_from_fp / 8;
	row.bx = UNWIND_UNKNOWN;
	return row;
}

struct unwind_row unwind_guess(const struct machine *m, bool exact, const uint8_t *code,
			       size_t before, size_t after)
{
	struct machine_frame f;
	if (code && m->leaves && m->leaves(code, before, after, &f)) {
		struct unwind_row row = frame_row(m, &f);
		row.flags = 0;
		return row;
	}
	if (exact && code && m->frame(code, before, after, &f))
		return frame_row(m, &f);
	return fp_row(m);
}

struct unwind_row unwind_called(const struct machine *m)
{
	struct machine_frame f = { 0, 0, 0 };
	if (m->lr == MACHINE_NO_REGISTER) {
		f.size = 8;
		f.return_at = -8;
	}
	return frame_row(m, &f);
}

enum { FRAME_MAX = 16 << 10 }; /* larger ones are not searched */

bool unwind_owns_frame(const struct unwind_regs *r, unwind_read *read,
		       unwind_may_return *may_return, void *arg)
{
	uint64_t word;
	if (unwind_has_link_register(r))
		return true;
	if (r->fp < r->sp || r->fp - r->sp > FRAME_MAX || (r->fp | r->sp) & 7)
		return false;
	for (uint64_t at = r->sp; at < r->fp; at += 8)
		if (!read(arg, at, &word) || may_return(arg, word))
			return false;
	return read(arg, r->fp + (uint64_t)(int64_t)r->machine->return_from_fp, &word) &&
	       may_return(arg, word);
}

bool unwind_has_left(const struct unwind_regs *r, const struct unwind_row *row, const uint8_t *code,
		     size_t before, size_t after, unwind_read *read, unwind_may_return *may_return,
		     void *arg, struct unwind_row *ret)
{
	const struct machine *m = r->machine;
	struct machine_frame f;
	uint64_t word;
	if (!m->leaves || !m->has_taken_off(code, before) || !m->leaves(code, before, after, &f) ||
	    (row->cfa == UNWIND_CFA_REG && row->reg == UNWIND_SP && row->cfa_offset == f.size) ||
	    !read(arg, r->sp + f.size + (uint64_t)(int64_t)f.return_at, &word) ||
	    !may_return(arg, word))
		return false;
	*ret = frame_row(m, &f);
	ret->flags = 0;
	return true;
}

enum unwind_origin unwind_origin(const struct machine *m, const uint8_t *code, size_t before,
				 size_t after)
{
	if (m->call_ends(code, MACHINE_CALL_MAX))
		return m->starts_thread && m->starts_thread(code, before) ? UNWIND_THREAD
									  : UNWIND_CALLED;
	if (m->drops_stack && m->drops_stack(code, after))
		return UNWIND_MADE_UP;
	return m->jump_ends && m->jump_ends(code, MACHINE_CALL_MAX) ? UNWIND_PUSHED : UNWIND_NOT_SO;
}

/* Everything is in the kernel's frame. */
struct unwind_row unwind_signal(const struct machine *m)
{
	struct unwind_row row = no_row;
	row.cfa = UNWIND_CFA_DEREF;
	row.flags = UNWIND_SIGNAL;
	row.reg = UNWIND_SP;
	row.cfa_offset = m->signal[m->sp];
	row.ra = row.fp = UNWIND_AT_SP;
	row.ra_offset = (int16_t)(m->signal_pc / 8);
	row.fp_offset = (int16_t)(m->signal[m->fp] / 8);
	if (m->bx != MACHINE_NO_REGISTER) {
		row.bx = UNWIND_AT_SP;
		row.bx_offset = (int16_t)(m->signal[m->bx] / 8);
	}
	return row;
}

bool unwind_is_sigreturn(const struct machine *m, const uint8_t *code, size_t size,
			 struct unwind_row *ret)
{
	*ret = unwind_signal(m);
	return m->is_sigreturn(code, size);
}
