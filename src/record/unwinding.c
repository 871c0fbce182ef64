/* unwinding.c - gives walks the code and memory that they need, and turns walks into frames of
 * samples. */
#include "record/unwinding.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

#include "base/clock.h"
#include "record/beyond.h"
#include "record/roots.h"
#include "record/two_ways.h"
#include "unwind/perf_regs.h"
#include "unwind/unwinder.h"

enum {
	CACHE_BITS = 10,
	PAGE = 4096, /* smallest size of a page */
	TOUCHED_MAX = (64 << 10) / PAGE,
	NO_PAGE = 1,
	PAGES_BEYOND = 16, /* read for one sample at most */
	LAST_STACKS = 32,
	CHECK_EVERY = 8, /* stacks */
};

struct code_cache { /* modules found for pcs */
	struct {
		uint64_t pc;
		struct module *module;
		uint64_t bias;
	} at[1 << CACHE_BITS];
};

/* The last stack of a thread. */
struct last_stack {
	pid_t tid;
	struct unwind_trail trail;
	uint64_t serial;            /* 0: there is none */
	VEC(struct stack_frame) at; /* user frames, leaf first */
};

struct unwinding {
	enum unwinding_mode mode;
	struct unwinding_copies copies;
	struct unwinding_stats stats;
	struct jit *jit;
	bool check;
	struct perf_places places; /* machine NULL: this machine's stacks cannot be walked */
	uint64_t pcs[UNWINDING_DEPTH];
	pid_t process, thread; /* of the current sample */
	uint64_t time_ns;
	uint64_t copy_addr;
	/* a page of the process's memory beyond the copy, while a walk reads on there */
	uint8_t page[PAGE];
	uint64_t page_addr;
	size_t pages_left;
	uint64_t pcs_beyond[UNWINDING_DEPTH];
	pid_t touched_tid;
	uint64_t touched_ns;
	uint64_t serial;                     /* number of the last stack that got one */
	struct last_stack last[LAST_STACKS]; /* at tid % LAST_STACKS */
};

/* The argument of a space's callbacks: the unwinding changes with the sample. */
struct walker {
	struct unwinder *unwinder;
	struct space *space;
	struct unwinding *u;
	struct beyond *beyond; /* NULL: nothing was read beyond copies yet */
	struct roots *roots;   /* for walks by frame pointers */
};

struct unwinding *unwinding_new(enum unwinding_mode mode, struct unwinding_copies copies,
				struct jit *jit, bool check)
{
	struct unwinding *u = xalloc(sizeof(*u));
	const struct machine *m = machine_native();
	u->mode = mode;
	u->copies = copies;
	u->jit = jit;
	u->check = check;
	if (m)
		u->places = unwind_perf_places(m, m->perf_mask);
	return u;
}

void unwinding_free(struct unwinding *u)
{
	for (size_t i = 0; u && i < LAST_STACKS; i++) {
		unwind_trail_free(&u->last[i].trail);
		vec_free(&u->last[i].at);
	}
	free(u);
}

const struct unwinding_stats *unwinding_stats(const struct unwinding *u) { return &u->stats; }

/* ---- memory of the process ---- */

/* If the first thread has ended, the process's memory can only be read through another thread. */
static ssize_t read_memory(pid_t pid, pid_t tid, const struct iovec *local,
			   const struct iovec *remote, size_t n)
{
	ssize_t done = process_vm_readv(pid, local, 1, remote, n, 0);
	return done < 0 && errno == ESRCH ? process_vm_readv(tid, local, 1, remote, n, 0) : done;
}

static bool read_process(const struct unwinding *u, uint64_t addr, void *ret, size_t size,
			 size_t *n)
{
	struct iovec local = { ret, size }, remote = { (void *)(uintptr_t)addr, size };
	ssize_t done = read_memory(u->process, u->thread, &local, &remote, 1);
	*n = done > 0 ? (size_t)done : 0;
	return done > 0;
}

/* The kernel's copy ends at the first page of the stack that the program never touched, as in the
 * middle of a large buffer. Reading such a page makes the kernel map it, filled with zeros, which
 * is what the program would read. Later copies then go past it. */
