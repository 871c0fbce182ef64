/* bare_code.c - follows the instructions of functions, and decides which rows are certain. */
#include "unwind/bare_code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/map64.h"
#include "base/records.h"
#include "base/search.h"
#include "base/sort.h"
#include "unwind/bare_state.h"
#include "unwind/jump_values.h"
#include "unwind/step.h"

enum {
	PENDING_MAX = 1 << 14, /* paths that wait to be followed */
	STATES_MAX = 1 << 17,  /* real code has a few thousand */
	STEPS_PER_BYTE = 2,    /* followed instructions: some are followed again where paths meet */
	STEPS_MORE = 1 << 16,
	PASSES_MAX = 64,
};

/* All code lies in one array, of which a piece has [at, end). */
struct piece_of_code {
	struct code_span range;
	uint32_t at, end;
};

struct seen {             /* an instruction */
	uint32_t state;   /* index in states: before the instruction */
	uint32_t segment; /* index in segments */
	uint8_t size;
};

/* Code that is judged as a whole: a function up to its calls, or the code behind one of them. */
struct segment {
	uint32_t entry;  /* index of its function in entries */
	bool is_bad;     /* something is wrong with it */
	bool is_entry;   /* it begins where a function does */
	bool leaves;     /* returns, or jumps to another function, with the stack as at the start */
	bool returns;    /* returns */
	bool is_signal;  /* it is the trampoline by which a signal handler returns */
	bool is_odd;     /* another segment does not agree with it */
	bool is_good;    /* the verdict: certain */
	bool comes_back; /* certain, and it leads to an instruction that returns */
};

enum call_kind { CALL_NONE, CALL_ENTRY, CALL_UNSEEN };

struct code_link { /* between segments */
	uint32_t from, to;
	uint32_t callee; /* of the call between them: an index of entries, or of unseen */
	enum call_kind call;
};

struct jumper { /* a function that jumps into another one */
	uint32_t entry;
	uint32_t next; /* the next jumper into the same function; NONE: the last */
};

/* A called function that cannot be seen, such as one of another file. */
struct unseen {
	bool is_suspect; /* it may not return */
};

struct symbol_extent { /* the bytes of a symbol: [low, high) of the code */
	uint32_t low, high;
};

struct bare_entry { /* a function */
	uint32_t at;
	bool is_bad;               /* it jumps to an unknown place with another stack */
	bool goes_anywhere;        /* it jumps to an unknown place, which may be a function */
	bool is_proved;            /* it is called, or returns: it is a function */
	bool returns;              /* it returns, or may */
	bool is_suspect;           /* it may not return, if it jumps to an unseen function */
	uint32_t segment;          /* index of its first segment; NONE: none yet */
	uint32_t waiting, jumpers; /* first waiting call; first function that jumps to it */
};

struct waiting { /* a path that goes on behind a call */
	uint32_t at, state, segment;
	uint32_t callee;
	enum call_kind call;
	uint32_t next; /* the next path that waits for the same function; NONE: the last */
};

struct pending {
	uint32_t at, state, segment;
	struct jump_values values;
};

struct bare_walk {
	const struct code_file *file;
	const struct machine *machine;
	machine_effect_decoder *effect;
	VEC(struct piece_of_code) pieces;
	uint8_t *code;
	uint32_t size;
	uint32_t *index; /* [size]: index in seen + 1, by an instruction's first byte; 0: none */
	VEC(struct seen) seen;
	VEC(struct bare_state) states; /* distinct */
	struct records known;          /* states by contents */
	VEC(struct segment) segments;
	VEC(struct code_link) joins;     /* pairs of segments: one leads into the other */
	VEC(struct code_link) conflicts; /* pairs of segments that do not agree */
	VEC(struct bare_entry) entries;
	struct map64 entry_at;
	VEC(struct waiting) waiting; /* paths, until the function is known to return */
	VEC(struct waiting) ready;   /* paths whose function returns: to be followed */
	VEC(struct waiting) later;   /* paths behind calls of functions that cannot be seen */
	size_t next_entry;           /* index of the first entry not followed yet */
	VEC(struct jumper) jumpers;
	VEC(struct unseen) unseen;
	struct map64 unseen_at;            /* key of add_unseen() -> index in unseen */
	VEC(struct symbol_extent) extents; /* by address; none if there are no symbols */
	VEC(struct pending) pending;
	VEC(uint32_t) returning; /* entries found to return; calls of them still wait */
	uint64_t budget;         /* instructions that may still be followed */
	bool is_too_much;        /* too many states: nothing is certain */
};

/* ---- code ---- */

