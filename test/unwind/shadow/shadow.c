/* Steps through a program one instruction at a time, keeps a shadow of its stacks, and compares
 *what kin's walkers say at random instructions:
 *
 *	shadow [--points=N] [--first=N] [--window=N] [--every=N] [--pause=MS] [--seconds=S]
 *[--seed=N] [--show=N] PROGRAM [ARG...]
 *
 * It steps through the first instructions of the program, whose whole stack is then known. After
 *that it lets the program run for a while, steps through a window, and so on: there, what lies
 *beyond the calls seen in the window is taken from the first walk, must stay the same, and is
 *compared when the program returns to it. --first=0: from the start to the end.
 *
 * It prints one line per walker, and per place where a walker went wrong. Exits with 1 if one was
 *wrong without a mark. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"
#include "shadow_stack.h"
#include "walks.h"

enum {
	DECODED = 1 << 16,
	COPY_SMALL = 16 << 10,
	MAX_THREADS = 512,
	MAX_WRONG = 4096,
	WAITING_STEPS = 64,
	START_MAX = 64,
	MAX_TRUE = 4096,
	WINDOW_MS = 1000,
};

enum verdict {
	EXACT,         /* all callers, and no others */
	CUT,           /* the first callers, and marked as such */
	GUESSED,       /* right up to a mark; what is guessed is right */
	GUESSED_WRONG, /* right up to a mark; what is guessed is not */
	WRONG,         /* an unmarked caller that is none, or "complete" where there are more */
	CONTRADICTS,   /* differs from what was claimed of frames from before the window */
	N_VERDICTS
};
static const char *const verdicts[] = { "exact",         "cut",   "guessed",
					"guessed wrong", "false", "contradicts" };

static const struct walker_kind *const walkers[] = { &walker_record, &walker_perf,
						     &walker_runtime };
enum { N_WALKERS = 3 };

struct wrong { /* a place where a walker went wrong */
	unsigned walker;
	enum verdict verdict;
	uint64_t from; /* the code whose caller is wrong, */
	char place[160], said[160], true_one[160];
	uint64_t times;
};

static struct {
	uint64_t points, first, window, every, pause_ms, seconds, show;
} opts = { .points = 100000,
	   .first = 200000,
	   .window = 20000,
	   .every = 5,
	   .pause_ms = 20,
	   .seconds = 60,
	   .show = 20 };

struct waiting;

static struct {
	pid_t pid;
	bool exec, running, ended;
	struct shadow shadow;
	struct tracee {
		pid_t tid;
		bool free;      /* runs freely */
		bool is_new;    /* it has not stopped yet */
		uint64_t start; /* where it did first, if it was seen to begin */
		int signal;     /* to be delivered */
		struct shadow_thread shadow;
		VEC(struct waiting) waiting;
	} threads[MAX_THREADS];
	size_t n_threads;
	VEC(struct code_map) code;  /* by address */
	VEC(struct code_map) files; /* where a mapped file begins, by address */
	struct code_maps maps;      /* `code` */
	bool maps_changed;
	struct {
		uint64_t pc;
		enum instruction does;
	} decoded[DECODED];
	uint64_t steps, left; /* in this window */
	uint64_t points, unsure, verdicts[N_WALKERS][N_VERDICTS], n_windows;
	struct wrong wrong[MAX_WRONG];
	size_t n_wrong;
	uint64_t random, since_ns;
	uint8_t copy[COPY_MAX];
	uint64_t entry; /* where the kernel starts the program, after its loader */
	uint64_t copy_at;
	size_t copy_size;
} t;