static void touch_pages(struct unwinding *u, const struct perf_sample *sample, uint64_t sp)
{
	struct iovec remote[TOUCHED_MAX];
	uint8_t bytes[TOUCHED_MAX];
	uint64_t at = (sp + sample->stack_size) & ~(uint64_t)(PAGE - 1), end = sp + u->copies.large;
	size_t n = 0;
	if (sample->time <= u->touched_ns && (pid_t)sample->tid == u->touched_tid)
		return; /* the sample is older than the last reading of these pages */
	for (; at < end && n < TOUCHED_MAX; at += PAGE)
		remote[n++] = (struct iovec){ (void *)(uintptr_t)at, 1 };
	struct iovec local = { bytes, n };
	if (n)
		read_memory((pid_t)sample->pid, (pid_t)sample->tid, &local, remote, n);
	u->touched_tid = (pid_t)sample->tid;
	u->touched_ns = clock_now_ns();
}

static bool read_beyond(void *arg, uint64_t addr, uint64_t *ret)
{
	struct unwinding *u = ((struct walker *)arg)->u;
	uint64_t page = addr & ~(uint64_t)(PAGE - 1);
	size_t n;
	if (addr < u->copy_addr || addr - page > PAGE - sizeof(*ret))
		return false;
	if (page != u->page_addr) {
		u->page_addr = NO_PAGE;
		if (!u->pages_left || !u->pages_left-- ||
		    !read_process(u, page, u->page, PAGE, &n) || n < PAGE)
			return false;
		u->page_addr = page;
	}
	memcpy(ret, u->page + (addr - page), sizeof(*ret));
	return true;
}

/* ---- code ---- */

static bool find_code(void *arg, uint64_t pc, struct unwind_code *ret)
{
	const struct walker *w = arg;
	const struct mapping *m = space_find(w->space, pc);
	if (!m)
		return false;
	ret->bias = m->bias;
	ret->table = module_table(m->module, pc - m->bias);
	ret->is_file = m->module->kind != KINF_JIT;
	return true;
}

static bool made_row(void *arg, uint64_t pc, struct unwind_row *ret)
{
	const struct unwinding *u = ((const struct walker *)arg)->u;
	return jit_row(u->jit, u->process, pc, u->time_ns, ret);
}

/* By now the process may have ended, or may have mapped another file there: the code that ran is
 * that of the file. */
static size_t read_code(void *arg, uint64_t addr, uint8_t *ret, size_t size)
{
	const struct walker *w = arg;
	const struct mapping *m = space_find(w->space, addr);
	size_t n = m ? module_code(m->module, addr - m->bias, ret, size) : 0;
	if (!n)
		read_process(w->u, addr, ret, size, &n);
	return n;
}

static struct walker *walker_of(struct unwinding *u, struct space *s)
{
	struct walker *w = s->walker;
	if (!w) {
		w = xalloc(sizeof(*w));
		struct unwinder_opts opts = { .find = find_code,
					      .row = made_row,
					      .code = read_code,
					      .read = read_beyond,
					      .arg = w,
					      .no_guess = u->mode == UNWINDING_DWARF };
		w->unwinder = unwinder_new(&opts);
		w->space = s;
		w->roots = u->mode == UNWINDING_FP ? roots_new() : NULL;
		s->walker = w;
		s->cache = xalloc(sizeof(*s->cache));
	} else if (s->replaced) {
		unwinder_flush(w->unwinder);
		memset(s->cache, 0, sizeof(*s->cache));
	}
	s->replaced = false;
	w->u = u;
	return w;
}

void unwinding_release(struct space *s)
{
	if (s->walker) {
		unwinder_free(s->walker->unwinder);
		beyond_free(s->walker->beyond);
		roots_free(s->walker->roots);
	}
	free(s->walker);
	free(s->cache);
	s->walker = NULL;
	s->cache = NULL;
}

/* ---- frames ---- */