static const struct piece_of_code *piece_at(const struct bare_walk *w, uint64_t addr)
{
	size_t i = COUNT_WHILE(w->pieces.n, k, w->pieces.at[k].range.high <= addr);
	return i < w->pieces.n && w->pieces.at[i].range.low <= addr ? &w->pieces.at[i] : NULL;
}

/* The place of an address in the code; NONE: it is elsewhere. */
static uint32_t place_of(const struct bare_walk *w, uint64_t addr)
{
	const struct piece_of_code *p = piece_at(w, addr);
	return p ? p->at + (uint32_t)(addr - p->range.low) : NONE;
}

static const struct piece_of_code *piece_of(const struct bare_walk *w, uint32_t at)
{
	return &w->pieces.at[COUNT_WHILE(w->pieces.n, k, w->pieces.at[k].end <= at)];
}

static void add_piece(struct bare_walk *w, const struct code_span *r)
{
	uint64_t size = r->high - r->low, left = BARE_CODE_MAX - w->size;
	if (!left)
		return;
	size = min_u64(size, left);
	size = w->file->code(w->file->arg, r->low, w->code + w->size, size);
	if (!size)
		return;
	uint32_t end = w->size + (uint32_t)size;
	vec_push(&w->pieces, ((struct piece_of_code){ { r->low, r->low + size }, w->size, end }));
	w->size = end;
}

static uint64_t code_bytes(const struct bare_input *in)
{
	uint64_t n = 0;
	for (size_t i = 0; i < in->n_bare && n < BARE_CODE_MAX; i++)
		n += in->bare[i].high - in->bare[i].low;
	return min_u64(n, BARE_CODE_MAX);
}

static void read_code(struct bare_walk *w, const struct bare_input *in)
{
	w->code = xrealloc(NULL, code_bytes(in) + 1, 1);
	for (size_t i = 0; i < in->n_bare; i++)
		add_piece(w, &in->bare[i]);
	w->index = xrealloc(NULL, w->size + 1, sizeof(*w->index));
	memset(w->index, 0, (w->size + 1) * sizeof(*w->index));
	w->budget = (uint64_t)w->size * STEPS_PER_BYTE + STEPS_MORE;
}

/* ---- states ---- */

static uint64_t state_hash(const void *state)
{
	const struct bare_state *s = state;
	uint64_t h = 0;
	for (unsigned i = 0; i < MACHINE_REGISTERS; i++)
		h = records_mix(h, s->kind[i] ^ (uint64_t)(uint32_t)s->n[i] << 8);
	for (unsigned i = 0; i < BARE_N_SAVED; i++)
		h = records_mix(h, (uint32_t)s->saved[i]);
	return h;
}

static bool is_same_state(const void *a, const void *b)
{
	return !memcmp(a, b, sizeof(struct bare_state));
}

static const struct records_kind states = { sizeof(struct bare_state), state_hash, is_same_state };

static uint32_t intern(struct bare_walk *w, const struct bare_state *s)
{
	uint32_t n = (uint32_t)w->states.n;
	uint32_t state = records_add(&w->known, &states, w->states.at, s, n);
	if (state == n)
		vec_push(&w->states, *s);
	if (w->states.n > STATES_MAX) {
		w->budget = 0;
		w->is_too_much = true;
	}
	return state;
}

/* ---- functions ---- */

static uint32_t add_segment(struct bare_walk *w, uint32_t entry, bool is_entry)
{
	vec_push(&w->segments, ((struct segment){ .entry = entry, .is_entry = is_entry }));
	return (uint32_t)w->segments.n - 1;
}

/* Adds a path to follow. If there are too many, its segment is not certain. */
static void push(struct bare_walk *w, uint32_t at, uint32_t state, uint32_t segment,
		 const struct jump_values *values)
{
	if (w->pending.n >= PENDING_MAX) {
		w->segments.at[segment].is_bad = true;
		return;
	}
	struct pending p = { .at = at, .state = state, .segment = segment };
	if (values)
		p.values = *values;
	vec_push(&w->pending, p);
}

static uint32_t add_entry(struct bare_walk *w, uint32_t at)
{
	uint32_t *known = map64_at(&w->entry_at, at);
	if (*known != NONE)
		return *known;
	*known = (uint32_t)w->entries.n;
	vec_push(&w->entries,
		 ((struct bare_entry){
			 .at = at, .segment = NONE, .waiting = NONE, .jumpers = NONE }));
	return (uint32_t)w->entries.n - 1;
}