static uint64_t random_number(void)
{
	t.random ^= t.random << 13;
	t.random ^= t.random >> 7;
	t.random ^= t.random << 17;
	return t.random * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

static uint64_t up_to(uint64_t n) { return n < 2 ? n : 1 + random_number() % n; }

/* ---- memory ---- */

static size_t read_some(uint64_t at, void *to, size_t n)
{
	struct iovec local = { to, n }, remote = { (void *)(uintptr_t)at, n };
	ssize_t got = process_vm_readv(t.pid, &local, 1, &remote, 1, 0);
	return got > 0 ? (size_t)got : 0;
}

bool process_peek(uint64_t at, void *to, size_t n)
{
	if (at >= t.copy_at && at - t.copy_at < t.copy_size &&
	    t.copy_size - (at - t.copy_at) >= n) {
		memcpy(to, t.copy + (at - t.copy_at), n);
		return true;
	}
	return read_some(at, to, n) == n;
}

uint64_t process_module_start(const struct code_map *m)
{
	uint64_t ret = 0;

	if (strcmp(m->path, "[vdso]") == 0)
		return m->start;
	for (size_t i = 0; i < t.files.n && t.files.at[i].start <= m->start; i++)
		if (t.files.at[i].inode == m->inode)
			ret = t.files.at[i].start;
	return ret;
}

static void add_map(const struct code_map *m, bool is_code)
{
	if (m->inode && !m->offset)
		vec_push(&t.files, *m);
	if (is_code && strcmp(m->path, "[vsyscall]") != 0)
		vec_push(&t.code, *m);
}

static void read_maps(void)
{
	char path[64], line[1024];

	t.files.n = t.code.n = 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", t.pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		struct code_map m = { 0 };
		char access[5];
		if (sscanf(line,
			   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*x:%*x %" SCNu64 " %511[^\n]",
			   &m.start, &m.end, access, &m.offset, &m.inode, m.path) >= 5)
			add_map(&m, access[2] == 'x');
	}
	if (f)
		fclose(f);
	t.maps = (struct code_maps){ t.code.at, t.code.n };
	t.maps_changed = false;
	t.copy_size = 0;
	for (size_t i = 0; i < N_WALKERS; i++)
		walkers[i]->maps(t.pid, &t.maps);
}

static const struct code_map *map_of(uint64_t pc)
{
	for (size_t i = 0; i < t.maps.n; i++)
		if (pc >= t.maps.at[i].start && pc < t.maps.at[i].end)
			return &t.maps.at[i];
	return NULL;
}

static void describe(uint64_t pc, char *ret, size_t size)
{
	const struct code_map *m = map_of(pc);
	uint64_t start = m ? process_module_start(m) : 0;
	const char *name = m && strrchr(m->path, '/') ? strrchr(m->path, '/') + 1
			   : m                        ? m->path
						      : "nowhere";

	if (start)
		snprintf(ret, size, "%.100s+0x%" PRIx64, name, pc - start);
	else
		snprintf(ret, size, "%.100s:0x%" PRIx64, name, pc);
}

static enum instruction decode(uint64_t pc)
{
	size_t slot = pc * UINT64_C(0x9e3779b97f4a7c15) >> 48;
	uint8_t code[16];

	if (t.decoded[slot].pc == pc)
		return t.decoded[slot].does;
	size_t n = read_some(pc, code, sizeof(code));
	if (n < sizeof(code))
		n = read_some(pc, code,
			      4096 - (pc & 4095) < sizeof(code) ? 4096 - (pc & 4095)
								: sizeof(code));
	enum instruction ret = instruction_at(code, n);
	const struct code_map *m = map_of(pc);
	if (m && m->inode) { /* others may change */
		t.decoded[slot].pc = pc;
		t.decoded[slot].does = ret;
	}
	return ret;
}

/* ---- comparing ---- */

struct truth {
	uint64_t at[MAX_TRUE];
	size_t n;
	const struct stack *base; /* beyond these; NULL: nothing is known */
};

/* False: a word on the stack is not what was pushed there. The truth ends before it. */
static bool truth_of(const struct shadow_thread *k, struct truth *ret)
{
	uint32_t stack = k->stack;

	ret->n = 0;
	ret->base = NULL;
	for (uint32_t i = k->top; i != NO_WORD && ret->n < MAX_TRUE;
	     i = t.shadow.words.at[i].caller) {
		const struct pushed *p = &t.shadow.words.at[i];
		uint64_t now;
		if (!process_peek(p->at, &now, sizeof(now)) || now != p->word)
			return false;
		ret->at[ret->n++] = p->word;
		stack = p->stack;
	}
	if (ret->n < MAX_TRUE)
		ret->base = &t.shadow.stacks.at[stack];
	return true;
}

