/* CPU time, by the clock. Each thread has a timer of the kernel's on its own CPU clock, which sends
 * it a signal; the handler asks that clock how much time has passed since the last sample, and that
 * is what the sample stands for. Where the kernel looks at such timers with its tick alone there
 * are fewer samples than were asked for, and each stands for more.
 *
 * Timers are not inherited by forked children and do not survive exec; the signal is blocked in all
 * places that hold rt_lock(). What no sample accounts for (signals were blocked, timers refused)
 * is the difference between cpu_ns and sampled_ns in the file. */
#include "rt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <time.h>

enum {
	DEFAULT_HZ = 1000,
	MOST_HZ = 100000,
	HIGHEST = 62, /* of the signals to choose from; others start with the last ones */
	LOWEST = 35,
	SWEEP = 2,     /* threads looked at when one is added */
	PATIENCE = 64, /* ticks that a sample may stand for: threads that run in short bursts are
			  seldom met by a tick. After more than that, signals were blocked */
};
static const uint64_t second_ns = 1000000000;
static const uint64_t tell_every_ns = 250000000;

struct kernel_action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

#if defined(__x86_64__)
enum { RESTORER = 0x04000000 };
void rt_restore(void) __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n"
	".type rt_restore, @function\n"
	".p2align 4\n"
	"rt_restore: mov $15, %rax\n" /* the very bytes that debuggers and unwinders look for */
	"syscall\n"
	".size rt_restore, . - rt_restore\n"
	".popsection\n");
#else
enum { RESTORER = 0 };
static void (*const rt_restore)(void) = NULL;
#endif

/* ---- clocks and timers ---- */

/* The CPU clock of any thread of this process, as the kernel numbers them. */
static int clock_of(uint32_t tid) { return (int)(~tid << 3 | 6); }

/* The first time at once, that is with the first tick: a thread that lives for less than the period
 * is met as often as its share of the time calls for. */
static struct itimerspec every(uint64_t period_ns)
{
	const struct timespec t = { .tv_sec = (long)(period_ns / second_ns),
				    .tv_nsec = (long)(period_ns % second_ns) };

	return (struct itimerspec){ .it_interval = t, .it_value.tv_nsec = 1 };
}

/* 0 and *timer, or -errno. */
static long new_timer(uint32_t tid, int32_t *timer)
{
	struct sigevent e = { .sigev_signo = rt.sampling.signal,
			      .sigev_notify = SIGEV_THREAD_ID,
			      .sigev_value.sival_ptr = &rt.sampling };
	struct itimerspec t = every(rt.sampling.period_ns);
	int id;
	long err;

	e._sigev_un._tid = (pid_t)tid;
	err = SYS3(timer_create, clock_of(tid), &e, &id);
	if (err)
		return err;
	*timer = id + 1;
	return SYS4(timer_settime, id, 0, &t, NULL);
}

static void delete_timer(int32_t *timer)
{
	if (*timer)
		SYS1(timer_delete, *timer - 1);
	*timer = 0;
}

static void arm(struct rt_thread *t)
{
	long err = t->clock.timer ? 0 : new_timer(t->tid, &t->clock.timer);

	if (err)
		rt_error("timer for sampling", err);
}

/* With the signal blocked: what was sent before its timer was gone. */
static void drain(void)
{
	const struct timespec now = { 0 };
	uint64_t set = (uint64_t)1 << (rt.sampling.signal - 1);

	while (SYS4(rt_sigtimedwait, &set, NULL, &now, 8) > 0)
		;
}

static bool is_alive(const struct rt_thread *t)
{
	return !(t->record && t->record->end_ns) && SYS3(tgkill, rt.pid, t->tid, 0) != -ESRCH;
}

/* Timers of threads that ended without our noticing. */
static void sweep(void)
{
	for (int i = 0; i < SWEEP; i++) {
		struct rt_thread *t = rt.sampling.sweep ? rt.sampling.sweep : rt.threads;

		if (!t)
			return;
		rt.sampling.sweep = t->next;
		if (t->clock.timer && !is_alive(t))
			delete_timer(&t->clock.timer);
	}
}

/* ---- a sample ---- */

