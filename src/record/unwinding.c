#include "record/unwinding.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "unwind/unwinder.h"

enum {
	CACHE_BITS = 10,
	WINDOW = 64 << 10,    /* bytes of memory read at a time beyond the copy */
	VERIFIED = 512,       /* bytes that must still be as they were */
	BEFORE = 8 << 10,     /* bytes of the copy that are read again */
	BEYOND_MAX = 8 << 20, /* how far beyond */
	CHAIN_MAX = 127,      /* the kernel's limit */
};

struct code_cache { /* what was found for a pc */
	struct {
		uint64_t pc;
		struct module *module;
		uint64_t bias;
	} at[1 << CACHE_BITS];
};

struct unwinding {
	enum unwinding_mode mode;
	uint32_t stack_bytes;
	struct unwinding_stats stats;
	uint64_t pcs[UNWINDING_DEPTH];
	/* of the sample at hand */
	const struct ring_record *record;
	uint64_t copy_addr;
	enum { BEYOND_NOT_TRIED, BEYOND_REFUSED, BEYOND_READ } beyond;
	/* memory that was read last, from a little before the end of the copy on: it serves the
	 * thread's later samples, too, as long as they agree with it */
	pid_t window_tid; /* 0: none */
	uint64_t window_addr;
	size_t window_size;
	uint8_t window[WINDOW];
};

/* What the callbacks of a space's unwinder get: the unwinding changes with the sample. */
struct walker {
	struct unwinder *unwinder;
	struct space *space;
	struct unwinding *u;
};

struct unwinding *unwinding_new(enum unwinding_mode mode, uint32_t stack_bytes)
{
	struct unwinding *u = xalloc(sizeof(*u));
	u->mode = mode;
	u->stack_bytes = stack_bytes;
	return u;
}

void unwinding_free(struct unwinding *u) { free(u); }
const struct unwinding_stats *unwinding_stats(const struct unwinding *u) { return &u->stats; }

/* ---- memory beyond the copy ---- */

static bool read_process(pid_t pid, uint64_t addr, void *ret, size_t size, size_t *n)
{
	struct iovec local = { ret, size }, remote = { (void *)(uintptr_t)addr, size };
	ssize_t done = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	*n = done > 0 ? (size_t)done : 0;
	return done > 0;
}

static bool in_window(const struct unwinding *u, uint64_t addr, size_t n)
{
	uint64_t at = addr - u->window_addr;
	return u->window_tid && u->window_size >= n && at <= u->window_size - n;
}

static uint64_t copy_end(const struct unwinding *u) { return u->copy_addr + u->record->stack_size; }

static size_t to_verify(const struct unwinding *u)
{
	return u->record->stack_size < VERIFIED ? u->record->stack_size : VERIFIED;
}

static const uint8_t *end_of_copy(const struct unwinding *u)
{
	return u->record->stack + u->record->stack_size - to_verify(u);
}

static bool window_agrees(const struct unwinding *u)
{
	size_t n = to_verify(u);
	uint64_t at = copy_end(u) - n;
	return in_window(u, at, n) && !memcmp(u->window + (at - u->window_addr), end_of_copy(u), n);
}

static bool memory_agrees(const struct unwinding *u)
{
	uint8_t now[VERIFIED];
	size_t done, n = to_verify(u);
	return read_process((pid_t)u->record->pid, copy_end(u) - n, now, n, &done) && done == n &&
	       !memcmp(now, end_of_copy(u), n);
}

/* The page-wise end of a stack ends the read short: the part before it is good. Checked after the
 * window was read, so that what is in it was there when the thread was still in the same calls. */
static bool move_window(struct unwinding *u, uint64_t addr)
{
	size_t size = WINDOW, before = u->beyond == BEYOND_NOT_TRIED ? BEFORE : 0;
	if (before > u->record->stack_size)
		before = u->record->stack_size;
	u->window_tid = 0;
	u->window_addr = (before ? copy_end(u) - before : addr) & ~UINT64_C(7);
	while (size >= 4096 && !read_process((pid_t)u->record->pid, u->window_addr, u->window, size,
					     &u->window_size))
		size /= 2;
	if (size < 4096 || !memory_agrees(u))
		return false;
	u->window_tid = (pid_t)u->record->tid;
	return in_window(u, addr, 8);
}