struct comparison {
	enum verdict verdict;
	size_t at;         /* the frame of the walk that is wrong; its length: frames are missing */
	uint64_t true_one; /* in its place; 0: none, or not known */
};

static struct comparison mismatch(const struct walked *w, size_t i, uint64_t true_one,
				  enum verdict verdict)
{
	bool guessed = i < w->n ? w->at[i].guessed : w->n && w->at[w->n - 1].guessed;
	return (struct comparison){ guessed ? GUESSED_WRONG : verdict, i, true_one };
}

static struct comparison compare(const struct walked *w, const struct truth *s)
{
	size_t i = 1, j = 0, k = 0;
	bool claim = s->base && s->base->has_claim, whole = s->base && s->base->is_whole;

	for (; i < w->n; i++) {
		if (j < s->n && s->at[j] != w->at[i].pc)
			return mismatch(w, i, s->at[j], WRONG);
		if (j < s->n) {
			j++;
			continue;
		}
		if (whole)
			return mismatch(w, i, 0, WRONG);
		if (claim && k < s->base->claimed.n) {
			if (s->base->claimed.at[k] != w->at[i].pc)
				return mismatch(w, i, s->base->claimed.at[k], CONTRADICTS);
			k++;
		} else if (claim && s->base->claim_is_whole)
			return mismatch(w, i, 0, CONTRADICTS);
	}
	if (w->complete && j + 1 == s->n &&
	    (s->at[j] - t.entry < START_MAX || (whole && s->at[j] - s->base->start < START_MAX)))
		j++; /* nobody misses the code that the kernel starts a program or thread with */
	if (w->complete && j < s->n)
		return mismatch(w, i, s->at[j], WRONG);
	if (w->complete && claim && k < s->base->claimed.n)
		return mismatch(w, i, s->base->claimed.at[k], CONTRADICTS);
	if (!w->complete)
		return (struct comparison){ CUT, 0, 0 };
	return (struct comparison){ w->n && w->at[w->n - 1].guessed ? GUESSED : EXACT, 0, 0 };
}

static void note(unsigned walker, const struct walked *w, struct comparison c)
{
	uint64_t from = w->at[c.at - 1].pc;
	const char *said = c.at < w->n ? NULL : w->complete ? "the end" : "nothing";

	for (size_t i = 0; i < t.n_wrong; i++)
		if (t.wrong[i].walker == walker && t.wrong[i].verdict == c.verdict &&
		    t.wrong[i].from == from) {
			t.wrong[i].times++;
			return;
		}
	if (t.n_wrong == MAX_WRONG)
		return;
	struct wrong *x = &t.wrong[t.n_wrong++];
	*x = (struct wrong){ .walker = walker, .verdict = c.verdict, .from = from, .times = 1 };
	describe(from - (c.at > 1), x->place, sizeof(x->place));
	if (said)
		strcpy(x->said, said);
	else
		describe(w->at[c.at].pc, x->said, sizeof(x->said));
	if (c.true_one)
		describe(c.true_one, x->true_one, sizeof(x->true_one));
	else
		strcpy(x->true_one, "nothing");
	if (getenv("SHADOW_TRACE")) {
		printf("# %s %s at step %" PRIu64 ": %s said %s true %s\n", walkers[walker]->name,
		       verdicts[c.verdict], t.steps, x->place, x->said, x->true_one);
		for (size_t i = 0; i < w->n && i < 20; i++) {
			char place[160];
			describe(w->at[i].pc, place, sizeof(place));
			printf("#   %zu %s%s\n", i, place, w->at[i].guessed ? " guessed" : "");
		}
	}
}

