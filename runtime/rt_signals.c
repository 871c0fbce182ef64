/* rt_signals.c - intercepted functions for thread creation and signals. The program sees its
 * signals as if sampling used none. If it names our signal it gets it, and sampling takes another
 * one. If it waits for all signals, ours does not reach it.
 *
 * The real functions are found before main, because most of these may be called in signal handlers
 * and dlsym() takes the loader's lock. */
#include "rt.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <time.h>

#ifdef RT_STATIC

void rt_signals_find(void) {}
void rt_signals_init(void) {}

#else

typedef void *start_function(void *);
typedef void handler_function(int);

RT_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, start_function *start,
			     void *arg);
RT_EXPORT int pthread_setname_np(pthread_t thread, const char *name);
RT_EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old);
RT_EXPORT handler_function *signal(int sig, handler_function *handler);
RT_EXPORT handler_function *bsd_signal(int sig, handler_function *handler);
RT_EXPORT handler_function *ssignal(int sig, handler_function *handler);
RT_EXPORT handler_function *sysv_signal(int sig, handler_function *handler);
RT_EXPORT handler_function *__sysv_signal(int sig, handler_function *handler);
RT_EXPORT handler_function *sigset(int sig, handler_function *handler);
RT_EXPORT int sigpending(sigset_t *set);
RT_EXPORT int sigwait(const sigset_t *set, int *sig);
RT_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info);
RT_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout);
RT_EXPORT int sigsuspend(const sigset_t *mask);
RT_EXPORT int signalfd(int fd, const sigset_t *set, int flags);
RT_EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		    const sigset_t *mask);
RT_EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
			  const sigset_t *mask, size_t size);
RT_EXPORT int pselect(int n, fd_set *in, fd_set *out, fd_set *except,
		      const struct timespec *timeout, const sigset_t *mask);
RT_EXPORT int epoll_pwait(int fd, struct epoll_event *events, int n, int timeout,
			  const sigset_t *mask);
RT_EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int n,
			   const struct timespec *timeout, const sigset_t *mask);

/* The C library's functions that ours replace. NULL: the C library has none. */
static struct {
	_Atomic bool found;
	__typeof(pthread_create) *pthread_create;
	int (*pthread_setname_np)(pthread_t, const char *);
	__typeof(sigaction) *sigaction;
	__typeof(signal) *signal;
	__typeof(__sysv_signal) *__sysv_signal;
	handler_function *(*sigset)(int, handler_function *);
	__typeof(sigtimedwait) *sigtimedwait;
	__typeof(sigsuspend) *sigsuspend;
	__typeof(signalfd) *signalfd;
	__typeof(ppoll) *ppoll;
	__typeof(__ppoll_chk) *__ppoll_chk;
	__typeof(pselect) *pselect;
	__typeof(epoll_pwait) *epoll_pwait;
	__typeof(epoll_pwait2) *epoll_pwait2;
} real;

#define FIND(name) real.name = (__typeof(real.name))dlsym(RTLD_NEXT, #name)

void rt_signals_find(void)
{
	FIND(pthread_create);
	FIND(pthread_setname_np);
	FIND(sigaction);
	FIND(signal);
	FIND(__sysv_signal);
	FIND(sigset);
	FIND(sigtimedwait);
	FIND(sigsuspend);
	FIND(signalfd);
	FIND(ppoll);
	FIND(__ppoll_chk);
	FIND(pselect);
	FIND(epoll_pwait);
	FIND(epoll_pwait2);
	atomic_store(&real.found, true);
}

/* Constructors of other libraries may run before ours. */
static void find(void)
{
	if (!real.found)
		rt_signals_find();
}

extern int pthread_attr_init(pthread_attr_t *) __attribute__((weak));
extern int pthread_attr_getstacksize(const pthread_attr_t *, size_t *) __attribute__((weak));
extern int pthread_attr_destroy(pthread_attr_t *) __attribute__((weak));
extern int pthread_key_create(pthread_key_t *, void (*)(void *)) __attribute__((weak));
extern int pthread_setspecific(pthread_key_t, const void *) __attribute__((weak));

/* ---- threads ---- */

/* What a new thread shall run; released as soon as the thread has read it. */
struct signal_start {
	rt_flag taken;
	start_function *function;
	void *arg;
	uint64_t stack_size;
};
enum { STARTS = 128 };
static struct starts {
	struct signal_start at[STARTS];
	struct starts *_Atomic next; /* more, since so many threads waited to run; never freed */
} starts;
static pthread_key_t key;
static bool has_key;