static void mark_returns(struct bare_walk *w, uint32_t entry)
{
	if (w->entries.at[entry].returns)
		return;
	w->entries.at[entry].returns = true;
	vec_push(&w->returning, entry);
}

/* Goes on behind a call, in a segment of its own. */
static void resume(struct bare_walk *w, const struct waiting *c)
{
	uint32_t segment = add_segment(w, w->segments.at[c->segment].entry, false);
	vec_push(&w->joins, ((struct code_link){ c->segment, segment, c->callee, c->call }));
	push(w, c->at, c->state, segment, NULL);
}

/* Makes the paths ready that wait for functions found to return. */
static void tell_returning(struct bare_walk *w)
{
	while (w->returning.n) {
		struct bare_entry *e = &w->entries.at[w->returning.at[--w->returning.n]];
		uint32_t i = e->waiting, k = e->jumpers;
		e->waiting = e->jumpers = NONE;
		for (; i != NONE; i = w->waiting.at[i].next)
			vec_push(&w->ready, w->waiting.at[i]);
		for (; k != NONE; k = w->jumpers.at[k].next)
			mark_returns(w, w->jumpers.at[k].entry);
	}
}

/* A function that goes on in another one returns if that does. */
static void goes_on_in(struct bare_walk *w, uint32_t entry, uint32_t other)
{
	if (entry == other || w->entries.at[entry].returns)
		return;
	if (w->entries.at[other].returns) {
		mark_returns(w, entry);
		return;
	}
	vec_push(&w->jumpers, ((struct jumper){ entry, w->entries.at[other].jumpers }));
	w->entries.at[other].jumpers = (uint32_t)w->jumpers.n - 1;
}

/* ---- instructions ---- */

struct at { /* the place of a path */
	uint32_t at, segment;
	uint32_t last; /* index of the state interned last: most instructions change nothing */
	const struct piece_of_code *piece;
	struct bare_state state;
	struct jump_values values;
};

static struct segment *segment_of(struct bare_walk *w, const struct at *p)
{
	return &w->segments.at[p->segment];
}

static void fail(struct bare_walk *w, const struct at *p) { segment_of(w, p)->is_bad = true; }

/* Fails the whole function: its other parts may be reached in unknown ways. */
static void fail_function(struct bare_walk *w, const struct at *p)
{
	w->entries.at[segment_of(w, p)->entry].is_bad = true;
	mark_returns(w, segment_of(w, p)->entry);
}

static void leave(struct bare_walk *w, const struct at *p)
{
	segment_of(w, p)->leaves = true;
	mark_returns(w, segment_of(w, p)->entry);
}

static uint64_t addr_of(const struct at *p, uint32_t at)
{
	return p->piece->range.low + (at - p->piece->at);
}

/* The path comes to an instruction seen before: false if it need not be followed on. */
static bool meet(struct bare_walk *w, struct at *p, struct seen *known)
{
	struct bare_state both = w->states.at[known->state];
	bool same_saved = !memcmp(both.saved, p->state.saved, sizeof(both.saved));
	enum bare_meeting m = bare_state_meet(w->machine, &both, &p->state);
	if (m == BARE_CONFLICT && known->segment != p->segment) {
		vec_push(&w->conflicts,
			 ((struct code_link){ .from = p->segment, .to = known->segment }));
		return false;
	}
	if (known->segment != p->segment) {
		if (same_saved)
			vec_push(&w->joins,
				 ((struct code_link){ .from = p->segment, .to = known->segment }));
		goes_on_in(w, segment_of(w, p)->entry, w->segments.at[known->segment].entry);
		p->segment = known->segment;
	}
	if (m == BARE_SAME)
		return false;
	p->state = both;
	known->state = intern(w, &both);
	return true;
}

static bool visit(struct bare_walk *w, struct at *p, uint8_t size)
{
	uint32_t known = w->index[p->at];
	if (known)
		return meet(w, p, &w->seen.at[known - 1]);
	if (memcmp(&w->states.at[p->last], &p->state, sizeof(p->state)) != 0)
		p->last = intern(w, &p->state);
	vec_push(&w->seen, ((struct seen){ p->last, p->segment, size }));
	w->index[p->at] = (uint32_t)w->seen.n;
	return true;
}

/* Goes on at `target`: another place of the path, or, outside of the code, another function. */
static void go_to(struct bare_walk *w, const struct at *p, uint64_t target,
		  const struct jump_values *values)
{
	struct at x = *p;
	uint32_t at = place_of(w, target);
	if (at != NONE)
		push(w, at, intern(w, &x.state), x.segment, values);
	else if (bare_state_leaves(w->machine, &x.state))
		leave(w, p);
	else
		fail(w, p);
}

