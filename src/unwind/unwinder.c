/* unwinder.c - walks frame by frame, with a cache of addresses met before. */
#include "unwind/unwinder.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "unwind/step_inline.h"

/* pcs met before, each at its place or nowhere. Samples of one program meet few: 4096 of 24 bytes
 * are enough, and fit into the second-level cache. */
enum { SLOT_BITS = 12, N_SLOTS = 1 << SLOT_BITS, CODE_BEFORE = 4, CODE_AFTER = MACHINE_LEAVES_MAX };

struct cache_slot {
	uint64_t pc; /* looked up; FREE: none */
	struct unwind_row row;
};

static const uint64_t FREE = UINT64_MAX;

struct unwinder {
	struct unwinder_opts opts;
	struct cache_slot slots[N_SLOTS];
	/* Rows that were read off code without call-frame information: once the process is gone,
	 * its code cannot be read again. NULL: none yet. */
	struct cache_slot *read_off;
};

struct unwinder *unwinder_new(const struct unwinder_opts *opts)
{
	struct unwinder *u = xalloc(sizeof(*u));
	u->opts = *opts;
	unwinder_flush(u);
	return u;
}

void unwinder_free(struct unwinder *u)
{
	if (u)
		free(u->read_off);
	free(u);
}

void unwinder_flush(struct unwinder *u)
{
	for (size_t i = 0; i < N_SLOTS; i++)
		u->slots[i].pc = FREE;
	free(TAKE(u->read_off));
}

/* ---- memory ---- */

struct memory {
	const struct unwinder *u;
	struct unwind_walk *w;
};

static bool read_elsewhere(const struct memory *m, uint64_t addr, uint64_t *ret)
{
	if (m->u->opts.read && m->u->opts.read(m->u->opts.arg, addr, ret))
		return true;
	m->w->missing = addr;
	return false;
}

static inline __attribute__((always_inline)) bool read_word(void *arg, uint64_t addr, uint64_t *ret)
{
	const struct memory *m = arg;
	uint64_t at = addr - m->w->copy_addr;
	if (__builtin_expect(m->w->copy_size < 8 || at > m->w->copy_size - 8, 0))
		return read_elsewhere(m, addr, ret);
	memcpy(ret, m->w->copy + at, 8);
	return true;
}

/* ---- rows ---- */

static size_t slot_index(uint64_t pc)
{
	return pc * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SLOT_BITS);
}

static struct cache_slot *slot_of(struct unwinder *u, uint64_t pc)
{
	return &u->slots[slot_index(pc)];
}

static void keep_read_off(struct unwinder *u, uint64_t pc, const struct unwind_row *row)
{
	if (!u->read_off) {
		u->read_off = xalloc(N_SLOTS * sizeof(*u->read_off));
		for (size_t i = 0; i < N_SLOTS; i++)
			u->read_off[i].pc = FREE;
	}
	u->read_off[slot_index(pc)] = (struct cache_slot){ pc, *row };
}

static struct unwind_row guess(struct unwinder *u, const struct unwind_regs *r)
{
	uint8_t code[CODE_BEFORE + CODE_AFTER];
	size_t before = 0, after = 0;
	struct unwind_row row;
	if (u->opts.code) {
		after = u->opts.code(u->opts.arg, r->pc, code + CODE_BEFORE, CODE_AFTER);
		if (r->exact && u->opts.code(u->opts.arg, r->pc - CODE_BEFORE, code, CODE_BEFORE) ==
					CODE_BEFORE)
			before = CODE_BEFORE;
	}
	if (!r->exact && unwind_is_sigreturn(r->machine, code + CODE_BEFORE, after, &row))
		return row;
	const struct cache_slot *known = u->read_off ? &u->read_off[slot_index(r->pc)] : NULL;
	if (!after && known && known->pc == r->pc)
		return known->row;
	row = unwind_guess(r->machine, r->exact, code + CODE_BEFORE, before, after);
	if (!(row.flags & UNWIND_GUESSED))
		keep_read_off(u, r->pc, &row);
	return row;
}

/* NULL if there is no code. A guess may depend on more than the pc and is not kept. */
static __attribute__((noinline)) const struct unwind_row *
look_up(struct unwinder *u, const struct unwind_regs *r, struct unwind_row *guessed)
{
	struct unwind_code code = { 0 };
	uint64_t pc = unwind_lookup_pc(r);
	if (!u->opts.find(u->opts.arg, pc, &code))
		return NULL;
	if (code.table && unwind_table_machine(code.table) == r->machine) {
		const struct unwind_row *row = unwind_table_find(code.table, pc - code.bias);
		if (row->cfa != UNWIND_CFA_NONE) {
			struct cache_slot *s = slot_of(u, pc);
			s->pc = pc;
			s->row = *row;
			return &s->row;
		}
	}
	if (!u->opts.row || !u->opts.row(u->opts.arg, pc, guessed))
		*guessed = guess(u, r);
	return guessed;
}

/* ---- walking ---- */

static enum unwind_end why(const struct unwind_walk *w, enum unwind_status status,
			   const struct unwind_row *row)
{
	switch (status) {
	case UNWIND_OK:
		return UNWIND_DEPTH;
	case UNWIND_END:
		return UNWIND_COMPLETE;
	case UNWIND_NO_ROW:
	case UNWIND_NO_REGISTER:
		return UNWIND_NO_CFI;
	case UNWIND_NO_MEMORY:
		if (w->missing >= w->copy_addr + w->copy_size)
			return UNWIND_TRUNCATED;
		break;
	case UNWIND_BAD:
		break;
	}
	return row->flags & UNWIND_GUESSED ? UNWIND_NO_CFI : UNWIND_DAMAGED;
}

void unwinder_walk(struct unwinder *u, struct unwind_walk *w, uint64_t *pcs, size_t max)
{
	struct unwind_regs r = w->regs;
	struct memory m = { u, w };
	struct unwind_row guessed;
	size_t n = 0;
	bool by_guess = false;
	w->guessed = 0;
	w->missing = 0;
	w->end = UNWIND_DEPTH;
	while (n < max) {
		uint64_t pc = unwind_lookup_pc(&r);
		struct cache_slot *s = slot_of(u, pc);
		const struct unwind_row *row = &s->row;
		if (__builtin_expect(s->pc != pc, 0)) {
			row = look_up(u, &r, &guessed);
			if (!row && n) { /* what was found is no return address */
				w->end = by_guess ? UNWIND_NO_CFI : UNWIND_DAMAGED;
				break;
			}
			if (!row) { /* a call through a null pointer left this behind */
				guessed = unwind_called(r.machine);
				row = &guessed;
			}
		}
		if (by_guess && !w->guessed++)
			w->certain = n;
		pcs[n++] = r.pc;
		by_guess = row->flags & UNWIND_GUESSED;
		if (by_guess && u->opts.no_guess) {
			w->end = UNWIND_NO_CFI;
			break;
		}
		enum unwind_status status = unwind_step_inline(row, &r, read_word, &m);
		if (__builtin_expect(status != UNWIND_OK, 0)) {
			w->end = why(w, status, row);
			break;
		}
	}
	w->n = n;
	w->certain = w->guessed ? w->certain : n;
	w->top = r.sp;
}

const char *unwind_end_name(enum unwind_end end)
{
	switch (end) {
	case UNWIND_COMPLETE:
		return "complete";
	case UNWIND_TRUNCATED:
		return "truncated";
	case UNWIND_DEPTH:
		return "too deep";
	case UNWIND_NO_CFI:
		return "no call-frame information";
	case UNWIND_DAMAGED:
		return "damaged";
	}
	return "";
}