static struct signal_start *take_from(struct starts *s)
{
	for (int i = 0; i < STARTS; i++) {
		uint32_t taken = 0;

		if (!s->at[i].taken && atomic_compare_exchange_strong(&s->at[i].taken, &taken, 1))
			return &s->at[i];
	}
	return NULL;
}

static struct starts *more_after(struct starts *s)
{
	uint64_t mask;

	if (!s->next && rt_lock(&mask)) {
		if (!s->next)
			s->next = rt_memory(sizeof(*s));
		rt_unlock(mask);
	}
	return s->next;
}

static struct signal_start *take(void)
{
	struct signal_start *ret = NULL;

	for (struct starts *s = &starts; s && !ret; s = ret ? s : more_after(s))
		ret = take_from(s);
	return ret;
}

static uint64_t stack_size(const pthread_attr_t *attr)
{
	pthread_attr_t by_default;
	size_t size = 0;

	if (!pthread_attr_getstacksize || !pthread_attr_init || !pthread_attr_destroy)
		return 0;
	if (attr) {
		pthread_attr_getstacksize(attr, &size);
		return size;
	}
	if (!pthread_attr_init(&by_default)) {
		pthread_attr_getstacksize(&by_default, &size);
		pthread_attr_destroy(&by_default);
	}
	return size;
}

static void ends(void *unused)
{
	(void)unused;
	rt_thread_name();
	rt_sample_thread_ends();
}

static void *starts_thread(void *arg)
{
	struct signal_start s = *(struct signal_start *)arg;

	atomic_store(&((struct signal_start *)arg)->taken, 0);
	rt_sample_thread_starts(s.stack_size);
	if (has_key)
		pthread_setspecific(key, &key);
	arg = s.function(s.arg);
	__asm__ volatile("" : "+r"(arg)); /* prevents a tail call: this frame bounds the stack */
	return arg;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, start_function *start, void *arg)
{
	struct signal_start *s;
	int ret;

	find();
	s = rt.sampling.period_ns ? take() : NULL;
	if (!s)
		return real.pthread_create(thread, attr, start, arg);
	s->function = start;
	s->arg = arg;
	s->stack_size = stack_size(attr);
	ret = real.pthread_create(thread, attr, starts_thread, s);
	if (ret)
		atomic_store(&s->taken, 0);
	return ret;
}

/* The calling thread's name is recorded at once, names of others later: their pthread_t does not
 * tell the thread id. */
int pthread_setname_np(pthread_t thread, const char *name)
{
	int ret;

	find();
	ret = real.pthread_setname_np ? real.pthread_setname_np(thread, name) : ENOSYS;
	rt_thread_name();
	return ret;
}

/* ---- dispositions ---- */

static uint64_t bits_of(const sigset_t *set)
{
	uint64_t bits;

	__builtin_memcpy(&bits, set, sizeof(bits));
	return bits;
}

static sigset_t set_of(uint64_t bits)
{
	sigset_t set;

	clear_bytes(&set, sizeof(set));
	copy_bytes(&set, &bits, sizeof(bits));
	return set;
}

static struct rt_action for_kernel(const struct sigaction *act)
{
	return (struct rt_action){ .handler = act->sa_sigaction,
				   .flags = (unsigned int)act->sa_flags,
				   .mask = bits_of(&act->sa_mask) };
}

static void from_kernel(const struct rt_action *a, struct sigaction *ret)
{
	clear_bytes(ret, sizeof(*ret));
	ret->sa_sigaction = a->handler;
	ret->sa_mask = set_of(a->mask);
	ret->sa_flags = (int)a->flags;
}

/* Handles a request for the action of a signal that has a handler of ours; false: it has none. */
static bool is_done(int sig, const struct rt_action *act, struct rt_action *old)
{
	return sig == SIGBUS ? rt_bus_action(act, old) : rt_sample_action(sig, act, old);
}

int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct rt_action own, before;

	find();
	if (act)
		own = for_kernel(act);
	if (!is_done(sig, act ? &own : NULL, &before))
		return real.sigaction(sig, act, old);
	if (old)
		from_kernel(&before, old);
	return 0;
}

/* Like signal(): false if the signal has no handler of ours. */
static bool is_signal_done(int sig, struct sigaction *act, handler_function **ret)
{
	struct rt_action own = for_kernel(act), before;
	struct sigaction old;

	find();
	if (act->sa_handler == SIG_ERR || !is_done(sig, &own, &before))
		return false;
	from_kernel(&before, &old);
	*ret = old.sa_handler;
	return true;
}

