/* rt_sample.c - samples CPU time, by the clock.
 *
 * Each thread has a kernel timer on its own CPU clock, which sends it a signal. The handler reads
 * that clock: the time since the last sample is the weight of this one. Kernels that check such
 * timers only at their tick deliver fewer samples than requested, each with a larger weight.
 *
 * If the thread slept in between, or only began, the sample does not stand for what was before: no
 * tick saw that, maybe because the thread works in step with the ticks. The sample then has a small
 * weight, and the rest belongs to no place.
 *
 * The signal is one that is ignored by default. So a process that resets it, or inherits a pending
 * one, is not killed by it, and debuggers let it pass. If the program uses that signal itself, a
 * real-time signal replaces it.
 *
 * The handler leaves the program's stack at once: that may be a small signal stack, or nearly full,
 * and already holds the kernel's frame.
 *
 * Timers are not inherited by forked children and do not survive exec. The signal is blocked
 * wherever rt_lock() is held. CPU time without samples (asleep in between, signals were blocked,
 * timers refused) is the difference between cpu_ns and sampled_ns in the file. */
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
	FIRST = SIGURG, /* the signal to try first */
	SECOND = 62,    /* then from here down to LAST; other software starts with the highest */
	LAST = 35,
	GENUINE = 8,   /* pending signals of others that drain() can give back */
	SWEEP = 2,     /* threads checked when one is added */
	PATIENCE = 16, /* ticks that a sample may stand for if the thread did not sleep. After more
			  than this, signals must have been blocked */
	PART = 4,      /* the part of a tick that a sample may stand for if it slept */
};
static const uint64_t second_ns = 1000000000;
static const uint64_t tell_every_ns = 250000000;
static const char signal_taken[] = "sampling ended when the program took the signal for it";

static void on_signal(int signal, siginfo_t *info, void *context);

/* qemu 7.2 expects a restorer before the mask, even on machines whose kernel has none. */
struct padded_action {
	struct rt_action action;
	uint64_t mask;
};

long rt_action_set(int signal, const struct rt_action *a)
{
	struct padded_action own = { *a, a->mask };

	rt_action_returns(&own.action);
	return SYS4(rt_sigaction, signal, &own, NULL, 8);
}

long rt_action_get(int signal, struct rt_action *ret)
{
	struct padded_action own;
	long err = SYS4(rt_sigaction, signal, NULL, &own, 8);

	if (!err)
		*ret = own.action;
	return err;
}

/* ---- clocks and timers ---- */

/* The CPU clock of a thread of this process, in the kernel's numbering. */
static int clock_of(uint32_t tid) { return (int)(~tid << 3 | 6); }

static struct timespec span_of(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (long)(ns / second_ns),
				  .tv_nsec = (long)(ns % second_ns) };
}

static long set_timer(int32_t timer, uint64_t first_ns)
{
	const struct itimerspec t = { .it_interval = span_of(rt.sampling.period_ns),
				      .it_value = span_of(first_ns) };

	return SYS4(timer_settime, timer - 1, 0, &t, NULL);
}

/* False if the program has reset or taken the signal by a direct system call. */
static bool has_handler(void)
{
	struct rt_action a;

	return rt_action_get(rt.sampling.signal, &a) || a.handler == on_signal;
}

/* Creates a timer: 0 and *timer, or -errno. */
static long new_timer(uint32_t tid, int32_t *timer)
{
	struct sigevent e = { .sigev_signo = rt.sampling.signal,
			      .sigev_notify = SIGEV_THREAD_ID,
			      .sigev_value.sival_ptr = &rt.sampling };
	int id;
	long err;

	if (!has_handler()) {
		rt_sample_end(signal_taken);
		return -EBUSY;
	}
	e._sigev_un._tid = (pid_t)tid;
	err = SYS3(timer_create, clock_of(tid), &e, &id);
	if (err)
		return err;
	*timer = id + 1;
	/* The first expiry is immediate, that is at the first tick: so a thread that lives for less
	 * than a period is sampled as often as its share of CPU time requires. */
	return set_timer(*timer, 1);
}