/* Whether a signal handler returns there: "mov $15, %eax; syscall". */
static bool is_sigreturn(uint64_t pc)
{
	static const uint8_t number[] = { 0x0f, 0, 0, 0, 0x0f, 0x05 };
	uint8_t code[9] = { 0 };

	read_some(pc, code, sizeof(code));
	return !memcmp(code + 3, number, sizeof(number)) ||
	       !memcmp(code + 1, number, sizeof(number));
}

/* Takes what the walk says of the frames beyond the window, up to one that a signal interrupted:
 * the handler may change where that goes on. */
static void claim_base(const struct walked *w, const struct truth *s)
{
	struct stack *base = (struct stack *)(uintptr_t)s->base;

	if (!base || base->is_whole || base->has_claim || w->n <= s->n)
		return;
	base->has_claim = true;
	base->claim_is_whole = w->complete;
	for (size_t i = 1 + s->n; i < w->n; i++) {
		if (w->at[i].guessed || is_sigreturn(w->at[i - 1].pc)) {
			base->claim_is_whole = false;
			break;
		}
		vec_push(&base->claimed, w->at[i].pc);
	}
}

/* ---- walks that look ahead ---- */

/* A walk that differs from the truth may yet be right. Code that is about to go somewhere else by a
 * jump (longjmp(), swapcontext(), vfork(), where the return address is in a register) may say that
 * its caller is the one that it goes to. So such a walk waits for some instructions. It was right
 * if the thread comes to the caller that the walk named, without a return to another one, and has
 * the rest of these callers then. */
struct waiting {
	unsigned walker;
	struct comparison found;
	struct walked *walked;
	unsigned left; /* steps */
};

static struct walked *copy_walked(const struct walked *w)
{
	struct walked *ret = malloc(sizeof(*ret));
	ret->n = w->n;
	ret->complete = w->complete;
	memcpy(ret->at, w->at, w->n * sizeof(w->at[0]));
	return ret;
}

static bool is_fine(enum verdict v) { return v < GUESSED_WRONG; }

static void settle_waiting(struct waiting *x, enum verdict v)
{
	t.verdicts[x->walker][v]++;
	if (!is_fine(v))
		note(x->walker, x->walked, x->found);
	free(x->walked);
}

static bool settles(struct waiting *x, const struct shadow_thread *k)
{
	static struct truth now;
	bool sure = truth_of(k, &now);
	struct comparison c = compare(x->walked, &now);

	if (!sure && c.at > now.n)
		c.verdict = CUT;
	if (!is_fine(c.verdict))
		return false;
	settle_waiting(x, c.verdict);
	return true;
}

/* Settles the walk if the thread is where it said; or, after a jump, if what it said of the
 * function that jumped holds for the one that it jumped to. */
static bool has_come(struct waiting *x, const struct shadow_thread *k, enum left left)
{
	struct walked *w = x->walked;

	if (left == LEFT_BY_WORD && settles(x, k))
		return true;
	if (w->n < 2 || w->at[1].pc != k->last.rip)
		return false;
	struct walk_frame leaf = w->at[0];
	memmove(w->at, w->at + 1, --w->n * sizeof(w->at[0]));
	if (settles(x, k))
		return true;
	memmove(w->at + 1, w->at, w->n++ * sizeof(w->at[0]));
	w->at[0] = leaf;
	return false;
}

static void go_on_waiting(struct tracee *x, enum left left)
{
	size_t n = 0;

	for (size_t i = 0; i < x->waiting.n; i++) {
		struct waiting *w = &x->waiting.at[i];
		if (left != LEFT_BY_RETURN && has_come(w, &x->shadow, left))
			continue;
		if (left == LEFT_BY_RETURN || !--w->left)
			settle_waiting(w, w->found.verdict);
		else
			x->waiting.at[n++] = *w;
	}
	x->waiting.n = n;
}

static void end_waiting(struct tracee *x)
{
	for (size_t i = 0; i < x->waiting.n; i++)
		free(x->waiting.at[i].walked); /* not known */
	x->waiting.n = 0;
}

/* ---- time ---- */

static volatile sig_atomic_t pause_ended;

