/* unwinder.c - walks frame by frame, with a cache of addresses met before. */
#include "unwind/unwinder.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "unwind/step_inline.h"

/* A cache of pcs, each in the slot of its hash or nowhere. Samples of one program meet few: 4096
 * slots of 32 bytes are enough, and fit into the second-level cache. */
enum { SLOT_BITS = 12, N_SLOTS = 1 << SLOT_BITS, CODE_BEFORE = 8, CODE_AFTER = MACHINE_LEAVES_MAX };

struct cache_slot {
	uint64_t pc; /* looked up; FREE: none */
	struct unwind_row row;
	bool is_common; /* step_common() can make the step */
	bool is_simple; /* as in struct trail_step */
	bool is_return; /* pc + 1 is a return address, as far as the code around it tells */
};

static const uint64_t FREE = UINT64_MAX;

struct unwinder {
	struct unwinder_opts opts;
	uint64_t code; /* a number for this unwinder and its mappings: new whenever these change */
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
	static uint64_t last; /* the last number of any unwinder */
	u->code = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	for (size_t i = 0; i < N_SLOTS; i++)
		u->slots[i].pc = FREE;
	free(TAKE(u->read_off));
}

/* ---- memory ---- */

struct memory {
	const struct unwinder *u;
	struct unwind_walk *w;
	size_t n_words; /* offsets in the copy at which a whole word can be read */
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
	if (__builtin_expect(at >= m->n_words, 0))
		return read_elsewhere(m, addr, ret);
	memcpy(ret, m->w->copy + at, 8);
	return true;
}

/* ---- rows ---- */

enum {
	COMMON_PLACES = 1 << UNWIND_SAME | 1 << UNWIND_UNKNOWN | 1 << UNWIND_AT_CFA,
	SIMPLE_PLACES = COMMON_PLACES | 1 << UNWIND_AT_FP,
};

/* Whether the CFA is sp or fp and an offset, and registers are saved relative to it, if at all. */
static bool is_common(const struct unwind_row *row)
{
	return row->cfa == UNWIND_CFA_REG && !row->flags && row->reg <= UNWIND_FP &&
	       row->ra == UNWIND_AT_CFA && COMMON_PLACES >> row->fp & COMMON_PLACES >> row->bx & 1;
}

/* Whether a step by it depends on the registers and on words of the stack alone. */
static bool is_simple(const struct unwind_row *row)
{
	return row->cfa == UNWIND_CFA_REG && !row->flags && row->reg <= UNWIND_BX &&
	       (row->ra == UNWIND_AT_CFA || row->ra == UNWIND_AT_FP) &&
	       SIMPLE_PLACES >> row->fp & SIMPLE_PLACES >> row->bx & 1;
}

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
	u->read_off[slot_index(pc)] = (struct cache_slot){ .pc = pc, .row = *row };
}

/* Whether an address lies in code, behind a call as far as can be read and is needed there. */
static bool may_return(void *arg, uint64_t addr)
{
	const struct memory *m = arg;
	const struct unwinder *u = m->u;
	uint8_t call[MACHINE_CALL_MAX];
	struct unwind_code code = { 0 };
	return u->opts.find(u->opts.arg, addr - 1, &code) &&
	       (!u->opts.code || !code.is_file ||
		u->opts.code(u->opts.arg, addr - sizeof(call), call, sizeof(call)) < sizeof(call) ||
		m->w->regs.machine->call_ends(call + sizeof(call), sizeof(call)));
}

/* Reads the code from r->pc on, and what is before it if that is an instruction's address. Returns
 * how many bytes could be read from it on. */
static size_t read_code(struct unwinder *u, const struct unwind_regs *r,
			uint8_t code[CODE_BEFORE + CODE_AFTER], size_t *before)
{
	*before = 0;
	if (!u->opts.code)
		return 0;
	if (r->exact &&
	    u->opts.code(u->opts.arg, r->pc - CODE_BEFORE, code, CODE_BEFORE) == CODE_BEFORE)
		*before = CODE_BEFORE;
	return u->opts.code(u->opts.arg, r->pc, code + CODE_BEFORE, CODE_AFTER);
}