/* Moves the next sample by up to half a period, at random. A program that works in step with the
 * period would else be sampled at the same point each time. The tick itself adds half a tick of
 * chance, and if it is longer than the period there is nothing to vary. */
static void vary(struct rt_clock *c)
{
	uint64_t period = rt.sampling.period_ns;

	if (period <= rt.sampling.tick_ns)
		return;
	c->random = c->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	set_timer(c->timer, period / 2 + (c->random >> 32) * period / (UINT64_C(1) << 32) -
				    rt.sampling.tick_ns / 2);
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

/* With the signal blocked: removes pending signals of deleted timers, and no others. */
static void drain(void)
{
	const struct timespec now = { 0 };
	uint64_t set = (uint64_t)1 << (rt.sampling.signal - 1);
	siginfo_t info, genuine[GENUINE];
	int n = 0;

	while (n < GENUINE && SYS4(rt_sigtimedwait, &set, &info, &now, 8) > 0)
		if (info.si_code != SI_TIMER)
			genuine[n++] = info;
	while (n--)
		SYS3(rt_sigqueueinfo, rt.pid, genuine[n].si_signo, &genuine[n]);
}

static bool is_alive(const struct rt_thread *t)
{
	return !t->clock.ended && SYS3(tgkill, rt.pid, t->tid, 0) != -ESRCH;
}

/* Deletes timers of threads that ended unnoticed. */
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

/* A signal of this number that no timer of ours sent: gives it the effect that it has without
 * us. */
static void not_ours(int signal)
{
	const struct rt_action by_default = { 0 };

	if (signal == FIRST) /* ignored by default */
		return;
	SYS4(rt_sigaction, signal, &by_default, NULL, 8);
	SYS3(tgkill, rt.pid, SYS0(gettid), signal);
}

static void tell_cpu_time(struct rt_thread *t, uint64_t now)
{
	t->clock.told_ns = now;
	rt_thread_name();
	rt.header->cpu_ns = rt_now_ns(CLOCK_PROCESS_CPUTIME_ID) - rt.sampling.excluded_ns;
}

/* How often the thread has slept: waited for anything but a processor. */
static uint64_t sleeps(void)
{
	struct rusage u = { 0 };

	SYS2(getrusage, RUSAGE_THREAD, &u);
	return (uint64_t)u.ru_nvcsw;
}

/* CPU time since the last sample, as far as this one can stand for it. The first sample of a thread
 * has a fixed weight: all moments of a thread shorter than a tick have the same chance to meet the
 * tick, so they need the same weight, too. If the time exceeds most_ns, signals were blocked, and
 * the sample only gets the time of one period or tick. */
static uint64_t weight_of(struct rt_thread *t, uint64_t now)
{
	uint64_t weight = now - t->clock.last_ns, n = sleeps();
	bool slept = n != t->clock.sleeps;

	t->clock.last_ns = now;
	if (!t->clock.met) {
		t->clock.met = true;
		return rt.sampling.least_ns;
	}
	if (slept && weight > rt.sampling.least_ns)
		return rt.sampling.least_ns;
	return weight > rt.sampling.most_ns ? rt.sampling.most_ns / PATIENCE : weight;
}

static void sample(struct rt_thread *t, const void *context)
{
	uint64_t now = rt_now_ns(CLOCK_THREAD_CPUTIME_ID), weight = weight_of(t, now);

	vary(&t->clock);
	rt_stacks_add(t, context, weight);
	__atomic_fetch_add(&rt.header->sampled_ns, weight, __ATOMIC_RELAXED);
	if (t->record) {
		t->record->cpu_ns = t->clock.earlier_ns + now - t->clock.excluded_ns;
		t->record->sampled_ns += weight;
		t->record->samples++;
	}
	if (now - t->clock.told_ns > tell_every_ns)
		tell_cpu_time(t, now);
	t->clock.sleeps = sleeps(); /* writing to the file may have to wait */
}

struct tick {
	const siginfo_t *info;
	const void *context;
};

/* Runs on the runtime's own stack. */
static void take_sample(void *arg)
{
	const struct tick *tick = arg;
	struct rt_thread *t;

	if (!rt_tls.thread && !rt_tls.timer)
		rt_tls.timer = tick->info->si_timerid + 1;
	if (!rt_ready())
		return;
	rt_tls.sampling = true;
	t = rt_thread();
	if (t && t->clock.timer && !t->clock.own_since_ns)
		sample(t, tick->context);
	rt_tls.sampling = false;
}

/* Stack for the first sample of a thread that was not announced; one thread at a time. */
static struct {
	rt_flag taken;
	_Alignas(16) uint8_t stack[RT_OWN_STACK];
} spare;

/* All other signals are blocked, so no handler can leave this one by longjmp(). */
static void on_signal(int signal, siginfo_t *info, void *context)
{
	struct tick tick = { info, context };
	uint32_t taken = 0;

	if (rt.silent)
		return;
	if (info->si_code != SI_TIMER)
		not_ours(signal);
	else if (!rt.sampling.on)
		return;
	else if (rt_tls.thread && rt_tls.thread->own_stack)
		rt_on_stack(rt_tls.thread->own_stack + RT_OWN_STACK, take_sample, &tick);
	else if (atomic_compare_exchange_strong(&spare.taken, &taken, 1)) {
		rt_on_stack(spare.stack + RT_OWN_STACK, take_sample, &tick);
		atomic_store(&spare.taken, 0);
	} /* otherwise the next sample stands for this time, too */
}

/* ---- signals ---- */

static bool is_free(int signal, uint64_t blocked)
{
	struct rt_action a;

	return !(blocked >> (signal - 1) & 1) && !rt_action_get(signal, &a) && !a.handler;
}

/* The candidate after `signal`, which is taken; after 0: the first one. Returns 0 if none is
 * left. */
static int next_signal(int signal)
{
	if (!signal)
		return FIRST;
	if (signal == FIRST)
		return SECOND;
	return signal > LAST ? signal - 1 : 0;
}

void rt_sample_end(const char *why)
{
	rt.sampling.period_ns = 0;
	rt.sampling.ended = why;
	rt_error(why, 0);
}

uint64_t rt_sample_signals(void)
{
	uint64_t set = 0;

	for (int s = next_signal(0); s; s = next_signal(s))
		set |= (uint64_t)1 << (s - 1);
	return set;
}

static const struct rt_action handling = {
	.handler = on_signal,
	.flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK,
	.mask = ~RT_BUS,
};
static const struct rt_action ignored = { .handler = (rt_handler *)1 }; /* SIG_IGN */

static bool install_after(int signal, uint64_t blocked)
{
	for (int s = next_signal(signal); s; s = next_signal(s))
		if (is_free(s, blocked)) {
			rt.sampling.signal = s;
			rt.sampling.ignored = false;
			if (!rt_action_set(s, &handling))
				return true;
		}
	return false;
}

/* `blocked`: the signals that this thread blocks when it does not hold the lock. A blocked signal
 * is better than none: other threads may not block it, and this one may unblock it later. */
static bool choose_signal(int after, uint64_t blocked)
{
	if (install_after(after, blocked) || install_after(after, 0))
		return true;
	rt_sample_end("no signal is left for sampling");
	return false;
}

bool rt_sample_is_ours(int signal) { return rt.sampling.period_ns && signal == rt.sampling.signal; }

/* The old signal keeps our handler, for signals on their way, until the program sets its own. */
bool rt_sample_give_way(int signal)
{
	uint64_t mask;

	if (!rt_sample_is_ours(signal) || rt.silent)
		return false;
	/* a child of vfork shares our memory, but has actions and timers of its own */
	if ((uint32_t)SYS0(getpid) != rt.pid || !rt_lock(&mask))
		return false;
	for (struct rt_thread *t = rt.threads; t; t = t->next)
		delete_timer(&t->clock.timer);
	delete_timer(&rt_tls.timer);
	drain();
	rt.sampling.given_up |= (uint64_t)1 << (signal - 1);
	if (choose_signal(signal, mask) && rt.sampling.on)
		for (struct rt_thread *t = rt.threads; t; t = t->next)
			if (is_alive(t))
				arm(t);
	rt_unlock(mask);
	return true;
}

/* Handles a signal that we have given up but that still has our handler. */
static bool was_ours(int signal, const struct rt_action *act, struct rt_action *old)
{
	struct rt_action now;

	if (signal < LAST && signal != FIRST)
		return false;
	if (signal > SECOND || !(rt.sampling.given_up >> (signal - 1) & 1) ||
	    rt_action_get(signal, &now) || now.handler != on_signal)
		return false;
	if (old)
		*old = (struct rt_action){ 0 };
	if (!act)
		return true;
	return !rt_action_set(signal, act);
}

/* If the program sets an ordinary handler it gets the signal, and sampling takes another one. For
 * SIG_DFL and SIG_IGN we keep the signal: only our timers send it. */
bool rt_sample_action(int signal, const struct rt_action *act, struct rt_action *old)
{
	if (!rt_sample_is_ours(signal))
		return was_ours(signal, act, old);
	if (old)
		*old = rt.sampling.ignored ? ignored : (struct rt_action){ 0 };
	if (!act)
		return true;
	if ((uint32_t)SYS0(getpid) != rt.pid) /* a child of vfork has actions of its own */
		return !rt_action_set(signal, act);
	if (act->handler && act->handler != ignored.handler)
		return !rt_sample_give_way(signal) || !rt_action_set(signal, act);
	rt.sampling.ignored = act->handler;
	return true;
}

/* If the program ignores our signal, the program that it executes must inherit that. */
void rt_sample_exec(bool about_to)
{
	if (!rt.sampling.ignored || !rt.sampling.period_ns)
		return;
	if (about_to)
		SYS4(rt_sigaction, rt.sampling.signal, &ignored, NULL, 8);
	else
		rt_action_set(rt.sampling.signal, &handling);
}

/* ---- threads ---- */

void rt_sample_attach(struct rt_thread *t)
{
	uint64_t now;

	if (!rt.sampling.period_ns || rt.silent)
		return;
	if (!t->own_stack)
		t->own_stack = rt_memory(RT_OWN_STACK);
	now = rt_now_ns(CLOCK_THREAD_CPUTIME_ID);
	delete_timer(&t->clock.timer);
	t->clock = (struct rt_clock){ .stack = rt_tls.stack, .stack_end = rt_tls.stack_end };
	t->clock.last_ns = t->clock.excluded_ns = t->clock.told_ns = now;
	t->clock.random = now ^ (uint64_t)t->tid << 32;
	t->clock.earlier_ns = t->record ? t->record->cpu_ns : 0;
	if (t->tid == rt.pid && rt.sampling.stack_end && !rt_tls.stack_end) {
		t->clock.stack_end = rt.sampling.stack_end;
		t->clock.stack = t->clock.stack_end - rt.sampling.stack_gap;
	}
	if (rt_tls.timer) { /* the timer was running already, and this is its first signal */
		uint64_t used = now > rt.sampling.most_ns ? rt.sampling.period_ns : now;

		t->clock.timer = rt_tls.timer;
		t->clock.last_ns = t->clock.excluded_ns = now - used;
		rt_tls.timer = 0;
	} else if (rt.sampling.on)
		arm(t);
	sweep();
}

/* Called in a thread's first function. Its frame and the thread pointer, at the end of the same
 * mapping, bound the thread's stack. */
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
		t->record->cpu_ns = t->clock.earlier_ns + now - t->clock.excluded_ns;
}

