/* rt_stacks.c - stacks of samples: walked in the signal handler by call-frame information, and
 * counted in the file, each distinct stack once per block.
 *
 * Only memory that is certain to be mapped is read directly: a thread's stack, if its bounds are
 * certain. Everything else (stacks of coroutines and signals, code) is read through the kernel,
 * which returns an error instead of sending SIGSEGV.
 *
 * A module that may be unloaded stays loaded as long as this thread is going to return into it.
 * After a guess in the walk, that address and all later ones may not be return addresses. For those
 * the loader is not asked, and of modules that may be unloaded only a copy is read
 * (rt_frames.c). */
#include "rt.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "unwind/step_inline.h"

enum {
	MAX_DEPTH = 1024, /* same limit as kin record */
	CHUNK = 1024,     /* bytes read at once, and their alignment; divides the page size */
	CODE_BEFORE = 8,
	CODE_AFTER = MACHINE_LEAVES_MAX,
	FIRST_BLOCK = 16 << 10,
	LAST_BLOCK = 512 << 10,
	SLOT = 64, /* bytes of a block per slot of its index: half of what a record takes */
	ROW_BITS = 12,
};

/* Cached unwind rule for a pc. Threads read and write it without locks: a slot written by two
 * threads at once fails its check. */
struct rt_row {
	uint64_t word[2], check;
};

struct rt_stacks { /* of one thread */
	struct kinf_block *block;
	uint32_t *index; /* offset of a record in the payload + 1, by hash */
	uint32_t n_index, n_used;
	uint64_t block_size;
	uint64_t chunk_at; /* address that `chunk` is a copy of; 0: none. Valid for one sample */
	uint8_t chunk[CHUNK];
	uint64_t pc[MAX_DEPTH]; /* 0: a Python function, whose address is filled in at the end */
	struct rt_python_walk python;
};

struct stack_walk {
	struct rt_stacks *s;
	uint64_t stack, stack_end; /* bounds of memory that may be read directly */
	struct unwind_regs r;
	uint32_t n;
	bool doubtful;           /* an earlier frame was guessed */
	uint32_t first_doubtful; /* index of the first frame that follows from a guess; 0: none */
	enum kinf_stack_end end;
};

/* ---- memory ---- */

static bool fetch_chunk(struct rt_stacks *s, uint64_t at)
{
	if (s->chunk_at == at && at)
		return true;
	s->chunk_at = 0;
	if (!rt_peek(at, s->chunk, CHUNK))
		return false;
	s->chunk_at = at;
	return true;
}

/* Reads up to n bytes from `at` on; returns how many could be read. */
static size_t read_bytes(struct rt_stacks *s, uint64_t at, void *to, size_t n)
{
	size_t done = 0;

	while (done < n) {
		uint64_t chunk = (at + done) & ~(uint64_t)(CHUNK - 1);
		size_t skip = (size_t)(at + done - chunk), part = n - done;

		if (part > CHUNK - skip)
			part = CHUNK - skip;
		if (!fetch_chunk(s, chunk))
			break;
		copy_bytes((uint8_t *)to + done, s->chunk + skip, part);
		done += part;
	}
	return done;
}

static inline bool read_word(void *arg, uint64_t addr, uint64_t *ret)
{
	struct stack_walk *w = arg;
	uint64_t word;

	if (__builtin_expect(addr >= w->stack && addr < w->stack_end && w->stack_end - addr >= 8,
			     1)) {
		__builtin_memcpy(ret, (const void *)(uintptr_t)addr, 8);
		return true;
	}
	if (read_bytes(w->s, addr, &word, 8) != 8)
		return false;
	*ret = word;
	return true;
}

/* ---- unwind rows ---- */

static uint64_t check_of(uint64_t pc, const uint64_t word[2])
{
	uint64_t h = (pc + rt.epoch + 1) * UINT64_C(0x9e3779b97f4a7c15);

	h = (h ^ h >> 29 ^ word[0]) * UINT64_C(0xc2b2ae3d27d4eb4f);
	return (h ^ h >> 31 ^ word[1]) * UINT64_C(0x165667b19e3779f9);
}

static struct rt_row *slot_of(uint64_t pc)
{
	return &rt.sampling.rows[pc * UINT64_C(0x9e3779b97f4a7c15) >> (64 - ROW_BITS)];
}

static inline bool cached(uint64_t pc, struct unwind_row *ret)
{
	const struct rt_row *slot = slot_of(pc);
	uint64_t word[2];

	word[0] = __atomic_load_n(&slot->word[0], __ATOMIC_RELAXED);
	word[1] = __atomic_load_n(&slot->word[1], __ATOMIC_RELAXED);
	if (__atomic_load_n(&slot->check, __ATOMIC_RELAXED) != check_of(pc, word))
		return false;
	__builtin_memcpy(ret, word, sizeof(word));
	return true;
}