/* A signal of this number that is not the timer's: what it would have done without us. */
static void not_ours(int signal)
{
	const struct kernel_action by_default = { 0 };

	SYS4(rt_sigaction, signal, &by_default, NULL, 8);
	SYS3(tgkill, rt.pid, SYS0(gettid), signal);
}

static void tell_cpu_time(struct rt_thread *t, uint64_t now)
{
	t->clock.told_ns = now;
	rt.header->cpu_ns = rt_now_ns(CLOCK_PROCESS_CPUTIME_ID) - rt.sampling.excluded_ns;
}

/* Threads that end leave the time since their last sample behind: one that a tick meets for the
 * first time stands for those, too. */
static uint64_t inherited(struct rt_thread *t)
{
	uint64_t owed, rest;

	if (t->clock.met)
		return 0;
	t->clock.met = true;
	owed = atomic_exchange(&rt.sampling.owed_ns, 0);
	rest = owed > rt.sampling.most_ns ? owed - rt.sampling.most_ns : 0;
	atomic_fetch_add(&rt.sampling.owed_ns, rest);
	return owed - rest;
}

/* What the clock shows more than last time; as far as that can have been spent here. */
static uint64_t weight_of(struct rt_thread *t, uint64_t now)
{
	uint64_t weight = now - t->clock.last_ns;

	t->clock.last_ns = now;
	if (weight > rt.sampling.most_ns)
		weight = rt.sampling.most_ns / PATIENCE;
	return weight + inherited(t);
}

static void sample(struct rt_thread *t, const void *context)
{
	uint64_t now = rt_now_ns(CLOCK_THREAD_CPUTIME_ID), weight = weight_of(t, now);

	rt_stacks_add(t, context, weight);
	__atomic_fetch_add(&rt.header->sampled_ns, weight, __ATOMIC_RELAXED);
	if (t->record) {
		t->record->cpu_ns = now - t->clock.excluded_ns;
		t->record->sampled_ns += weight;
		t->record->samples++;
	}
	if (now - t->clock.told_ns > tell_every_ns)
		tell_cpu_time(t, now);
}

/* All other signals are blocked, so nothing leaves this by longjmp(). */
static void on_signal(int signal, siginfo_t *info, void *context)
{
	struct rt_thread *t;

	if (rt.silent)
		return;
	if (info->si_code != SI_TIMER) {
		not_ours(signal);
		return;
	}
	if (!rt.sampling.on)
		return;
	if (!rt_tls.thread && !rt_tls.timer)
		rt_tls.timer = info->si_timerid + 1;
	if (!rt_ready())
		return;
	t = rt_thread();
	if (t && t->clock.timer)
		sample(t, context);
}

/* ---- signals ---- */

static bool is_free(int signal, uint64_t blocked)
{
	struct kernel_action a;

	return !(blocked >> (signal - 1) & 1) && !SYS4(rt_sigaction, signal, NULL, &a, 8) &&
	       !a.handler;
}

static bool choose_signal(int from)
{
	uint64_t blocked = 0;

	SYS4(rt_sigprocmask, SIG_BLOCK, NULL, &blocked, 8);
	for (int s = from; s >= LOWEST; s--)
		if (is_free(s, blocked)) {
			const struct kernel_action a = {
				.handler = on_signal,
				.flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | RESTORER,
				.restorer = rt_restore,
				.mask = UINT64_MAX,
			};

			rt.sampling.signal = s;
			return !SYS4(rt_sigaction, s, &a, NULL, 8);
		}
	return false;
}

bool rt_sample_is_ours(int signal) { return rt.sampling.period_ns && signal == rt.sampling.signal; }

/* The handler stays for signals that are on their way, until the program has its own. */
void rt_sample_give_way(int signal)
{
	uint64_t mask;

	if (!rt_sample_is_ours(signal) || rt.silent || !rt_lock(&mask))
		return;
	for (struct rt_thread *t = rt.threads; t; t = t->next)
		delete_timer(&t->clock.timer);
	delete_timer(&rt_tls.timer);
	drain();
	if (!choose_signal(signal - 1)) {
		rt.sampling.period_ns = 0;
		rt_error("no signal is left for sampling", 0);
	} else if (rt.sampling.on)
		for (struct rt_thread *t = rt.threads; t; t = t->next)
			if (is_alive(t))
				arm(t);
	rt_unlock(mask);
}