void rt_sample_thread_ends(void)
{
	struct rt_thread *t = rt_tls.thread;
	uint64_t mask;

	/* also in a child of vfork, where this thread does not belong to the process */
	if (!rt.sampling.period_ns || !t || (uint32_t)SYS0(gettid) != t->tid || !rt_lock(&mask))
		return;
	delete_timer(&t->clock.timer);
	if (rt.sampling.on)
		read_clock(t);
	drain();
	t->clock.ended = true;
	if (t->record)
		t->record->end_ns = rt_now_ns(CLOCK_MONOTONIC);
	rt_unlock(mask);
}

/* ---- beginning and ending ---- */

void rt_sample_file(void)
{
	rt_own_code(&rt.sampling.own, &rt.sampling.own_end);
	rt.header->own_start = rt.sampling.own;
	rt.header->own_end = rt.sampling.own_end;
	rt.header->period_ns = rt.sampling.period_ns;
	if (rt.cost_known)
		rt_cost_file();
	if (rt.sampling.ended)
		rt_error(rt.sampling.ended, 0);
}

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

/* The kernel leaves a gap below the first thread's stack. */
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
	uint64_t hz = frequency(), blocked = 0, longest;

	if (!hz)
		return;
	rt.sampling.stacks = rt_option_on(&rt.options, "stacks", true);
	rt.sampling.period_ns = second_ns / hz;
	SYS2(clock_getres, CLOCK_MONOTONIC_COARSE, &tick);
	rt.sampling.tick_ns = longest = (uint64_t)tick.tv_nsec;
	if (longest < rt.sampling.period_ns)
		longest = rt.sampling.period_ns;
	rt.sampling.most_ns = longest * PATIENCE;
	rt.sampling.least_ns = rt.sampling.tick_ns / PART;
	if (rt.sampling.least_ns > rt.sampling.period_ns)
		rt.sampling.least_ns = rt.sampling.period_ns;
	find_first_stack();
	SYS4(rt_sigprocmask, SIG_BLOCK, NULL, &blocked, 8);
	choose_signal(0, blocked);
}