handler_function *signal(int sig, handler_function *handler)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = SA_RESTART };
	handler_function *ret;

	act.sa_mask = set_of((uint64_t)1 << ((sig - 1) & 63));
	return is_signal_done(sig, &act, &ret) ? ret : real.signal(sig, handler);
}

handler_function *bsd_signal(int sig, handler_function *handler) { return signal(sig, handler); }
handler_function *ssignal(int sig, handler_function *handler) { return signal(sig, handler); }

/* The C library's signal() for programs that request plain POSIX. */
handler_function *__sysv_signal(int sig, handler_function *handler)
{
	struct sigaction act = { .sa_handler = handler,
				 .sa_flags = (int)(SA_RESETHAND | SA_NODEFER) };
	handler_function *ret;

	return is_signal_done(sig, &act, &ret) ? ret : real.__sysv_signal(sig, handler);
}

handler_function *sysv_signal(int sig, handler_function *handler)
{
	return __sysv_signal(sig, handler);
}

/* sigset() also blocks the signal. */
handler_function *sigset(int sig, handler_function *handler)
{
	handler_function *ret;
	bool was;

	find();
	was = rt_sample_give_way(sig);
	ret = real.sigset(sig, handler);
	return was && ret != SIG_ERR && ret != SIG_HOLD ? SIG_DFL : ret;
}

/* ---- waiting for signals ---- */

static bool is_tick(const siginfo_t *info)
{
	return rt_sample_is_ours(info->si_signo) && info->si_code == SI_TIMER &&
	       info->si_value.sival_ptr == &rt.sampling;
}

/* The bit of our signal in a signal set; 0: sampling uses none. */
static uint64_t our_bit(void)
{
	return rt.sampling.period_ns ? (uint64_t)1 << (rt.sampling.signal - 1) : 0;
}

int sigpending(sigset_t *set)
{
	uint64_t bits = 0;
	long r = SYS2(rt_sigpending, &bits, 8);

	if (r) {
		errno = (int)-r;
		return -1;
	}
	bits &= ~our_bit();
	clear_bytes(set, sizeof(*set));
	copy_bytes(set, &bits, sizeof(bits));
	return 0;
}

/* The program waits for a set that includes our signal. It means that very signal if the set leaves
 * out another signal that sampling could use; a set of all signals names none. */
static void yield_to(const sigset_t *set)
{
	uint64_t all = rt_sample_signals(), bits = bits_of(set);

	while (bits & our_bit() && (bits & all) != all)
		if (!rt_sample_give_way(rt.sampling.signal))
			break;
}

/* If threads may be cancelled while they wait, the C library must make the call. */
static int wait_for(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	siginfo_t own;
	int ret;

	find();
	yield_to(set);
	if (!(bits_of(set) & our_bit()))
		return real.sigtimedwait(set, info, timeout);
	do
		ret = real.sigtimedwait(set, &own, timeout);
	while (ret > 0 && is_tick(&own));
	if (ret > 0 && info)
		*info = own;
	return ret;
}

int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	return wait_for(set, info, timeout);
}

int sigwaitinfo(const sigset_t *set, siginfo_t *info) { return wait_for(set, info, NULL); }

int sigwait(const sigset_t *set, int *sig)
{
	int err = errno, ret;

	do
		ret = wait_for(set, NULL, NULL);
	while (ret < 0 && errno == EINTR);
	if (ret < 0) {
		ret = errno;
		errno = err;
		return ret;
	}
	errno = err;
	*sig = ret;
	return 0;
}

int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t without;

	find();
	yield_to(set);
	without = set_of(bits_of(set) & ~our_bit());
	return real.signalfd(fd, &without, flags);
}

/* A mask that includes our signal. A call that unblocks signals only while it waits must not be
 * woken by an earlier one of ours. A waiting thread uses no CPU time, so no sample is missed. */
static sigset_t with_ours(const sigset_t *mask)
{
	return set_of((mask ? bits_of(mask) : 0) | our_bit());
}

int sigsuspend(const sigset_t *mask)
{
	sigset_t own = with_ours(mask);

	find();
	return real.sigsuspend(&own);
}

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	sigset_t own = with_ours(mask);

	find();
	return real.ppoll(fds, n, timeout, mask ? &own : NULL);
}

int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
		size_t size)
{
	sigset_t own = with_ours(mask);

	find();
	return real.__ppoll_chk(fds, n, timeout, mask ? &own : NULL, size);
}

int pselect(int n, fd_set *in, fd_set *out, fd_set *except, const struct timespec *timeout,
	    const sigset_t *mask)
{
	sigset_t own = with_ours(mask);

	find();
	return real.pselect(n, in, out, except, timeout, mask ? &own : NULL);
}