static void add_user(struct space *s, struct unwound *ret, uint64_t pc, bool exact)
{
	struct stack_frame f = { .pc = pc, .addr = pc, .flags = exact ? 0 : KINF_FRAME_RETURN };
	uint64_t at = pc - !exact;
	size_t slot = (size_t)(at * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CACHE_BITS));
	struct code_cache *c = s->cache;
	if (c && c->at[slot].pc == at && c->at[slot].module) {
		f.module = c->at[slot].module;
		f.addr = pc - c->at[slot].bias;
	} else {
		const struct mapping *m = space_find(s, at);
		if (m) {
			f.module = m->module;
			f.addr = pc - m->bias;
		}
		if (m && c) {
			c->at[slot].pc = at;
			c->at[slot].module = m->module;
			c->at[slot].bias = m->bias;
		}
	}
	ret->frames[ret->n++] = f;
}

struct stack_frame unwinding_place(const struct space *s, uint64_t addr)
{
	struct stack_frame f = { .pc = addr, .addr = addr };
	const struct mapping *m = space_find(s, addr);
	if (addr >> 63) /* addresses of the kernel, on all machines */
		f.flags = KINF_FRAME_KERNEL;
	else if (m)
		f = (struct stack_frame){ addr, addr - m->bias, m->module, 0 };
	return f;
}

/* A word of the kernel's chain: an address, or a mark (PERF_CONTEXT_). */
static uint64_t chain_word(const struct perf_sample *sample, size_t i)
{
	return perf_sample_word(sample->chain, i);
}

/* Index of the mark before the chain's user part; n_chain: there is none. */
static size_t find_user(const struct perf_sample *sample)
{
	size_t i = 0;
	while (i < sample->n_chain && chain_word(sample, i) != (uint64_t)PERF_CONTEXT_USER)
		i++;
	return i;
}

static void add_kernel(const struct perf_sample *sample, struct unwound *ret)
{
	bool kernel = false, first = true;
	for (size_t i = 0; i < sample->n_chain && ret->n < 200; i++) {
		uint64_t pc = chain_word(sample, i);
		if (pc >= (uint64_t)PERF_CONTEXT_MAX) {
			kernel = pc == (uint64_t)PERF_CONTEXT_KERNEL;
			first = true;
			continue;
		}
		if (!kernel)
			continue;
		ret->frames[ret->n++] = (struct stack_frame){
			.pc = pc,
			.addr = pc,
			.flags = KINF_FRAME_KERNEL | (first ? 0 : KINF_FRAME_RETURN),
		};
		first = false;
	}
	if (!ret->n && sample->mode == PERF_RECORD_MISC_KERNEL)
		ret->frames[ret->n++] = (struct stack_frame){ .pc = sample->ip,
							      .addr = sample->ip,
							      .flags = KINF_FRAME_KERNEL };
	ret->n_kernel = ret->n;
}

static void add_mark(struct unwound *ret, uint32_t flags)
{
	ret->frames[ret->n++] = (struct stack_frame){ .flags = KINF_FRAME_MARK | flags };
}

const char *stack_mark_name(uint32_t flags)
{
	return flags & KINF_FRAME_GUESSED ? "[guessed]" : "[cut]";
}

static struct module *last_module(const struct unwound *w)
{
	for (size_t i = w->n; i > w->n_kernel; i--)
		if (w->frames[i - 1].module)
			return w->frames[i - 1].module;
	return NULL;
}

static void fail(const struct unwound *w)
{
	struct module *m = last_module(w);
	if (m)
		m->failures++;
}

/* ---- walking ---- */

/* Starts a walk at the sample's registers. False: the sample has no 64-bit registers of user mode,
 * or this machine's stacks cannot be walked. */
static bool begin_walk(struct unwinding *u, const struct perf_sample *sample, struct unwind_walk *w,
		       uint64_t all[MACHINE_REGISTERS])
{
	if (sample->user.abi != PERF_SAMPLE_REGS_ABI_64 || !u->places.machine)
		return false;
	unwind_regs_of_perf(&u->places, sample->user.values, all, &w->regs);
	w->copy = sample->stack;
	w->copy_addr = w->regs.sp;
	w->copy_size = sample->stack ? sample->stack_size : 0;
	u->process = (pid_t)sample->pid;
	u->thread = (pid_t)sample->tid;
	u->time_ns = sample->time;
	u->pages_left = 0;
	u->page_addr = NO_PAGE;
	u->copy_addr = w->copy_addr;
	return true;
}