static void end_pause(int signal)
{
	(void)signal;
	pause_ended = 1;
}

/* The timer goes on, as its first signal may come just before waitpid(). */
static void set_pause(uint64_t ms)
{
	enum { AGAIN_US = 5000 };
	struct itimerval in = { { 0, AGAIN_US },
				{ (time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000) + 1 } };
	setitimer(ITIMER_REAL, &in, NULL);
	pause_ended = 0;
}

/* ---- points ---- */

static void walk_point(struct tracee *x, const struct point *p, const struct truth *truth,
		       bool sure, unsigned walker)
{
	static struct walked walked;

	walkers[walker]->walk(p, &walked);
	struct comparison c = compare(&walked, truth);
	if (!sure && c.at > truth->n)
		c.verdict = CUT;
	if (is_fine(c.verdict)) {
		t.verdicts[walker][c.verdict]++;
		if (!walker && sure)
			claim_base(&walked, truth);
		return;
	}
	struct waiting w = { walker, c, copy_walked(&walked), WAITING_STEPS };
	vec_push(&x->waiting, w);
}

static void take_point(struct tracee *x)
{
	static struct truth truth;
	const struct shadow_thread *k = &x->shadow;
	size_t small = up_to(4) == 1 ? COPY_MAX : COPY_SMALL;

	bool is_first = t.maps_changed && t.n_windows;
	if (t.maps_changed)
		read_maps();
	t.copy_at = k->last.rsp;
	t.copy_size = 0;
	t.copy_size = read_some(t.copy_at, t.copy, COPY_MAX);
	struct point p = { .pid = t.pid,
			   .tid = x->tid,
			   .regs = &k->last,
			   .copy = t.copy,
			   .copy_size = t.copy_size,
			   .small_size = t.copy_size < small ? t.copy_size : small,
			   .time_ns = clock_now_ns() };
	bool sure = truth_of(k, &truth);
	t.points++;
	t.unsure += !sure;
	for (unsigned i = 0; i < N_WALKERS; i++)
		walk_point(x, &p, &truth, sure, i);
	t.copy_size = 0;
	if (is_first) /* it had to read tables: of large libraries that takes seconds */
		set_pause(WINDOW_MS);
}

/* ---- tracing ---- */

static struct tracee *tracee_of(pid_t tid)
{
	for (size_t i = 0; i < t.n_threads; i++)
		if (t.threads[i].tid == tid)
			return &t.threads[i];
	if (t.n_threads == MAX_THREADS)
		return NULL;
	t.threads[t.n_threads] = (struct tracee){ .tid = tid, .is_new = t.exec };
	return &t.threads[t.n_threads++];
}

static void forget(struct tracee *x)
{
	end_waiting(x);
	vec_free(&x->waiting);
	*x = t.threads[--t.n_threads];
	t.ended = !t.n_threads;
}

static bool in_window(void) { return t.exec && !t.running; }

static void resume(struct tracee *x)
{
	x->free = !in_window();
	ptrace(x->free ? PTRACE_CONT : PTRACE_SINGLESTEP, x->tid, 0, (void *)(intptr_t)x->signal);
}

static bool may_change_code(const struct user_regs_struct *r)
{
	switch (r->rax) {
	case SYS_mmap:
	case SYS_mprotect:
	case SYS_pkey_mprotect:
		return r->rdx & 4;
	case SYS_munmap:
	case SYS_mremap:
		for (size_t i = 0; i < t.maps.n; i++)
			if (r->rdi < t.maps.at[i].end && r->rdi + r->rsi > t.maps.at[i].start)
				return true;
		return false;
	}
	return false;
}