int epoll_pwait(int fd, struct epoll_event *events, int n, int timeout, const sigset_t *mask)
{
	sigset_t own = with_ours(mask);

	find();
	return real.epoll_pwait(fd, events, n, timeout, mask ? &own : NULL);
}

int epoll_pwait2(int fd, struct epoll_event *events, int n, const struct timespec *timeout,
		 const sigset_t *mask)
{
	sigset_t own = with_ours(mask);

	find();
	if (real.epoll_pwait2)
		return real.epoll_pwait2(fd, events, n, timeout, mask ? &own : NULL);
	errno = ENOSYS;
	return -1;
}

/* ---- the same by system calls of the program's own ---- */

enum { MASK = 8 }; /* bytes of the kernel's signal sets */
struct mask_at {
	uint64_t mask, size;
};

/* Reads the program's set. False if there is none, or the kernel will refuse it. */
static bool read_set(long at, long size, sigset_t *ret)
{
	uint64_t bits;

	if (size != MASK || !rt_peek((uint64_t)at, &bits, sizeof(bits)))
		return false;
	*ret = set_of(bits);
	return true;
}

/* As wait_for(). */
static long wait_by_call(long *a)
{
	siginfo_t own, *info = a[1] ? (siginfo_t *)a[1] : &own;
	sigset_t set;
	long ret;

	if (read_set(a[0], a[3], &set))
		yield_to(&set);
	do
		ret = SYS4(rt_sigtimedwait, a[0], info, a[2], a[3]);
	while (ret > 0 && is_tick(info));
	return ret;
}

static long pending_by_call(uint64_t *set, long size)
{
	long ret = SYS2(rt_sigpending, set, size);

	if (!ret && size == MASK)
		*set &= ~our_bit();
	return ret;
}

/* The index of the argument that points to the mask for the time of the wait; -1: it has none. Its
 * size follows. */
static int mask_argument(long number)
{
	switch (number) {
	case SYS_rt_sigsuspend:
		return 0;
	case SYS_ppoll:
		return 3;
	case SYS_epoll_pwait:
#ifdef SYS_epoll_pwait2
	case SYS_epoll_pwait2:
#endif
		return 4;
	default:
		return -1;
	}
}

static long call(long number, const long *a)
{
	return sys(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* A call whose sixth argument points to the mask's address and size. */
static long call_with_pair(long number, long *a)
{
	struct mask_at m;
	sigset_t own;

	if (!rt_peek((uint64_t)a[5], &m, sizeof(m)) || !read_set((long)m.mask, (long)m.size, &own))
		return call(number, a);
	own = with_ours(&own);
	m.mask = (uint64_t)(uintptr_t)&own;
	a[5] = (long)&m;
	return call(number, a);
}

static long call_with_mask(long number, long *a, int at)
{
	sigset_t own;

	if (!read_set(a[at], a[at + 1], &own))
		return call(number, a);
	own = with_ours(&own);
	a[at] = (long)&own;
	return call(number, a);
}

static long signalfd_by_call(long number, long *a)
{
	sigset_t set;

	if (read_set(a[1], a[2], &set)) {
		yield_to(&set);
		set = set_of(bits_of(&set) & ~our_bit());
		a[1] = (long)&set;
	}
	return call(number, a);
}

long rt_signals_call(long number, const long *args)
{
	long a[6] = { args[0], args[1], args[2], args[3], args[4], args[5] };
	int at = mask_argument(number);

	if (number == SYS_rt_sigaction)
		return is_done((int)a[0], (const void *)a[1], (void *)a[2])
			       ? 0
			       : SYS4(rt_sigaction, a[0], a[1], a[2], a[3]);
	if (!our_bit() || rt.silent)
		return call(number, a);
	if (at >= 0)
		return call_with_mask(number, a, at);
	switch (number) {
	case SYS_pselect6:
#ifdef SYS_io_pgetevents
	case SYS_io_pgetevents:
#endif
		return call_with_pair(number, a);
	case SYS_rt_sigtimedwait:
		return wait_by_call(a);
	case SYS_rt_sigpending:
		return pending_by_call((uint64_t *)a[0], a[1]);
#ifdef SYS_signalfd
	case SYS_signalfd:
#endif
	case SYS_signalfd4:
		return signalfd_by_call(number, a);
	default:
		return call(number, a);
	}
}

/* ---- start ---- */

void rt_signals_init(void)
{
	if (rt.sampling.period_ns && pthread_key_create && pthread_setspecific)
		has_key = !pthread_key_create(&key, ends);
}

#endif