/* Goes on at all addresses in a table. False if they cannot be read, or are not all code. */
static bool go_by_table(struct bare_walk *w, const struct at *p, const struct jump_table *t)
{
	uint8_t entries[JUMP_TABLE_MAX * 8];
	size_t size = (size_t)t->n * t->width;
	uint64_t addr;
	if (t->n > JUMP_TABLE_MAX || t->n > w->budget)
		return false;
	w->budget -= t->n;
	if (w->file->code(w->file->arg, t->at, entries, size) != size)
		return false;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < t->n; i++) {
			const uint8_t *e = entries + i * t->width;
			if (t->width == 4)
				addr = t->base + (uint64_t)(int64_t)(int32_t)machine_word(e);
			else
				addr = machine_word(e) | (uint64_t)machine_word(e + 4) << 32;
			if (pass)
				go_to(w, p, addr, &p->values);
			else if (place_of(w, addr) == NONE)
				return false;
		}
	return true;
}

static void switch_to(struct bare_walk *w, const struct at *p, const struct machine_effect *e)
{
	struct jump_table t;
	uint64_t target;
	enum jump_value kind = jump_values_target(e, &p->values, &t, &target);
	if (kind == JUMP_CONST) {
		go_to(w, p, target, &p->values);
		return;
	}
	if ((kind == JUMP_ENTRY || kind == JUMP_TARGET) && go_by_table(w, p, &t))
		return;
	if (bare_state_leaves(w->machine, &p->state)) {
		w->entries.at[segment_of(w, p)->entry].goes_anywhere = true;
		leave(w, p);
	} else {
		fail_function(w, p);
	}
}

static uint32_t add_unseen(struct bare_walk *w, const struct at *p, const struct machine_effect *e)
{
	const uint64_t by_register = UINT64_C(1) << 63; /* one key per function */
	uint64_t key = e->target ? e->target : by_register | w->segments.at[p->segment].entry;
	uint32_t *known = map64_at(&w->unseen_at, key);
	if (*known == NONE) {
		*known = (uint32_t)w->unseen.n;
		vec_push(&w->unseen, ((struct unseen){ 0 }));
	}
	return *known;
}

static void suspect(struct bare_walk *w, enum call_kind call, uint32_t callee)
{
	if (call == CALL_ENTRY)
		w->entries.at[callee].is_suspect = true;
	else if (call == CALL_UNSEEN)
		w->unseen.at[callee].is_suspect = true;
}

/* Whether an instruction and the one behind it are in one symbol. */
static bool is_within(const struct bare_walk *w, uint32_t at, uint32_t next)
{
	size_t n = COUNT_WHILE(w->extents.n, k, w->extents.at[k].low <= at);
	return n && next < w->extents.at[n - 1].high;
}

static void call(struct bare_walk *w, const struct at *p, const struct machine_effect *e,
		 uint32_t next)
{
	uint32_t target = e->kind == STEP_CALL ? place_of(w, e->target) : NONE;
	struct bare_state after = p->state;
	bare_state_apply(w->machine, e, &after);
	uint32_t entry = target != NONE ? add_entry(w, target) : NONE;
	uint32_t unseen = entry == NONE ? add_unseen(w, p, e) : NONE;
	if (entry != NONE)
		w->entries.at[entry].is_proved = true;
	struct waiting c = { next, intern(w, &after), p->segment, entry, CALL_ENTRY, NONE };
	if (entry == NONE) {
		c.callee = unseen;
		c.call = CALL_UNSEEN;
	}
	if (!is_within(w, p->at, next))
		suspect(w, c.call, c.callee);
	if (next >= p->piece->end || map64_get(&w->entry_at, next) != NONE)
		return;
	if (entry == NONE) {
		vec_push(&w->later, c);
	} else if (w->entries.at[entry].returns) {
		vec_push(&w->ready, c);
	} else {
		c.next = w->entries.at[entry].waiting;
		w->entries.at[entry].waiting = (uint32_t)w->waiting.n;
		vec_push(&w->waiting, c);
	}
}

/* "call next; next: pop" reads its own address, and calls no function. */
static void push_own_address(const struct bare_walk *w, struct at *p)
{
	const struct machine *m = w->machine;
	struct machine_effect e = { .n_changes = 2 };
	e.change[0] =
		(struct machine_change){ .kind = CHANGE_SET, .a = m->sp, .b = m->sp, .n = -8 };
	e.change[1] = (struct machine_change){
		.kind = CHANGE_STORE, .a = MACHINE_NO_REGISTER, .b = m->sp, .width = 8
	};
	bare_state_apply(m, &e, &p->state);
}