/* A thread's CPU clock also runs while sampling is paused. */
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

void rt_sample_own(bool begins)
{
	struct rt_thread *t = rt_tls.thread;
	uint64_t now, own;

	if (!rt.sampling.period_ns || !t || !t->clock.timer)
		return;
	now = rt_now_ns(CLOCK_THREAD_CPUTIME_ID);
	if (begins) {
		t->clock.own_since_ns = now;
	} else if (t->clock.own_since_ns) {
		own = now - t->clock.own_since_ns;
		t->clock.own_since_ns = 0;
		t->clock.last_ns += own;
		t->clock.excluded_ns += own;
		__atomic_fetch_add(&rt.sampling.excluded_ns, own, __ATOMIC_RELAXED);
	}
}

/* Gives a timer to a thread that was not announced. Its first signal attaches it. */
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
	if (!rt.sampling.period_ns || rt.paused) {
		if (rt.sampling.ended)
			rt_ready(); /* no sample will come: create the file, so that it says why */
		return;
	}
	rt_sample_on(true);
	if (!rt_ready() || !rt_thread())
		return;
	adopt_others();
}

/* The child does not inherit timers, and its clocks start at 0. */
void rt_sample_drop(void)
{
	rt.sampling.excluded_ns = rt.sampling.stopped_ns = 0;
	rt.sampling.sweep = NULL;
	spare.taken = 0; /* the thread that took it is not in this process */
	rt_tls.timer = 0;
}

/* The first sample creates the file: many children only execute another program. */
void rt_sample_forked(void)
{
	if (!rt.sampling.period_ns || rt.silent || rt.state == RT_OFF)
		return;
	if (rt.sampling.on && !rt_tls.thread)
		new_timer((uint32_t)SYS0(gettid), &rt_tls.timer);
}

void rt_sample_finish(void)
{
	uint64_t stopped = 0;

	rt.header->cpu_ns = rt_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (!rt.sampling.period_ns)
		return;
	if (!has_handler())
		rt_error(signal_taken, 0);
	if (!rt.sampling.on)
		stopped = rt.header->cpu_ns - rt.sampling.stopped_ns;
	rt.header->cpu_ns -= rt.sampling.excluded_ns + stopped;
	if (rt.sampling.on)
		for (struct rt_thread *t = rt.threads; t; t = t->next)
			if (is_alive(t))
				read_clock(t);
}