static void keep(uint64_t pc, const struct unwind_row *row)
{
	struct rt_row *slot = slot_of(pc);
	uint64_t word[2];

	__builtin_memcpy(word, row, sizeof(word));
	__atomic_store_n(&slot->word[0], word[0], __ATOMIC_RELAXED);
	__atomic_store_n(&slot->word[1], word[1], __ATOMIC_RELAXED);
	__atomic_store_n(&slot->check, check_of(pc, word), __ATOMIC_RELAXED);
}

/* Whether the code before addr can be read, and has no call there. */
static bool follows_no_call(struct stack_walk *w, uint64_t addr)
{
	uint8_t call[MACHINE_CALL_MAX];

	return read_bytes(w->s, addr - sizeof(call), call, sizeof(call)) == sizeof(call) &&
	       !RT_MACHINE.call_ends(call + sizeof(call), sizeof(call));
}

static bool may_return(void *arg, uint64_t addr)
{
	return rt_module_at(addr) ? !follows_no_call(arg, addr) : !!rt_made_known(addr);
}

/* Reads the code from r.pc on, and what is before it if that is an instruction's address. Returns
 * how many bytes could be read from it on. */
static size_t read_code(struct stack_walk *w, uint8_t code[CODE_BEFORE + CODE_AFTER],
			size_t *before)
{
	uint64_t pc = w->r.pc;

	*before = 0;
	if (w->r.exact && read_bytes(w->s, pc - CODE_BEFORE, code, CODE_BEFORE) == CODE_BEFORE)
		*before = CODE_BEFORE;
	return read_bytes(w->s, pc, code + CODE_BEFORE, CODE_AFTER);
}

/* Whether the code shows that a table's row is wrong; *row becomes the right one. */
static bool has_left(struct stack_walk *w, struct unwind_row *row)
{
	uint8_t code[CODE_BEFORE + CODE_AFTER];
	size_t before, after;

	if (!w->r.exact || !RT_MACHINE.leaves)
		return false;
	after = read_code(w, code, &before);
	return unwind_has_left(&w->r, row, code + CODE_BEFORE, before, after, read_word, may_return,
			       w, row);
}

/* Guesses the rule for a frame without call-frame information: JIT code, hand-written code, or no
 * code. JIT code is taken to keep frame pointers. Compilers leave them out unless told otherwise,
 * so in code of a `file` the frame pointer must be certain. */
static bool guess(struct stack_walk *w, bool file, struct unwind_row *ret)
{
	uint8_t code[CODE_BEFORE + CODE_AFTER];
	const struct unwind_regs *r = &w->r;
	size_t before, after = read_code(w, code, &before);

	if (after && !r->exact && unwind_is_sigreturn(&RT_MACHINE, code + CODE_BEFORE, after, ret))
		return true;
	if (after)
		*ret = unwind_guess(&RT_MACHINE, r->exact, code + CODE_BEFORE, before, after);
	else if (!w->n) /* a call to an address without code */
		*ret = unwind_called(&RT_MACHINE);
	else
		return false;
	if (file && ret->flags & UNWIND_GUESSED && ret->reg == UNWIND_FP &&
	    !unwind_owns_frame(&w->r, read_word, may_return, w))
		ret->cfa = UNWIND_CFA_NONE;
	return true;
}

/* Whether r.pc is a return address, as far as the code around it tells. The row of one that was
 * pushed is that of the address itself, in the module at `at`; where a stack was made up to begin
 * it is the outermost. */
static bool is_return(struct stack_walk *w, struct rt_module *m, uint64_t at,
		      struct unwind_row *row)
{
	uint8_t code[2 * MACHINE_ORIGIN_MAX];
	uint64_t from = w->r.pc - MACHINE_ORIGIN_MAX;
	size_t n;

	if (w->r.exact || row->ra == UNWIND_UNKNOWN || row->flags & UNWIND_SIGNAL)
		return true;
	n = read_bytes(w->s, from, code, sizeof(code));
	if (n < MACHINE_ORIGIN_MAX)
		return true;
	switch (unwind_origin(&RT_MACHINE, code + MACHINE_ORIGIN_MAX, MACHINE_ORIGIN_MAX,
			      n - MACHINE_ORIGIN_MAX)) {
	case UNWIND_CALLED:
		return true;
	case UNWIND_THREAD:
		*row = unwind_outermost;
		return true;
	case UNWIND_PUSHED:
		return m && !w->doubtful && rt_frames_row(m, w->doubtful, at, row);
	case UNWIND_MADE_UP:
		if (w->doubtful)
			return false;
		*row = unwind_outermost;
		return true;
	case UNWIND_NOT_SO:
		break;
	}
	return false;
}