static void return_from(struct bare_walk *w, const struct at *p, const struct machine_effect *e)
{
	if (!bare_state_returns(w->machine, &p->state)) {
		fail(w, p);
		return;
	}
	segment_of(w, p)->leaves |= bare_state_leaves(w->machine, &p->state);
	if (e->pops) /* callers are not followed behind such calls */
		return;
	segment_of(w, p)->returns = true;
	mark_returns(w, segment_of(w, p)->entry);
}

/* Linux's system calls on x86-64, and the register with the number. */
enum { SYS_CLONE = 56, SYS_RT_SIGRETURN = 15, SYS_CLONE3 = 435, SYS_NUMBER = 0 };

/* After clone() the child has another stack at the same instruction. The code that returns from a
 * signal handler was not called. False: the path does not go on. */
static bool system_call(struct bare_walk *w, struct at *p)
{
	uint64_t number = p->values.is[SYS_NUMBER];
	if (p->values.kind[SYS_NUMBER] != JUMP_CONST)
		return true;
	if (number == SYS_RT_SIGRETURN) {
		bool is_trampoline =
			segment_of(w, p)->is_entry && bare_state_leaves(w->machine, &p->state);
		segment_of(w, p)->is_signal = is_trampoline;
		segment_of(w, p)->is_bad |= !is_trampoline;
		return false;
	}
	if (number == SYS_CLONE || number == SYS_CLONE3) {
		p->state.kind[w->machine->sp] = BARE_UNKNOWN;
		p->state.n[w->machine->sp] = 0;
	}
	return true;
}

/* Executes the instruction; false if the path does not go on behind it. */
static bool execute(struct bare_walk *w, struct at *p, const struct machine_effect *e)
{
	uint32_t next = p->at + e->size;
	switch ((enum step_kind)e->kind) {
	case STEP_ON:
		if (e->is_syscall && !system_call(w, p))
			return false;
		bare_state_apply(w->machine, e, &p->state);
		jump_values_apply(e, &p->values);
		return true;
	case STEP_BRANCH: {
		struct jump_values taken = p->values;
		bare_state_apply(w->machine, e, &p->state);
		jump_values_branch(e, true, &taken);
		jump_values_branch(e, false, &p->values);
		go_to(w, p, e->target, &taken);
		return true;
	}
	case STEP_JUMP:
		go_to(w, p, e->target, &p->values);
		return false;
	case STEP_CALL:
		if (e->target == addr_of(p, next)) {
			push_own_address(w, p);
			return true;
		}
		call(w, p, e, next);
		return false;
	case STEP_CALL_SLOT:
		call(w, p, e, next);
		return false;
	case STEP_SWITCH:
		switch_to(w, p, e);
		return false;
	case STEP_RETURN:
		return_from(w, p, e);
		return false;
	case STEP_STOP:
		return false;
	}
	return false;
}

static void follow(struct bare_walk *w, const struct pending *from)
{
	struct at p = { .at = from->at,
			.segment = from->segment,
			.piece = piece_of(w, from->at),
			.state = w->states.at[from->state],
			.last = from->state,
			.values = from->values };
	struct machine_effect e;
	do {
		if (p.at >= p.piece->end || !w->budget ||
		    !w->effect(w->code + p.at, p.piece->end - p.at, addr_of(&p, p.at), &e)) {
			fail(w, &p);
			return;
		}
		w->budget--;
		if (!visit(w, &p, e.size) || !execute(w, &p, &e))
			return;
		p.at += e.size;
	} while (true);
}

static void start_function(struct bare_walk *w, uint32_t entry)
{
	struct bare_state start;
	bare_state_start(w->machine, &start);
	uint32_t segment = w->entries.at[entry].segment = add_segment(w, entry, true);
	push(w, w->entries.at[entry].at, intern(w, &start), segment, NULL);
}

/* Adds a path to follow; false if there is none. Certain paths come first: functions that cannot be
 * seen may not return. */
static bool take_next(struct bare_walk *w)
{
	struct waiting c;
	if (w->ready.n) {
		c = w->ready.at[--w->ready.n];
		resume(w, &c);
	} else if (w->next_entry < w->entries.n) {
		start_function(w, (uint32_t)w->next_entry++);
	} else if (w->later.n) {
		c = w->later.at[--w->later.n];
		resume(w, &c);
	} else {
		return false;
	}
	return true;
}

static void follow_all(struct bare_walk *w)
{
	do {
		while (w->pending.n) {
			struct pending p = w->pending.at[--w->pending.n];
			follow(w, &p);
			tell_returning(w);
		}
	} while (take_next(w));
}