static struct unwind_row guess(struct unwinder *u, const struct unwind_regs *r, bool is_file,
			       struct memory *m)
{
	static const struct unwind_row none;
	uint8_t code[CODE_BEFORE + CODE_AFTER];
	size_t before, after = read_code(u, r, code, &before);
	struct unwind_row row;
	if (!r->exact && unwind_is_sigreturn(r->machine, code + CODE_BEFORE, after, &row))
		return row;
	const struct cache_slot *known = u->read_off ? &u->read_off[slot_index(r->pc)] : NULL;
	if (!after && known && known->pc == r->pc)
		return known->row;
	row = unwind_guess(r->machine, r->exact, code + CODE_BEFORE, before, after);
	if (!(row.flags & UNWIND_GUESSED))
		keep_read_off(u, r->pc, &row);
	else if (is_file && row.reg == UNWIND_FP && !unwind_owns_frame(r, read_word, may_return, m))
		return none;
	return row;
}

static void set_row(struct cache_slot *s, const struct unwind_row *row)
{
	s->row = *row;
	s->is_common = is_common(row);
	s->is_simple = is_simple(row);
}

/* The row of a table; false: there is none. */
static bool table_row(const struct unwind_code *code, const struct unwind_regs *r, uint64_t pc,
		      struct unwind_row *ret)
{
	if (!code->table || unwind_table_machine(code->table) != r->machine)
		return false;
	*ret = *unwind_table_find(code->table, pc - code->bias);
	return ret->cfa != UNWIND_CFA_NONE;
}

/* Whether the code shows that a table's row is wrong; *row becomes the right one. */
static bool has_left(struct unwinder *u, const struct unwind_regs *r, struct memory *m,
		     struct unwind_row *row)
{
	uint8_t code[CODE_BEFORE + CODE_AFTER];
	if (!r->exact || !r->machine->leaves)
		return false;
	size_t before, after = read_code(u, r, code, &before);
	return unwind_has_left(r, row, code + CODE_BEFORE, before, after, read_word, may_return, m,
			       row);
}

/* NULL if there is no code. A guess may depend on more than the pc and is not kept. *returns says
 * that the code around tells nothing of return addresses: interpreters made at run time push some
 * that follow anything. */
static __attribute__((noinline)) const struct unwind_row *look_up(struct unwinder *u,
								  const struct unwind_regs *r,
								  struct unwind_row *guessed,
								  struct memory *m, bool *returns)
{
	struct unwind_code code = { 0 };
	uint64_t pc = unwind_lookup_pc(r);
	if (!u->opts.find(u->opts.arg, pc, &code))
		return NULL;
	*returns = !code.is_file;
	if (table_row(&code, r, pc, guessed)) {
		if (has_left(u, r, m, guessed)) /* which depends on the stack, too */
			return guessed;
		struct cache_slot *s = slot_of(u, pc);
		s->pc = pc;
		s->is_return = *returns;
		set_row(s, guessed);
		return &s->row;
	}
	if (!u->opts.row || !u->opts.row(u->opts.arg, pc, guessed))
		*guessed = guess(u, r, code.is_file, m);
	return guessed;
}

/* ---- return addresses ---- */

/* The code around the address at r->pc; returns the number of bytes from it on, and false in *ok if
 * those before it cannot be read. */
static size_t read_around(struct unwinder *u, uint64_t addr, uint8_t code[2 * MACHINE_ORIGIN_MAX],
			  bool *ok)
{
	const size_t before = MACHINE_ORIGIN_MAX, all = 2 * before;
	size_t n = u->opts.code ? u->opts.code(u->opts.arg, addr - before, code, all) : 0;
	if (n < all && u->opts.code) /* the next page may be none */
		n = u->opts.code(u->opts.arg, addr - before, code, before);
	*ok = n >= before;
	return *ok ? n - before : 0;
}

/* The row at an address that was pushed: it is that of the next instruction. */
static bool exact_row(struct unwinder *u, const struct unwind_regs *r, struct unwind_row *ret)
{
	struct unwind_code code = { 0 };
	return u->opts.find(u->opts.arg, r->pc, &code) && table_row(&code, r, r->pc, ret);
}