static void step(struct tracee *x, bool signalled)
{
	struct user_regs_struct now;
	struct shadow_thread *k = &x->shadow;

	if (ptrace(PTRACE_GETREGS, x->tid, 0, &now))
		return;
	t.steps++;
	t.left -= t.left > 0;
	if (!k->known) {
		shadow_begin(&t.shadow, k, &now, x->start && now.rip - x->start < START_MAX);
		x->start = 0; /* it may be there once more, to start another thread */
	} else {
		uint64_t moved = now.rsp - k->last.rsp;
		enum instruction did =
			moved || k->has_changed || k->has_skipped || now.rip - k->last.rip == 2
				? decode(k->last.rip)
				: DO_OTHER;
		if (did == DO_SYSCALL && may_change_code(&k->last)) {
			t.maps_changed = true;
			memset(t.decoded, 0, sizeof(t.decoded));
		}
		enum left left = shadow_step(&t.shadow, k, &now, did, signalled);
		go_on_waiting(x, left);
	}
	if (up_to(opts.every) == 1)
		take_point(x);
}

static uint64_t read_entry(void)
{
	char path[64];
	uint64_t ret = 0;
	Elf64_auxv_t a;

	snprintf(path, sizeof(path), "/proc/%d/auxv", t.pid);
	FILE *f = fopen(path, "re");
	while (f && !ret && fread(&a, sizeof(a), 1, f) == 1)
		if (a.a_type == AT_ENTRY)
			ret = a.a_un.a_val;
	if (f)
		fclose(f);
	return ret;
}

static void begin_exec(pid_t tid)
{
	struct user_regs_struct now;

	t.n_threads = 0;
	struct tracee *x = tracee_of(tid);
	x->is_new = false;
	t.pid = tid;
	t.entry = read_entry();
	t.exec = true;
	t.running = false;
	t.left = opts.first ? opts.first : UINT64_MAX;
	t.maps_changed = true;
	memset(t.decoded, 0, sizeof(t.decoded));
	shadow_clear(&t.shadow);
	ptrace(PTRACE_GETREGS, tid, 0, &now);
	shadow_begin(&t.shadow, &x->shadow, &now, true);
}

/* A thread begins where its parent's call of clone() returns, on a stack of its own. */
static void begin_thread(struct tracee *x)
{
	struct user_regs_struct now;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", t.pid, x->tid);
	if (access(path, F_OK)) { /* a process */
		ptrace(PTRACE_DETACH, x->tid, 0, 0);
		forget(x);
		return;
	}
	if (!ptrace(PTRACE_GETREGS, x->tid, 0, &now)) {
		x->start = now.rip;
		if (in_window())
			shadow_begin(&t.shadow, &x->shadow, &now, true);
	}
	resume(x);
}

/* ---- windows ---- */

static void end_window(void)
{
	t.running = true;
	set_pause(up_to(2 * opts.pause_ms));
}

static void begin_window(void)
{
	t.running = false;
	t.left = up_to(2 * opts.window);
	t.maps_changed = true;
	t.n_windows++;
	memset(t.decoded, 0, sizeof(t.decoded));
	shadow_clear(&t.shadow);
	for (size_t i = 0; i < t.n_threads; i++) {
		end_waiting(&t.threads[i]);
		t.threads[i].shadow.known = false;
		ptrace(PTRACE_INTERRUPT, t.threads[i].tid, 0, 0);
	}
	set_pause(WINDOW_MS); /* if all threads sleep for long */
}

static bool is_enough(void)
{
	return t.points >= opts.points ||
	       clock_now_ns() - t.since_ns > opts.seconds * UINT64_C(1000000000);
}

static void take_stop(pid_t tid, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16;
	struct tracee *x = tracee_of(tid);

	if (!x) {
		ptrace(PTRACE_DETACH, tid, 0, 0);
		return;
	}
	bool is_new = x->is_new && event == PTRACE_EVENT_STOP;
	bool signalled = x->signal != 0;
	x->signal = 0;
	x->is_new = false;
	if (event == PTRACE_EVENT_EXEC) {
		begin_exec(tid);
		resume(tracee_of(tid));
		return;
	}
	if (is_new) {
		begin_thread(x);
		return;
	}
	if (event == PTRACE_EVENT_STOP && (signal == SIGSTOP || signal == SIGTSTP) && t.exec) {
		ptrace(PTRACE_LISTEN, tid, 0, 0);
		return;
	}
	if (in_window() && !x->free && !event)
		step(x, signalled);
	if (!event && signal != SIGTRAP)
		x->signal = signal;
	if (in_window() && !t.left)
		end_window();
	resume(x);
}