/* ---- where functions start ---- */

/* Whether a symbol is a split part, which is jumped to with the frame of its function. */
static bool is_part(const char *name, size_t limit)
{
	static const char mark[] = ".cold";
	size_t length = strnlen(name, limit);
	return memmem(name, length, mark, sizeof(mark) - 1);
}

static int by_extent(const void *a, const void *b)
{
	const struct symbol_extent *x = a, *y = b;
	return x->low != y->low ? ORDER(x->low, y->low) : ORDER(x->high, y->high);
}

static void add_symbols(struct bare_walk *w)
{
	const struct code_file *f = w->file;
	Elf64_Sym sym;
	for (size_t i = 0; f->symbols && i < f->symbols_size / sizeof(sym); i++) {
		memcpy(&sym, f->symbols + i * sizeof(sym), sizeof(sym));
		unsigned type = ELF64_ST_TYPE(sym.st_info);
		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || sym.st_shndx == SHN_UNDEF ||
		    sym.st_name >= f->strings_size)
			continue;
		uint32_t at = place_of(w, sym.st_value);
		if (at == NONE)
			continue;
		if (!is_part(f->strings + sym.st_name, f->strings_size - sym.st_name))
			add_entry(w, at);
		uint64_t size = min_u64(sym.st_size, w->size - at);
		if (!f->is_stripped)
			vec_push(&w->extents, ((struct symbol_extent){ at, at + (uint32_t)size }));
	}
	if (w->extents.n)
		qsort(w->extents.at, w->extents.n, sizeof(*w->extents.at), by_extent);
}

static void add_starts(struct bare_walk *w)
{
	for (size_t i = 0; i < ARRAY_LEN(w->file->starts); i++) {
		uint32_t at = w->file->starts[i] ? place_of(w, w->file->starts[i]) : NONE;
		uint32_t entry = at != NONE ? add_entry(w, at) : NONE;
		if (entry != NONE)
			w->entries.at[entry].is_proved = true;
	}
}

/* Adds the functions called by a function that has call-frame information, or notes that those
 * known are called; `code` has room for `size` bytes. */
static void add_calls(struct bare_walk *w, const struct code_span *r, uint8_t *code, size_t size,
		      bool only_known)
{
	struct machine_effect e;
	size_t n = w->file->code(w->file->arg, r->low, code, size);
	for (size_t i = 0; i < n && w->effect(code + i, n - i, r->low + i, &e); i += e.size) {
		uint32_t at = e.kind == STEP_CALL ? place_of(w, e.target) : NONE;
		if (at == NONE || e.target == r->low + i + e.size)
			continue;
		uint32_t entry = only_known ? map64_get(&w->entry_at, at) : add_entry(w, at);
		if (entry != NONE)
			w->entries.at[entry].is_proved = true;
	}
}

static void add_called(struct bare_walk *w, const struct bare_input *in, bool only_known)
{
	uint64_t left = BARE_CALLS_MAX, longest = 0;
	for (size_t i = 0; i < in->n_functions; i++)
		if (in->functions[i].high - in->functions[i].low > longest)
			longest = in->functions[i].high - in->functions[i].low;
	longest = min_u64(longest, BARE_CALLS_MAX);
	uint8_t *code = xrealloc(NULL, longest + 1, 1);
	for (size_t i = 0; i < in->n_functions && left; i++) {
		uint64_t size = min_u64(in->functions[i].high - in->functions[i].low, left);
		add_calls(w, &in->functions[i], code, size, only_known);
		left -= size;
	}
	free(code);
}

/* ---- verdicts ---- */

/* A symbol that nothing calls, and that goes on at an unknown place without returning, may be an
 * operation of an interpreter: it was jumped to with the frame of the function that began. */
static bool is_doubtful(const struct bare_entry *e) { return e->goes_anywhere && !e->is_proved; }

static bool may_be_good(const struct bare_walk *w, const struct segment *s)
{
	const struct bare_entry *e = &w->entries.at[s->entry];
	return !s->is_bad && !e->is_bad && !is_doubtful(e);
}

/* Whether the function called in a link returns; true without a call. One that cannot be seen, such
 * as behind an entry of a procedure linkage table, is assumed to, unless it was seen not to.
 * Without symbols nothing is assumed: the code behind the call may be another function, which
 * nobody sees. */