/* Whether r->pc, which a step found, is a return address: nothing in the code around it tells
 * against it. `row` may become another one. */
static bool is_return(struct unwinder *u, const struct unwind_regs *r, bool doubtful,
		      struct unwind_row *row)
{
	uint8_t code[2 * MACHINE_ORIGIN_MAX];
	bool readable;
	if (row->ra == UNWIND_UNKNOWN || row->flags & UNWIND_SIGNAL)
		return true;
	size_t after = read_around(u, r->pc, code, &readable);
	if (!readable)
		return true;
	switch (unwind_origin(r->machine, code + MACHINE_ORIGIN_MAX, MACHINE_ORIGIN_MAX, after)) {
	case UNWIND_CALLED:
		return true;
	case UNWIND_THREAD:
		*row = unwind_outermost;
		return true;
	case UNWIND_PUSHED:
		return !doubtful && exact_row(u, r, row);
	case UNWIND_MADE_UP:
		*row = unwind_outermost;
		return !doubtful;
	case UNWIND_NOT_SO:
		break;
	}
	return false;
}

/* The row for a frame that a step found; NULL: there is none, as r->pc is no return address. */
static __attribute__((noinline)) const struct unwind_row *
return_row(struct unwinder *u, const struct unwind_regs *r, bool doubtful, struct cache_slot *known,
	   struct unwind_row *guessed)
{
	struct unwind_row row = known ? known->row : *guessed;
	if (!is_return(u, r, doubtful, &row))
		return NULL;
	if (!known) {
		*guessed = row;
		return guessed;
	}
	set_row(known, &row);
	known->is_return = true;
	return &known->row;
}

/* ---- most steps ---- */

/* What unwind_step() does with a common row if nothing is odd; otherwise false, and *r is
 * unchanged. */
static inline bool step_common(const struct unwind_row *row, struct unwind_regs *r,
			       const struct memory *m)
{
	uint64_t cfa = (row->reg == UNWIND_SP ? r->sp : r->fp) + (uint64_t)(int64_t)row->cfa_offset;
	uint64_t at = cfa - m->w->copy_addr, pc, fp = r->fp, bx = r->bx;
	const uint8_t *frame = m->w->copy + at;
	if (cfa & 7 || cfa <= r->sp || at + (uint64_t)(int64_t)row->ra_offset * 8 >= m->n_words)
		return false;
	memcpy(&pc, frame + (int64_t)row->ra_offset * 8, sizeof(pc));
	if (row->fp == UNWIND_AT_CFA) {
		if (at + (uint64_t)(int64_t)row->fp_offset * 8 >= m->n_words)
			return false;
		memcpy(&fp, frame + (int64_t)row->fp_offset * 8, sizeof(fp));
	} else if (row->fp == UNWIND_UNKNOWN) {
		fp = 0;
	}
	if (row->bx == UNWIND_AT_CFA) {
		if (at + (uint64_t)(int64_t)row->bx_offset * 8 >= m->n_words)
			return false;
		memcpy(&bx, frame + (int64_t)row->bx_offset * 8, sizeof(bx));
	}
	if (!pc)
		return false;
	r->bx_unknown = row->bx == UNWIND_UNKNOWN || (row->bx == UNWIND_SAME && r->bx_unknown);
	r->pc = pc;
	r->sp = cfa;
	r->fp = fp;
	r->bx = bx;
	r->all = NULL;
	r->all_at = 0;
	r->lr = 0;
	r->lr_unknown = true;
	r->exact = false;
	return true;
}

/* ---- the end of a walk ---- */

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

/* ---- the last walk of the thread ---- */

/* Whether these registers are all that a step from there can depend on, beside memory. */
static bool is_plain(const struct unwind_regs *r) { return !r->exact && !r->all && !r->all_at; }

static inline void add_step(struct unwind_trail *t, const struct unwind_regs *r)
{
	vec_reserve(&t->made, 1);
	struct trail_step *s = &t->made.at[t->made.n++];
	s->pc = r->pc;
	s->sp = r->sp;
	s->fp = r->fp;
	s->bx = r->bx;
	s->is_plain = is_plain(r);
	s->is_simple = false;
	s->bx_unknown = r->bx_unknown;
}