static void trace(void)
{
	while (!t.ended && !is_enough()) {
		int status;
		pid_t tid = waitpid(-1, &status, __WALL);
		if (pause_ended && t.running)
			begin_window();
		else if (pause_ended)
			end_window();
		if (tid < 0 && errno == EINTR)
			continue;
		if (tid < 0)
			break;
		struct tracee *x = tracee_of(tid);
		if (WIFSTOPPED(status))
			take_stop(tid, status);
		else if (x)
			forget(x);
	}
}

/* The tracer and the program take turns: on one processor that is up to twice as fast. */
static void stay_on_this_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void start(char **argv)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		int nowhere = open("/dev/null", O_RDWR);
		for (int i = 0; i < 3; i++)
			dup2(nowhere, i);
		raise(SIGSTOP);
		execvp(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, &status, WUNTRACED);
	t.pid = pid;
	if (ptrace(PTRACE_SEIZE, pid, 0,
		   PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL)) {
		perror("ptrace");
		exit(2);
	}
	tracee_of(pid)->free = true;
	kill(pid, SIGCONT);
}

/* ---- the result ---- */

static bool print_result(void)
{
	bool passed = true;

	printf("steps %" PRIu64 " windows %" PRIu64 " points %" PRIu64 " unsure %" PRIu64
	       " base confirmed %" PRIu64 " refuted %" PRIu64 "\n",
	       t.steps, t.n_windows, t.points, t.unsure, t.shadow.confirmed, t.shadow.refuted);
	for (unsigned i = 0; i < N_WALKERS; i++) {
		printf("%s", walkers[i]->name);
		for (unsigned v = 0; v < N_VERDICTS; v++)
			printf("%s %s %" PRIu64, v ? "," : "", verdicts[v], t.verdicts[i][v]);
		printf("\n");
		passed &= !t.verdicts[i][WRONG] && !t.verdicts[i][CONTRADICTS];
	}
	for (size_t i = 0, shown = 0; i < t.n_wrong && shown < opts.show; i++) {
		const struct wrong *x = &t.wrong[i];
		if (x->verdict == GUESSED_WRONG && !getenv("SHADOW_GUESSES"))
			continue;
		shown++;
		printf("  %s %s %" PRIu64 ": called from %s, not %s: %s\n",
		       walkers[x->walker]->name, verdicts[x->verdict], x->times, x->true_one,
		       x->said, x->place);
	}
	return passed;
}

static bool take_option(const char *word)
{
	const struct {
		const char *name;
		uint64_t *to;
	} all[] = { { "--points=", &opts.points },  { "--first=", &opts.first },
		    { "--window=", &opts.window },  { "--every=", &opts.every },
		    { "--pause=", &opts.pause_ms }, { "--seconds=", &opts.seconds },
		    { "--seed=", &t.random },       { "--show=", &opts.show } };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strncmp(word, all[i].name, strlen(all[i].name))) {
			*all[i].to = strtoull(word + strlen(all[i].name), NULL, 0);
			return true;
		}
	return false;
}

int main(int argc, char **argv)
{
	int i = 1;

	t.random = 1;
	while (i < argc && take_option(argv[i]))
		i++;
	if (i >= argc) {
		fprintf(stderr, "usage: shadow [--points=N ...] PROGRAM [ARG...]\n");
		return 2;
	}
	t.random = (t.random + 1) * UINT64_C(0x9e3779b97f4a7c15);
	struct sigaction action = { .sa_handler = end_pause };
	sigaction(SIGALRM, &action, NULL);
	stay_on_this_cpu();
	start(argv + i);
	t.since_ns = clock_now_ns();
	trace();
	bool passed = print_result();
	for (size_t k = 0; k < N_WALKERS; k++)
		walkers[k]->done();
	kill(t.pid, SIGKILL);
	return !passed;
}