static bool is_returning(const struct bare_walk *w, const struct code_link *l)
{
	const struct bare_entry *e;
	switch (l->call) {
	case CALL_NONE:
		return true;
	case CALL_ENTRY:
		e = &w->entries.at[l->callee];
		if (e->segment == NONE || w->segments.at[e->segment].comes_back)
			return e->segment != NONE;
		return w->extents.n && !e->is_suspect && w->segments.at[e->segment].leaves;
	case CALL_UNSEEN:
		return w->extents.n && !w->unseen.at[l->callee].is_suspect;
	}
	return false;
}

/* Where a function goes on in another one, their frames agree: what proves the one proves the
 * other. True if there was news. */
static bool spread_proofs(struct bare_walk *w)
{
	bool is_new = false;
	for (size_t i = w->joins.n; i-- > 0;) {
		const struct code_link *l = &w->joins.at[i];
		struct bare_entry *from = &w->entries.at[w->segments.at[l->from].entry],
				  *to = &w->entries.at[w->segments.at[l->to].entry];
		is_new |= from->is_proved != to->is_proved;
		from->is_proved = to->is_proved |= from->is_proved;
		is_new |= to->goes_anywhere && !from->goes_anywhere;
		from->goes_anywhere |= to->goes_anywhere;
	}
	return is_new;
}

static void find_proofs(struct bare_walk *w, const struct bare_input *in)
{
	bool any = false;
	for (size_t i = 0; i < w->segments.n; i++)
		w->entries.at[w->segments.at[i].entry].is_proved |= w->segments.at[i].returns;
	for (int pass = 0; pass < PASSES_MAX && spread_proofs(w); pass++)
		;
	for (size_t i = 0; i < w->entries.n; i++)
		any |= is_doubtful(&w->entries.at[i]);
	if (!any)
		return;
	add_called(w, in, true);
	for (int pass = 0; pass < PASSES_MAX && spread_proofs(w); pass++)
		;
}

/* Functions are suspect if the code behind a call of them is odd or bad. */
static void find_suspects(struct bare_walk *w)
{
	for (size_t i = 0; i < w->conflicts.n; i++)
		w->segments.at[w->conflicts.at[i].from].is_odd =
			w->segments.at[w->conflicts.at[i].to].is_odd = true;
	for (size_t i = 0; i < w->joins.n; i++) {
		const struct code_link *l = &w->joins.at[i];
		const struct segment *to = &w->segments.at[l->to];
		if (to->is_odd || !may_be_good(w, to))
			suspect(w, l->call, l->callee);
	}
}

/* Draws the conclusions from one link; true if there is a new one. */
static bool conclude(struct bare_walk *w, const struct code_link *l)
{
	struct segment *from = &w->segments.at[l->from], *to = &w->segments.at[l->to];
	bool is_new = false;
	if (!is_returning(w, l))
		return false;
	if (to->is_good && !from->is_good && may_be_good(w, from))
		from->is_good = is_new = true;
	if (from->is_good && !to->is_good && may_be_good(w, to))
		to->is_good = is_new = true;
	if (to->comes_back && from->is_good && !from->comes_back)
		from->comes_back = is_new = true;
	return is_new;
}

/* A segment is certain if it begins where a function does, leads to the function's end or into a
 * certain segment, or comes, in a certain one, behind a call of a function that certainly returns.
 * Links are taken from the last to the first, as most conclusions go against the order in which
 * segments were found. */
static void judge(struct bare_walk *w)
{
	bool again = true;
	for (size_t i = 0; i < w->segments.n; i++) {
		struct segment *s = &w->segments.at[i];
		s->is_good = may_be_good(w, s) && (s->is_entry || s->leaves);
		s->comes_back = s->is_good && s->returns;
	}
	for (int pass = 0; again && pass < PASSES_MAX; pass++) {
		again = false;
		for (size_t i = w->joins.n; i-- > 0;)
			again |= conclude(w, &w->joins.at[i]);
	}
}

/* Of two segments that do not agree one may be bad for another reason. Otherwise both are, as
 * nobody knows which is wrong. */
static void judge_all(struct bare_walk *w)
{
	find_suspects(w);
	judge(w);
	for (size_t i = 0; i < w->conflicts.n; i++) {
		struct segment *a = &w->segments.at[w->conflicts.at[i].from],
			       *b = &w->segments.at[w->conflicts.at[i].to];
		if (a->is_good && b->is_good)
			a->is_bad = b->is_bad = true;
	}
	judge(w);
}

/* ---- rows ---- */

static void add_row(struct bare_rows *ret, uint64_t low, uint64_t high,
		    const struct unwind_row *row)
{
	if (low >= high)
		return;
	struct bare_row *last = ret->n ? &ret->at[ret->n - 1] : NULL;
	if (last && last->high == low && unwind_row_equal(&last->row, row))
		last->high = high;
	else
		vec_push(ret, ((struct bare_row){ low, high, *row }));
}