static bool read_beyond(void *arg, uint64_t addr, uint64_t *ret)
{
	struct unwinding *u = ((struct walker *)arg)->u;
	const struct ring_record *r = u->record;
	uint64_t end = copy_end(u);
	if (u->beyond == BEYOND_REFUSED || r->stack_size < u->stack_bytes || addr < end ||
	    addr - end > BEYOND_MAX)
		return false;
	if (u->beyond == BEYOND_NOT_TRIED && u->window_tid == (pid_t)r->tid && window_agrees(u) &&
	    in_window(u, addr, 8))
		u->beyond = BEYOND_READ;
	if (u->beyond == BEYOND_NOT_TRIED || !in_window(u, addr, 8))
		u->beyond = move_window(u, addr) ? BEYOND_READ : BEYOND_REFUSED;
	if (u->beyond == BEYOND_REFUSED)
		return false;
	memcpy(ret, u->window + (addr - u->window_addr), 8);
	return true;
}

/* ---- code ---- */

static bool find_code(void *arg, uint64_t pc, struct unwind_code *ret)
{
	const struct walker *w = arg;
	const struct mapping *m = space_find(w->space, pc);
	if (!m)
		return false;
	ret->table = module_table(m->module);
	ret->bias = m->bias;
	return true;
}

static size_t read_code(void *arg, uint64_t addr, uint8_t *ret, size_t size)
{
	const struct walker *w = arg;
	size_t n;
	read_process((pid_t)w->u->record->pid, addr, ret, size, &n);
	return n;
}