/* ---- threads ---- */

void rt_sample_attach(struct rt_thread *t)
{
	uint64_t now;

	if (!rt.sampling.period_ns || rt.silent)
		return;
	now = rt_now_ns(CLOCK_THREAD_CPUTIME_ID);
	delete_timer(&t->clock.timer);
	t->clock = (struct rt_clock){ .stack = rt_tls.stack, .stack_end = rt_tls.stack_end };
	t->clock.last_ns = t->clock.excluded_ns = t->clock.told_ns = now;
	if (t->tid == rt.pid && rt.sampling.stack_end && !rt_tls.stack_end) {
		t->clock.stack_end = rt.sampling.stack_end;
		t->clock.stack = t->clock.stack_end - rt.sampling.stack_gap;
	}
	if (rt_tls.timer) { /* it was running, and this is its first signal */
		uint64_t used = now > rt.sampling.most_ns ? rt.sampling.period_ns : now;

		t->clock.timer = rt_tls.timer;
		t->clock.last_ns = t->clock.excluded_ns = now - used;
		rt_tls.timer = 0;
	} else if (rt.sampling.on)
		arm(t);
	sweep();
}

/* The address of a local variable of a thread's first function, and the thread pointer, which lies
 * at the end of the same mapping: all in between is its stack. */
void rt_sample_thread_starts(uint64_t stack_size)
{
	enum { NEAR = 64 << 10 };
	uint64_t here = (uint64_t)__builtin_frame_address(0);
	uint64_t end = (uint64_t)__builtin_thread_pointer();

	if (end > here && end - here < NEAR && stack_size > NEAR) {
		rt_tls.stack = here - stack_size + NEAR;
		rt_tls.stack_end = end;
	}
	if (rt.sampling.on && rt_ready())
		rt_thread();
}

static void read_clock(struct rt_thread *t)
{
	uint64_t now = rt_now_ns(clock_of(t->tid));

	if (t->record && now > t->clock.excluded_ns)
		t->record->cpu_ns = now - t->clock.excluded_ns;
}

static void leave_rest(struct rt_thread *t)
{
	uint64_t rest = rt_now_ns(CLOCK_THREAD_CPUTIME_ID) - t->clock.last_ns;

	read_clock(t);
	if (rest <= rt.sampling.most_ns)
		atomic_fetch_add(&rt.sampling.owed_ns, rest);
}

void rt_sample_thread_ends(void)
{
	struct rt_thread *t = rt_tls.thread;
	uint64_t mask;

	/* also in a child of vfork, whose process this is not */
	if (!rt.sampling.period_ns || !t || (uint32_t)SYS0(gettid) != t->tid || !rt_lock(&mask))
		return;
	delete_timer(&t->clock.timer);
	if (rt.sampling.on)
		leave_rest(t);
	drain();
	if (t->record)
		t->record->end_ns = rt_now_ns(CLOCK_MONOTONIC);
	rt_unlock(mask);
}

/* ---- beginning and ending ---- */

static uint64_t frequency(void)
{
	uint64_t hz = 0;
	size_t n = 0;
	const char *value = rt_option(&rt.options, "sample", &n);

	if (!rt_option_on(&rt.options, "sample", true))
		return 0;
	for (size_t i = 0; i < n && value[i] >= '0' && value[i] <= '9' && hz <= MOST_HZ; i++)
		hz = hz * 10 + (uint64_t)(value[i] - '0');
	if (!hz)
		return DEFAULT_HZ;
	return hz < MOST_HZ ? hz : MOST_HZ;
}

/* The kernel keeps other mappings away from the first thread's stack. */
static void find_first_stack(void)
{
	enum { GAP = 64 << 20 };
	uint64_t name = getauxval(AT_EXECFN), here = (uint64_t)__builtin_frame_address(0);

	rt.sampling.stack_gap = GAP;
	if (name > here && name - here < GAP)
		rt.sampling.stack_end = name & ~(uint64_t)7;
}