/* Finds callers beyond the end of the copy, where the walk `w` stopped. Returns how many may be
 * used as a guess; they are in pcs_beyond from w->n on. */
static size_t guess_callers(struct unwinding *u, struct walker *walker, const struct unwind_walk *w)
{
	struct unwind_walk on = { .regs = w->regs,
				  .copy = w->copy,
				  .copy_addr = w->copy_addr,
				  .copy_size = w->copy_size };
	if (u->mode == UNWINDING_DWARF)
		return 0;
	u->pages_left = PAGES_BEYOND;
	unwinder_walk(walker->unwinder, &on, u->pcs_beyond, UNWINDING_DEPTH);
	u->pages_left = 0;
	if (on.end != UNWIND_COMPLETE || on.n <= w->n || on.guessed != w->guessed)
		return 0;
	if (!walker->beyond)
		walker->beyond = beyond_new();
	size_t n = on.n - w->n;
	return beyond_seen(walker->beyond, w->missing, u->pcs[w->n - 1], u->pcs_beyond + w->n, n,
			   clock_now_ns())
		       ? n
		       : 0;
}

static void add_guess(struct space *s, struct unwound *ret, const uint64_t *pcs, size_t n)
{
	add_mark(ret, KINF_FRAME_GUESSED);
	for (size_t i = 0; i < n; i++) {
		add_user(s, ret, pcs[i], false);
		ret->frames[ret->n - 1].flags |= KINF_FRAME_GUESSED;
	}
	ret->end = STACK_GUESSED;
}

/* Called if the walk ended where the copy ends: adds guessed callers if possible. */
static void go_beyond(struct unwinding *u, struct walker *walker, const struct perf_sample *sample,
		      const struct unwind_walk *w, struct unwound *ret)
{
	if (!sample->stack_full)
		touch_pages(u, sample, w->copy_addr);
	size_t n = guess_callers(u, walker, w);
	if (n)
		add_guess(walker->space, ret, u->pcs_beyond + w->n, n);
}

static void end_cut(struct unwinding *u, bool beyond, struct unwound *ret)
{
	ret->end = beyond ? STACK_BEYOND : STACK_CUT;
	u->stats.cut++;
	u->stats.beyond += beyond;
	fail(ret);
	add_mark(ret, 0);
}

/* Adds the frames of the walk. The outermost ones are copied from the thread's last stack where
 * they are the same. */
static void add_walked(const struct unwinding *u, struct space *s, const struct unwind_walk *w,
		       const struct last_stack *last, struct unwound *ret)
{
	size_t n_same = last->serial && w->n_same <= last->at.n ? w->n_same : 0, n = w->n - n_same;
	for (size_t i = 0; i < n; i++)
		add_user(s, ret, u->pcs[i], !i || unwind_was_interrupted(w, i));
	for (size_t i = 0; i < w->n_interrupted; i++)
		ret->frames[ret->n_kernel + w->interrupted[i] - 1].flags |= KINF_FRAME_SIGNAL;
	if (n_same)
		memcpy(ret->frames + ret->n, last->at.at + last->at.n - n_same,
		       n_same * sizeof(*last->at.at));
	ret->n += n_same;
	for (size_t i = w->certain; i < w->n; i++)
		ret->frames[ret->n_kernel + i].flags |= KINF_FRAME_GUESSED;
	ret->same_as = n_same ? last->serial : 0;
	ret->n_same = n_same;
}

static bool has_jit(const struct unwound *w)
{
	for (size_t i = w->n_kernel; i < w->n - w->n_same; i++)
		if (w->frames[i].module && w->frames[i].module->kind == KINF_JIT)
			return true;
	return false;
}

/* Keeps a stack for comparison with the thread's next one. It must be complete, without guesses and
 * without JIT code, whose names and mappings may differ at the next sample. */