static struct walker *walker_of(struct unwinding *u, struct space *s)
{
	struct walker *w = s->walker;
	if (!w) {
		w = xalloc(sizeof(*w));
		struct unwinder_opts opts = { .find = find_code,
					      .code = read_code,
					      .read = read_beyond,
					      .arg = w,
					      .no_guess = u->mode == UNWINDING_DWARF };
		w->unwinder = unwinder_new(&opts);
		w->space = s;
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
	if (s->walker)
		unwinder_free(s->walker->unwinder);
	free(s->walker);
	free(s->cache);
	s->walker = NULL;
	s->cache = NULL;
}

/* ---- registers ---- */

#if defined(__x86_64__)
static void take_regs(const uint64_t *regs, struct unwind_regs *ret, uint64_t all[UNWIND_N_DWARF])
{
	/* perf's order: ax bx cx dx si di bp sp ip, r8..; DWARF's: ax dx cx bx si di bp sp, r8.. */
	static const uint8_t dwarf[] = { 0, 3, 2, 1, 4, 5, 6, 7 };
	for (size_t i = 0; i < 8; i++)
		all[dwarf[i]] = regs[i];
	for (size_t i = 0; i < 8; i++)
		all[8 + i] = regs[9 + i];
	ret->machine = UNWIND_X86_64;
	ret->pc = regs[8];
	ret->sp = regs[7];
	ret->fp = regs[6];
	ret->bx = regs[1];
}
enum { ABI = PERF_SAMPLE_REGS_ABI_64 };
#else
static void take_regs(const uint64_t *regs, struct unwind_regs *ret, uint64_t all[UNWIND_N_DWARF])
{
	memcpy(all, regs, 32 * sizeof(*all));
	ret->machine = UNWIND_AARCH64;
	ret->pc = regs[32];
	ret->sp = regs[31];
	ret->fp = regs[29];
	ret->lr = regs[30];
}
enum { ABI = PERF_SAMPLE_REGS_ABI_64 };
#endif

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

static void add_kernel(const struct ring_record *r, struct unwound *ret)
{
	bool kernel = false, first = true;
	for (size_t i = 0; i < r->n_chain && ret->n < 200; i++) {
		if (r->chain[i] >= (uint64_t)PERF_CONTEXT_MAX) {
			kernel = r->chain[i] == (uint64_t)PERF_CONTEXT_KERNEL;
			first = true;
			continue;
		}
		if (!kernel)
			continue;
		ret->frames[ret->n++] = (struct stack_frame){
			.pc = r->chain[i],
			.addr = r->chain[i],
			.flags = KINF_FRAME_KERNEL | (first ? 0 : KINF_FRAME_RETURN),
		};
		first = false;
	}
	bool in_kernel =
		(r->header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	if (!ret->n && in_kernel)
		ret->frames[ret->n++] = (struct stack_frame){ .pc = r->ip,
							      .addr = r->ip,
							      .flags = KINF_FRAME_KERNEL };
	ret->n_kernel = ret->n;
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

/* false: the sample says nothing of user mode. */
static bool begin_walk(struct unwinding *u, const struct ring_record *r, struct unwind_walk *w,
		       uint64_t all[UNWIND_N_DWARF])
{
	if (r->abi != ABI)
		return false;
	take_regs(r->regs, &w->regs, all);
	w->regs.all = all;
	w->regs.exact = true;
	w->copy = r->stack;
	w->copy_addr = w->regs.sp;
	w->copy_size = r->stack ? r->stack_size : 0;
	u->copy_addr = w->regs.sp;
	u->record = r;
	u->beyond = BEYOND_NOT_TRIED;
	return true;
}

static void by_cfi(struct unwinding *u, struct space *s, const struct ring_record *r,
		   struct unwound *ret)
{
	uint64_t all[UNWIND_N_DWARF] = { 0 };
	struct unwind_walk w = { 0 };
	if (!begin_walk(u, r, &w, all))
		return;
	struct walker *walker = walker_of(u, s);
	unwinder_walk(walker->unwinder, &w, u->pcs, UNWINDING_DEPTH);
	for (size_t i = 0; i < w.n; i++)
		add_user(s, ret, u->pcs[i], !i);
	for (size_t i = w.n - w.guessed; w.guessed && i < w.n; i++)
		ret->frames[ret->n_kernel + i].flags |= KINF_FRAME_GUESSED;

	u->stats.stacks++;
	u->stats.frames += w.n;
	u->stats.guessed += w.guessed;
	u->stats.ends[w.end]++;
	u->stats.continued += u->beyond == BEYOND_READ;
	u->stats.deep += u->beyond != BEYOND_NOT_TRIED;
	ret->complete = w.end == UNWIND_COMPLETE;
	ret->cut = !ret->complete;
	u->stats.complete += ret->complete;
	u->stats.cut += ret->cut;
	if (ret->cut)
		fail(ret);
}

/* The leaf's caller by call-frame information; 0: not known. */
static uint64_t caller_of_leaf(struct unwinding *u, struct space *s, const struct ring_record *r)
{
	uint64_t all[UNWIND_N_DWARF] = { 0 };
	struct unwind_walk w = { 0 };
	if (!begin_walk(u, r, &w, all))
		return 0;
	u->beyond = BEYOND_REFUSED;
	unwinder_walk(walker_of(u, s)->unwinder, &w, u->pcs, 2);
	return w.n == 2 && !w.guessed ? u->pcs[1] : 0;
}

static void by_frame_pointers(struct unwinding *u, struct space *s, const struct ring_record *r,
			      struct unwound *ret)
{
	size_t i = 0, n = 0;
	while (i < r->n_chain && r->chain[i] != (uint64_t)PERF_CONTEXT_USER)
		i++;
	if (i >= r->n_chain)
		return;
	uint64_t caller = caller_of_leaf(u, s, r);
	for (i++; i < r->n_chain && r->chain[i] < (uint64_t)PERF_CONTEXT_MAX; i++, n++) {
		if (n == 1 && caller && caller != r->chain[i])
			add_user(s, ret, caller, false);
		add_user(s, ret, r->chain[i], !n);
	}
	if (n == 1 && caller)
		add_user(s, ret, caller, false);
	u->stats.stacks++;
	u->stats.frames += n;
	u->stats.guessed += n > 2 ? n - 2 : 0;
	ret->cut = r->n_chain >= CHAIN_MAX;
	u->stats.cut += ret->cut;
}

void unwinding_sample(struct unwinding *u, struct space *s, const struct ring_record *r,
		      struct unwound *ret)
{
	ret->n = ret->n_kernel = 0;
	ret->cut = ret->complete = false;
	add_kernel(r, ret);
	if (u->mode == UNWINDING_FP)
		by_frame_pointers(u, s, r, ret);
	else
		by_cfi(u, s, r, ret);
	if (ret->n == ret->n_kernel && !ret->n_kernel)
		add_user(s, ret, r->ip, true);
	if (ret->n == ret->n_kernel && ret->n) /* a thread of the kernel */
		ret->complete = true;
}