void rt_sample_init(void)
{
	struct timespec tick = { 0 };
	uint64_t hz = frequency(), tick_ns;

	if (!hz)
		return;
	rt.sampling.stacks = rt_option_on(&rt.options, "stacks", true);
	rt.sampling.period_ns = second_ns / hz;
	SYS2(clock_getres, CLOCK_MONOTONIC_COARSE, &tick);
	tick_ns = (uint64_t)tick.tv_nsec;
	if (tick_ns < rt.sampling.period_ns)
		tick_ns = rt.sampling.period_ns;
	rt.sampling.most_ns = tick_ns * PATIENCE;
	find_first_stack();
	if (!choose_signal(HIGHEST))
		rt.sampling.period_ns = 0;
}

/* The clock of a thread goes on while it is not sampled. */
static void resume(struct rt_thread *t)
{
	uint64_t now = rt_now_ns(clock_of(t->tid));

	t->clock.excluded_ns += now - t->clock.stopped_ns;
	t->clock.last_ns = now;
	arm(t);
}

static void stop(struct rt_thread *t)
{
	delete_timer(&t->clock.timer);
	t->clock.stopped_ns = rt_now_ns(clock_of(t->tid));
	read_clock(t);
}

void rt_sample_on(bool on)
{
	uint64_t mask, now;

	if (!rt.sampling.period_ns || rt.silent || rt.sampling.on == on || !rt_lock(&mask))
		return;
	rt.sampling.on = on;
	now = rt_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (on)
		rt.sampling.excluded_ns += now - rt.sampling.stopped_ns;
	else {
		rt.sampling.stopped_ns = now;
		delete_timer(&rt_tls.timer);
	}
	for (struct rt_thread *t = rt.threads; t; t = t->next)
		if (is_alive(t))
			(on ? resume : stop)(t);
	if (!on)
		drain();
	rt_unlock(mask);
}

/* Threads that nobody has told us of get timers, and are attached by their first signal. */
static void adopt(uint32_t tid)
{
	int32_t timer;

	for (const struct rt_thread *t = rt.threads; t; t = t->next)
		if (t->tid == tid && t->clock.timer)
			return;
	if (tid != (uint32_t)SYS0(gettid))
		new_timer(tid, &timer);
}

static void adopt_others(void)
{
	struct entry {
		uint64_t ino, off;
		uint16_t size;
		uint8_t type;
		char name[];
	};
	_Alignas(8) char buf[1024];
	long n, fd = SYS4(openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC,
			  0);

	if (fd < 0)
		return;
	while ((n = SYS3(getdents64, fd, buf, sizeof(buf))) > 0)
		for (long at = 0; at < n;) {
			const struct entry *e = (const struct entry *)(buf + at);
			uint32_t tid = 0;

			for (const char *s = e->name; *s >= '0' && *s <= '9'; s++)
				tid = tid * 10 + (uint32_t)(*s - '0');
			if (tid)
				adopt(tid);
			at += e->size;
		}
	SYS1(close, fd);
}

void rt_sample_begin(void)
{
	if (!rt.sampling.period_ns || rt.paused)
		return;
	rt_sample_on(true);
	if (!rt_ready() || !rt_thread())
		return;
	adopt_others();
}

/* The file comes with the first sample: many children only become another program. */
void rt_sample_forked(void)
{
	if (!rt.sampling.period_ns || rt.silent || rt.state == RT_OFF)
		return;
	rt.sampling.excluded_ns = rt.sampling.stopped_ns = 0;
	rt.sampling.owed_ns = 0;
	rt.sampling.sweep = NULL;
	rt_tls.timer = 0;
	if (rt.sampling.on && !rt_tls.thread)
		new_timer((uint32_t)SYS0(gettid), &rt_tls.timer);
}

void rt_sample_finish(void)
{
	uint64_t stopped = 0;

	rt.header->cpu_ns = rt_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (!rt.sampling.period_ns)
		return;
	if (!rt.sampling.on)
		stopped = rt.header->cpu_ns - rt.sampling.stopped_ns;
	rt.header->cpu_ns -= rt.sampling.excluded_ns + stopped;
	if (rt.sampling.on)
		for (struct rt_thread *t = rt.threads; t; t = t->next)
			if (is_alive(t))
				read_clock(t);
}