static bool find_row(struct stack_walk *w, struct unwind_row *ret)
{
	uint64_t pc = unwind_lookup_pc(&w->r), at = pc;
	struct rt_module *m;
	bool file, made = false;

	if (cached(pc, ret))
		return true;
	m = w->doubtful ? rt_module_at(pc) : rt_module_learn(pc);
	file = m && !m->keeps_fp;
	if (!m) {
		const struct rt_module *copy = rt_made_at(pc);

		made = copy;
		m = copy ? copy->origin : NULL;
		at -= m ? copy->bias - m->bias : 0;
	}
	if (!m || !rt_frames_row(m, w->doubtful, at, ret))
		return guess(w, file, ret) && (made || is_return(w, NULL, 0, ret));
	if (!made && !is_return(w, m, at + 1, ret))
		return false;
	if (has_left(w, ret)) /* which depends on the stack, too */
		return true;
	keep(pc, ret);
	return true;
}

/* ---- walking ---- */

/* Frames of the runtime between the program and a function it called are left out. */
static bool is_own(uint64_t pc) { return pc >= rt.sampling.own && pc < rt.sampling.own_end; }

/* An address that a guess leads to is a return address only if it lies in code. */
static bool is_code(uint64_t addr) { return rt_module_at(addr) || rt_made_at(addr); }

/* Adds the Python functions that a loop runs: they are callers of the loop's frame. */
static void add_functions(struct stack_walk *w)
{
	uint32_t n = rt_python_functions(&w->s->python, read_word, w, w->n, MAX_DEPTH - w->n);

	while (n--)
		w->s->pc[w->n++] = 0;
}

static void add_frame(struct stack_walk *w)
{
	bool interrupted = w->r.exact && w->n;

	w->s->pc[w->n++] = w->r.pc | (interrupted ? KINF_PC_INTERRUPTED : 0);
}

static void walk_up(struct stack_walk *w)
{
	bool guessed = false;

	w->end = KINF_STACK_CUT;
	while (w->n < MAX_DEPTH) {
		enum unwind_status status;
		struct unwind_row row;
		uint64_t sp = w->r.sp;

		if ((guessed && w->n && !is_code(unwind_lookup_pc(&w->r))) || !find_row(w, &row))
			return;
		if (guessed && !w->first_doubtful)
			w->first_doubtful = w->n;
		if (!w->n || !is_own(w->r.pc))
			add_frame(w);
		guessed = row.flags & UNWIND_GUESSED;
		w->doubtful |= guessed;
		status = unwind_step_inline(&row, &w->r, read_word, w);
		if (status == UNWIND_END)
			w->end = KINF_STACK_COMPLETE;
		if (status != UNWIND_OK)
			return;
		if (__builtin_expect(w->s->python.loop - sp < w->r.sp - sp, 0))
			add_functions(w);
	}
}

static void walk(struct stack_walk *w, const struct rt_clock *c, const ucontext_t *context)
{
	uint64_t all[MACHINE_REGISTERS] = { 0 };

	w->r.machine = &RT_MACHINE;
	w->r.exact = true;
	w->r.all = all;
	rt_registers(&w->r, context, all);
	w->s->chunk_at = 0;
	if (w->r.sp >= c->stack && w->r.sp < c->stack_end) {
		w->stack = w->r.sp;
		w->stack_end = c->stack_end;
	}
	if (rt.sampling.stacks) {
		rt_python_begin(&w->s->python, w->r.sp);
		walk_up(w);
		w->n = rt_python_end(&w->s->python, w->end == KINF_STACK_COMPLETE, w->s->pc, w->n,
				     &w->first_doubtful);
	} else {
		w->s->pc[w->n++] = w->r.pc;
		w->end = KINF_STACK_LEAF_ONLY;
	}
}

/* ---- counting ---- */