static void keep_last(struct unwinding *u, const struct unwind_walk *w, struct last_stack *last,
		      struct unwound *ret)
{
	last->serial = 0;
	last->at.n = 0;
	if (ret->end != STACK_COMPLETE || w->guessed || has_jit(ret))
		return;
	size_t n = ret->n - ret->n_kernel;
	vec_reserve(&last->at, n);
	memcpy(last->at.at, ret->frames + ret->n_kernel, n * sizeof(*last->at.at));
	last->at.n = n;
	ret->serial = last->serial = ++u->serial;
}

static struct last_stack *last_stack_of(struct unwinding *u, pid_t tid)
{
	struct last_stack *last = &u->last[(unsigned)tid % LAST_STACKS];
	if (last->tid != tid) {
		last->tid = tid;
		last->serial = 0;
		last->trail.code = 0;
	}
	return last;
}

static void check_walk(struct unwinding *u, struct walker *walker, const struct unwind_walk *w)
{
	size_t n = unwinder_by_pointers(walker->unwinder, w, u->pcs_beyond, UNWINDING_DEPTH);
	enum two_ways r = two_ways(u->pcs, w->n, w->end == UNWIND_COMPLETE, u->pcs_beyond, n);
	u->stats.checked += r != TWO_WAYS_NONE;
	u->stats.contradicted += r == TWO_WAYS_DIFFER;
}

static void by_cfi(struct unwinding *u, struct space *s, const struct perf_sample *sample,
		   struct unwound *ret)
{
	uint64_t all[MACHINE_REGISTERS];
	struct last_stack *last = last_stack_of(u, (pid_t)sample->tid);
	struct unwind_walk w = { .trail = &last->trail };
	if (!begin_walk(u, sample, &w, all))
		return;
	struct walker *walker = walker_of(u, s);
	unwinder_walk(walker->unwinder, &w, u->pcs, UNWINDING_DEPTH);
	add_walked(u, s, &w, last, ret);

	bool beyond = w.end == UNWIND_TRUNCATED && w.missing >= w.copy_addr;
	if (u->check && u->stats.stacks % CHECK_EVERY == 0)
		check_walk(u, walker, &w);
	u->stats.stacks++;
	u->stats.guessed += w.guessed;
	u->stats.ends[w.end]++;
	u->stats.deep += beyond || w.top - w.copy_addr >= u->copies.small;
	if (w.end == UNWIND_COMPLETE)
		ret->end = STACK_COMPLETE;
	else if (beyond)
		go_beyond(u, walker, sample, &w, ret);
	u->stats.frames += ret->n - ret->n_kernel - (ret->end == STACK_GUESSED);
	u->stats.complete += ret->end == STACK_COMPLETE;
	u->stats.guesses += ret->end == STACK_GUESSED;
	keep_last(u, &w, last, ret);
	if (ret->end == STACK_END_UNKNOWN)
		end_cut(u, beyond, ret);
}

/* The address where the thread entered the kernel; 0: not known. */
static uint64_t entry_of(struct unwinding *u, const struct perf_sample *sample)
{
	uint64_t all[MACHINE_REGISTERS] = { 0 };
	struct unwind_walk w = { 0 };
	if (begin_walk(u, sample, &w, all))
		return w.regs.pc;
	size_t i = find_user(sample) + 1;
	return i < sample->n_chain ? chain_word(sample, i) : 0;
}

/* Adds the call of exec while a new program starts. The memory of the program that called exec is
 * gone, and so are the call's own callers. The call itself is known if that program was
 * recorded. */
static bool calls_exec(struct unwinding *u, struct space *s, const struct perf_sample *sample,
		       struct unwound *ret)
{
	if (!ret->n_kernel || !s->exec || s->runs)
		return false;
	uint64_t pc = entry_of(u, sample);
	const struct mapping *m;
	if (!pc || !space_is_started_at(s, pc, &m))
		return false;
	if (m)
		ret->frames[ret->n++] =
			(struct stack_frame){ .pc = pc, .addr = pc - m->bias, .module = m->module };
	u->stats.stacks++;
	u->stats.frames += m != NULL;
	end_cut(u, false, ret);
	return true;
}