/* Notes the row by which the caller of the last frame was found. */
static inline void add_row(struct unwind_trail *t, const struct cache_slot *found)
{
	struct trail_step *s = &t->made.at[t->made.n - 1];
	s->row = found->row;
	s->is_simple = found->is_simple;
}

static inline bool is_at(const struct trail_step *s, const struct unwind_regs *r)
{
	return s->sp == r->sp && s->pc == r->pc && s->fp == r->fp && s->bx == r->bx &&
	       s->bx_unknown == r->bx_unknown && s->is_plain && is_plain(r);
}

/* Whether the stack has that word where the row says; a register that is not saved has not
 * changed. */
static inline bool has_word(const struct unwind_walk *w, const struct trail_step *s, uint64_t cfa,
			    unsigned place, int offset, uint64_t word)
{
	if (place != UNWIND_AT_CFA && place != UNWIND_AT_FP)
		return true;
	uint64_t addr = place == UNWIND_AT_CFA ? cfa : s->fp;
	uint64_t at = addr + (uint64_t)(int64_t)offset * 8 - w->copy_addr;
	return at <= w->copy_size - 8 && !memcmp(w->copy + at, &word, sizeof(word));
}

/* Whether the step from s leads to `caller` once more; the copy has 8 bytes at least. */
static bool leads_to(const struct trail_step *s, const struct trail_step *caller,
		     const struct unwind_walk *w)
{
	const struct unwind_row *row = &s->row;
	uint64_t cfa = caller->sp;
	return s->is_simple && caller->is_plain &&
	       has_word(w, s, cfa, row->ra, row->ra_offset, caller->pc) &&
	       has_word(w, s, cfa, row->fp, row->fp_offset, caller->fp) &&
	       (caller->bx_unknown ? row->bx == UNWIND_UNKNOWN || row->bx == UNWIND_SAME
				   : has_word(w, s, cfa, row->bx, row->bx_offset, caller->bx));
}

/* Follows the trail from frame `from`, where the walk is, as far as memory is the same. Adds the
 * pcs of these frames to pcs[*n], up to `max` in all. Returns the frame where the walk is then. */
static size_t follow(const struct unwind_trail *t, size_t from, const struct unwind_walk *w,
		     uint64_t *pcs, size_t *n, size_t max)
{
	size_t k = *n;
	while (from + 1 < t->end && k < max && w->copy_size >= 8 &&
	       leads_to(&t->at[from], &t->at[from + 1], w))
		pcs[k++] = t->at[from++].pc;
	*n = k;
	return from;
}

/* Puts the walk at a frame of the trail. */
static void put_at(struct unwind_regs *r, const struct trail_step *s)
{
	r->pc = s->pc;
	r->sp = s->sp;
	r->fp = s->fp;
	r->bx = s->bx;
	r->bx_unknown = s->bx_unknown;
}

/* ---- walking ---- */

/* Where the current walk is in the trail of the last one. */
struct following {
	size_t next; /* the first frame that it may still come to */
	size_t same; /* from here on all frames were the same, up to the last; NONE_SAME: none yet
		      */
};

static const size_t NONE_SAME = SIZE_MAX;

static void keep_steps(struct unwind_trail *t, size_t from, size_t to)
{
	for (; from < to; from++)
		vec_push(&t->made, t->at[from]);
}

/* Whether the last walk came to the same frame. */
static inline bool meets_trail(const struct unwind_trail *t, struct following *f,
			       const struct unwind_regs *r)
{
	f->next = trail_find(t, f->next, r->sp);
	return f->next < t->end && is_at(&t->at[f->next], r);
}

/* Goes on as the last walk did. */
static void follow_trail(struct unwind_trail *t, struct following *f, struct unwind_walk *w,
			 struct unwind_regs *r, uint64_t *pcs, size_t *n, size_t max)
{
	size_t to = follow(t, f->next, w, pcs, n, max);
	if (to + 1 == t->end && *n < max)
		f->same = f->next;
	else
		keep_steps(t, f->next, to);
	put_at(r, &t->at[to]);
	f->next = to + 1;
}