/* The row of an instruction; false if there is none. */
static bool row_of(const struct bare_walk *w, const struct seen *s, struct unwind_row *ret)
{
	const struct segment *x = &w->segments.at[s->segment];
	if (!x->is_good || !bare_state_row(w->machine, &w->states.at[s->state], ret))
		return false;
	if (x->is_signal)
		*ret = unwind_signal(w->machine);
	return true;
}

/* The row of an instruction at `at` that is not certain, by the frame pointer: for code of
 * compilers like V8's, which returns in ways of its own. False: there is none, or other code may
 * lie there than the function's, as no symbol covers both. */
static bool likely_row_of(const struct bare_walk *w, const struct seen *s, uint32_t at,
			  struct unwind_row *ret)
{
	const struct segment *x = &w->segments.at[s->segment];
	const struct bare_state *b = &w->states.at[s->state];
	if (x->is_good || x->is_odd || b->kind[w->machine->fp] != BARE_FRAME ||
	    !b->saved[BARE_RETURN] || !b->saved[BARE_FP] ||
	    !is_within(w, w->entries.at[x->entry].at, at) || !bare_state_row(w->machine, b, ret))
		return false;
	ret->reg = UNWIND_FP;
	ret->cfa_offset = -b->n[w->machine->fp];
	ret->flags |= UNWIND_GUESSED;
	return true;
}

/* Whether a signal handler returns here, to the trampoline's first instruction: nothing called it,
 * and its row is looked up one byte before it. */
static bool is_returned_to(const struct bare_walk *w, const struct seen *s, uint32_t at)
{
	const struct segment *x = &w->segments.at[s->segment];
	return x->is_signal && w->entries.at[x->entry].at == at;
}

/* Adds the rows of one piece. Of two instructions that overlap, the first keeps its bytes. */
static void add_rows(const struct bare_walk *w, const struct piece_of_code *p,
		     struct bare_rows *ret)
{
	static const struct unwind_row none;
	size_t before = ret->n;
	uint64_t done = p->range.low;
	bool found = false;
	for (uint32_t at = p->at; at < p->end; at++) {
		const struct seen *s = w->index[at] ? &w->seen.at[w->index[at] - 1] : NULL;
		uint64_t low = p->range.low + (at - p->at);
		struct unwind_row row;
		if (!s || low < done || (!row_of(w, s, &row) && !likely_row_of(w, s, at, &row)))
			continue;
		low -= low > done && is_returned_to(w, s, at);
		add_row(ret, done, low, &none);
		done = p->range.low + (at - p->at) + s->size;
		add_row(ret, low, done, &row);
		found = true;
	}
	add_row(ret, done, p->range.high, &none);
	if (!found)
		ret->n = before;
}

static void make_rows(const struct bare_walk *w, struct bare_rows *ret)
{
	for (size_t i = 0; i < w->pieces.n; i++)
		add_rows(w, &w->pieces.at[i], ret);
}

/* ---- the walk ---- */

static void walk_done(struct bare_walk *w)
{
	vec_free(&w->pieces);
	free(w->code);
	free(w->index);
	vec_free(&w->seen);
	vec_free(&w->states);
	records_free(&w->known);
	vec_free(&w->segments);
	vec_free(&w->joins);
	vec_free(&w->conflicts);
	vec_free(&w->entries);
	map64_free(&w->entry_at);
	vec_free(&w->waiting);
	vec_free(&w->ready);
	vec_free(&w->later);
	vec_free(&w->jumpers);
	vec_free(&w->unseen);
	map64_free(&w->unseen_at);
	vec_free(&w->extents);
	vec_free(&w->pending);
	vec_free(&w->returning);
}

static void walk(struct bare_walk *w, const struct bare_input *in)
{
	w->file = in->file;
	w->machine = in->file->machine;
	w->effect = machine_effects(w->machine);
	if (!w->effect || !in->n_bare)
		return;
	read_code(w, in);
	if (!w->pieces.n)
		return;
	add_symbols(w);
	add_starts(w);
	if (in->file->is_stripped && w->size >= BARE_CALLED_MIN)
		add_called(w, in, false);
	follow_all(w);
	find_proofs(w, in);
	judge_all(w);
}

void bare_code_rows(const struct bare_input *in, struct bare_rows *ret)
{
	struct bare_walk w = { 0 };
	walk(&w, in);
	if (!w.is_too_much)
		make_rows(&w, ret);
	walk_done(&w);
}