static uint32_t hash_of(const uint64_t *pc, uint32_t n, uint32_t epoch)
{
	uint64_t h = n + ((uint64_t)epoch << 32);

	for (uint32_t i = 0; i < n; i++) {
		h = (h ^ pc[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 32;
	}
	return (uint32_t)h;
}

static bool is_same(const struct kinf_stack *r, const struct stack_walk *w, uint32_t hash,
		    uint32_t epoch)
{
	if (r->hash != hash || r->depth != w->n || r->epoch != epoch || r->end != w->end ||
	    r->doubtful != w->first_doubtful)
		return false;
	for (uint32_t i = 0; i < w->n; i++)
		if (r->pc[i] != w->s->pc[i])
			return false;
	return true;
}

static uint32_t *find_place(const struct stack_walk *w, uint32_t hash, uint32_t epoch)
{
	struct rt_stacks *s = w->s;

	for (uint32_t i = hash;; i++) {
		uint32_t *at = &s->index[i & (s->n_index - 1)];

		if (!*at || is_same((const struct kinf_stack *)(s->block->payload + *at - 1), w,
				    hash, epoch))
			return at;
	}
}

/* The next block is larger, and its index starts empty. */
static bool new_block(struct rt_thread *t, struct rt_stacks *s)
{
	uint64_t size = s->block_size ? s->block_size * 2 : FIRST_BLOCK, mask;
	struct kinf_block *b = NULL;
	uint32_t *index = s->index;

	if (size > LAST_BLOCK)
		size = LAST_BLOCK;
	if (rt.full || !rt_lock(&mask))
		return false;
	if (size != s->block_size || !index)
		index = rt_memory(size / SLOT * sizeof(*index));
	else
		clear_bytes(index, s->n_index * sizeof(*index));
	if (index)
		b = rt_block(KINF_STACKS, size - sizeof(*b), t->index);
	if (b) {
		b->used = 0;
		s->block = b;
		s->block_size = size;
		s->index = index;
		s->n_index = (uint32_t)(size / SLOT);
		s->n_used = 0;
	}
	rt_unlock(mask);
	return b;
}

static bool has_room(const struct rt_stacks *s, uint64_t size)
{
	return s->block && s->block->size - sizeof(*s->block) - s->block->used >= size &&
	       s->n_used < s->n_index / 4 * 3;
}

static struct kinf_stack *add_record(struct stack_walk *w, uint32_t *place, uint32_t hash,
				     uint32_t epoch)
{
	struct rt_stacks *s = w->s;
	uint64_t at = s->block->used;
	struct kinf_stack *r = (struct kinf_stack *)(s->block->payload + at);

	r->epoch = epoch;
	r->end = (uint16_t)w->end;
	r->doubtful = (uint16_t)w->first_doubtful;
	r->hash = hash;
	copy_bytes(r->pc, s->pc, w->n * sizeof(r->pc[0]));
	__atomic_store_n(&r->depth, w->n, __ATOMIC_RELEASE);
	__atomic_store_n(&s->block->used, at + sizeof(*r) + w->n * sizeof(r->pc[0]),
			 __ATOMIC_RELEASE);
	*place = (uint32_t)at + 1;
	s->n_used++;
	return r;
}

static struct kinf_stack *record_of(struct rt_thread *t, struct stack_walk *w)
{
	uint32_t epoch = rt.epoch, hash = hash_of(w->s->pc, w->n, epoch), *place = NULL;

	if (w->s->block) {
		place = find_place(w, hash, epoch);
		if (*place)
			return (struct kinf_stack *)(w->s->block->payload + *place - 1);
	}
	if (!has_room(w->s, sizeof(struct kinf_stack) + w->n * sizeof(uint64_t))) {
		if (!new_block(t, w->s))
			return NULL;
		place = find_place(w, hash, epoch);
	}
	return add_record(w, place, hash, epoch);
}

/* ---- a sample ---- */

static bool prepare(struct rt_thread *t)
{
	enum { ROWS = sizeof(struct rt_row) << ROW_BITS };
	uint64_t mask;
	long m;

	if (t->stacks && rt.sampling.rows)
		return true;
	if (!rt_lock(&mask))
		return false;
	if (!t->stacks)
		t->stacks = rt_memory(sizeof(*t->stacks));
	if (!rt.sampling.rows) {
		m = SYS6(mmap, NULL, ROWS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
		if (m > 0 || m < -4096)
			rt.sampling.rows = (struct rt_row *)m;
	}
	rt_unlock(mask);
	return t->stacks && rt.sampling.rows;
}

static void lose(struct rt_thread *t, enum kinf_loss what)
{
	rt_lose(what, 1);
	if (t->record)
		t->record->losses[what]++;
}

void rt_stacks_add(struct rt_thread *t, const void *context, uint64_t weight_ns)
{
	struct stack_walk w = { 0 };
	struct kinf_stack *r;

	if (!prepare(t)) {
		lose(t, KINF_LOST_SAMPLES);
		return;
	}
	w.s = t->stacks;
	walk(&w, &t->clock, context);
	if (!rt_module_learn(w.s->pc[0]))
		rt_made_at(w.s->pc[0]);
	if (w.end == KINF_STACK_CUT && w.n == 1)
		lose(t, KINF_LOST_STACKS);
	r = record_of(t, &w);
	if (!r) {
		lose(t, KINF_LOST_SAMPLES);
		return;
	}
	__atomic_store_n(&r->weight_ns, r->weight_ns + weight_ns, __ATOMIC_RELAXED);
	count_one(&r->count);
}