/* The walk went on from the frame that was the last walk's outermost. */
static void leave_trail(struct unwind_trail *t, struct following *f)
{
	keep_steps(t, f->same, t->end);
	f->same = NONE_SAME;
}

static void end_trail(const struct unwinder *u, struct unwind_walk *w, const struct following *f)
{
	struct unwind_trail *t = w->trail;
	size_t same = f->same == NONE_SAME ? t->end : f->same;
	w->n_same = t->end - same;
	unwind_trail_keep(t, same, u->code);
}

void unwinder_walk(struct unwinder *u, struct unwind_walk *w, uint64_t *pcs, size_t max)
{
	struct unwind_regs r = w->regs;
	struct unwind_trail *t = w->trail;
	struct memory m = { u, w, w->copy_size < 8 ? 0 : w->copy_size - 7 };
	struct unwind_row guessed;
	size_t n = 0;
	bool by_guess = false, doubtful = false;
	struct following f = { t ? t->end : 0, NONE_SAME };
	w->guessed = 0;
	w->missing = 0;
	w->n_same = 0;
	w->n_interrupted = 0;
	w->end = UNWIND_DEPTH;
	if (t && t->code == u->code)
		f.next = t->first;
	if (t)
		t->made.n = 0;
	while (n < max) {
		if (t && !by_guess && meets_trail(t, &f, &r)) {
			follow_trail(t, &f, w, &r, pcs, &n, max);
			if (n == max)
				break;
		}
		uint64_t pc = unwind_lookup_pc(&r);
		struct cache_slot *s = slot_of(u, pc);
		const struct unwind_row *row = &s->row;
		bool returns = s->is_return; /* nothing tells against it */
		if (__builtin_expect(s->pc != pc, 0))
			row = look_up(u, &r, &guessed, &m, &returns);
		bool known = row == &s->row;
		if (row && !r.exact && n && !returns)
			row = return_row(u, &r, doubtful, known ? s : NULL, &guessed);
		if (!row && n) { /* what was found is no return address */
			w->end = by_guess ? UNWIND_NO_CFI : UNWIND_DAMAGED;
			f.same = NONE_SAME;
			break;
		}
		if (!row) { /* a call through a null pointer left this behind */
			guessed = unwind_called(r.machine);
			row = &guessed;
		}
		if (by_guess && !w->guessed++)
			w->certain = n;
		if (__builtin_expect(n && r.exact && w->n_interrupted < UNWIND_SIGNALS, 0))
			w->interrupted[w->n_interrupted++] = n;
		pcs[n++] = r.pc;
		if (t && f.same == NONE_SAME)
			add_step(t, &r);
		by_guess = row->flags & UNWIND_GUESSED;
		doubtful |= by_guess;
		if (by_guess && u->opts.no_guess) {
			w->end = UNWIND_NO_CFI;
			break;
		}
		enum unwind_status status = UNWIND_OK;
		if (!known || !s->is_common || !step_common(row, &r, &m))
			status = unwind_step_inline(row, &r, read_word, &m);
		if (__builtin_expect(status != UNWIND_OK, 0)) {
			w->end = why(w, status, row);
			break;
		}
		if (t && f.same != NONE_SAME)
			leave_trail(t, &f);
		if (t && known)
			add_row(t, s);
	}
	w->n = n;
	w->certain = w->guessed ? w->certain : n;
	w->top = r.sp;
	if (t)
		end_trail(u, w, &f);
}

size_t unwinder_by_pointers(struct unwinder *u, const struct unwind_walk *w, uint64_t *pcs,
			    size_t max)
{
	struct unwind_regs r = w->regs;
	struct unwind_walk over = *w;
	struct memory m = { u, &over, w->copy_size < 8 ? 0 : w->copy_size - 7 };
	const struct unwind_row row = unwind_guess(r.machine, false, NULL, 0, 0);
	size_t n = 0;
	while (n < max && unwind_step(&row, &r, read_word, &m) == UNWIND_OK && may_return(&m, r.pc))
		pcs[n++] = r.pc;
	return n;
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