/* The leaf's caller by call-frame information; 0: not known. */
static uint64_t caller_of_leaf(struct unwinding *u, struct space *s,
			       const struct perf_sample *sample)
{
	uint64_t all[MACHINE_REGISTERS] = { 0 };
	struct unwind_walk w = { 0 };
	if (!begin_walk(u, sample, &w, all))
		return 0;
	unwinder_walk(walker_of(u, s)->unwinder, &w, u->pcs, 2);
	return w.n == 2 && !w.guessed ? u->pcs[1] : 0;
}

/* Learns the outermost calls from a second walk, by call-frame information up to the thread's
 * start. The thread has moved on since the sample, but hardly ever has it returned from its
 * outermost calls. */
static void learn_roots(struct unwinding *u, struct walker *walker,
			const struct perf_sample *sample)
{
	uint64_t all[MACHINE_REGISTERS] = { 0 };
	struct unwind_walk w = { 0 };
	if (!roots_want(walker->roots, sample->tid) || !begin_walk(u, sample, &w, all))
		return;
	u->pages_left = PAGES_BEYOND;
	unwinder_walk(walker->unwinder, &w, u->pcs_beyond, UNWINDING_DEPTH);
	if (w.end == UNWIND_COMPLETE && !w.guessed)
		roots_learn(walker->roots, u->pcs_beyond, w.n);
}

/* Copies the kernel's walk by frame pointers to pcs, and inserts the leaf's caller. Stops before
 * the first address outside of all code: the register there held something else than a frame
 * pointer. */
static size_t chain_of(struct unwinding *u, struct space *s, const struct perf_sample *sample)
{
	size_t i = find_user(sample), n = 0;
	if (i >= sample->n_chain)
		return 0;
	uint64_t caller = caller_of_leaf(u, s, sample);
	for (i++; i < sample->n_chain && n + 2 < UNWINDING_DEPTH; i++) {
		uint64_t pc = chain_word(sample, i);
		bool is_code = !n || space_find(s, pc - 1);
		if (pc >= (uint64_t)PERF_CONTEXT_MAX || !is_code)
			break;
		if (n == 1 && caller && caller != pc)
			u->pcs[n++] = caller;
		u->pcs[n++] = pc;
	}
	if (n == 1 && caller)
		u->pcs[n++] = caller;
	return n;
}

/* The number of frames up to the thread's outermost calls; 0: the walk did not reach them. */
static size_t up_to_root(const struct roots *roots, const uint64_t *pcs, size_t n)
{
	while (n > 1 && !roots_has(roots, pcs[n - 1]))
		n--;
	return n > 1 ? n : 0;
}

static void by_frame_pointers(struct unwinding *u, struct space *s,
			      const struct perf_sample *sample, struct unwound *ret)
{
	size_t n = chain_of(u, s, sample);
	if (!n)
		return;
	struct walker *walker = walker_of(u, s);
	size_t whole = up_to_root(walker->roots, u->pcs, n);
	if (!whole) {
		learn_roots(u, walker, sample);
		whole = up_to_root(walker->roots, u->pcs, n);
	}
	n = whole ? whole : n;
	for (size_t i = 0; i < n; i++)
		add_user(s, ret, u->pcs[i], !i);
	u->stats.stacks++;
	u->stats.frames += n;
	u->stats.guessed += n > 2 ? n - 2 : 0;
	u->stats.complete += whole != 0;
	ret->end = STACK_COMPLETE;
	if (!whole)
		end_cut(u, false, ret);
}

void unwinding_sample(struct unwinding *u, struct space *s, const struct perf_sample *sample,
		      struct unwound *ret)
{
	ret->n = ret->n_kernel = 0;
	ret->end = STACK_END_UNKNOWN;
	ret->serial = ret->same_as = 0;
	ret->n_same = 0;
	add_kernel(sample, ret);
	if (calls_exec(u, s, sample, ret))
		return;
	if (u->mode == UNWINDING_FP)
		by_frame_pointers(u, s, sample, ret);
	else
		by_cfi(u, s, sample, ret);
	if (ret->n == ret->n_kernel && !ret->n_kernel)
		add_user(s, ret, sample->ip, true);
	if (ret->n == ret->n_kernel && ret->n) /* a kernel thread */
		ret->end = STACK_COMPLETE;
}
