/* Threads being made, and the signal of sampling: calls of the program's that we have to know of.
 * It goes on seeing its signals as if nobody used one. */
#include "rt.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#ifdef RT_STATIC

void rt_signals_init(void) {}

#else

typedef void *start_function(void *);
typedef void handler_function(int);

RT_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, start_function *start,
			     void *arg);
RT_EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old);
RT_EXPORT handler_function *signal(int sig, handler_function *handler);
RT_EXPORT int sigpending(sigset_t *set);
RT_EXPORT int sigwait(const sigset_t *set, int *sig);
RT_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info);
RT_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout);

extern int pthread_attr_init(pthread_attr_t *) __attribute__((weak));
extern int pthread_attr_getstacksize(const pthread_attr_t *, size_t *) __attribute__((weak));
extern int pthread_attr_destroy(pthread_attr_t *) __attribute__((weak));
extern int pthread_key_create(pthread_key_t *, void (*)(void *)) __attribute__((weak));
extern int pthread_setspecific(pthread_key_t, const void *) __attribute__((weak));

/* ---- threads ---- */

/* What a new thread is to do; given back as soon as it knows. */
struct start {
	_Atomic bool taken;
	start_function *function;
	void *arg;
	uint64_t stack_size;
};
enum { STARTS = 128 };
static struct start starts[STARTS];
static pthread_key_t key;
static bool has_key;

static struct start *take(void)
{
	for (int i = 0; i < STARTS; i++) {
		bool taken = false;

		if (!starts[i].taken &&
		    atomic_compare_exchange_strong(&starts[i].taken, &taken, true))
			return &starts[i];
	}
	return NULL;
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
	rt_sample_thread_ends();
}

static void *starts_thread(void *arg)
{
	struct start s = *(struct start *)arg;

	atomic_store(&((struct start *)arg)->taken, false);
	rt_sample_thread_starts(s.stack_size);
	if (has_key)
		pthread_setspecific(key, &key);
	arg = s.function(s.arg);
	__asm__ volatile(""
			 : "+r"(arg)); /* no tail call: this is the frame that bounds the stack */
	return arg;
}

typedef int create_function(pthread_t *, const pthread_attr_t *, start_function *, void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, start_function *start, void *arg)
{
	static create_function *_Atomic real;
	struct start *s;
	int ret;

	if (!real)
		real = (create_function *)dlsym(RTLD_NEXT, "pthread_create");
	s = rt.sampling.period_ns ? take() : NULL;
	if (!s)
		return real(thread, attr, start, arg);
	s->function = start;
	s->arg = arg;
	s->stack_size = stack_size(attr);
	ret = real(thread, attr, starts_thread, s);
	if (ret)
		atomic_store(&s->taken, false);
	return ret;
}

/* ---- dispositions ---- */

/* An ordinary function takes the signal over, and we use another one. With SIG_DFL and SIG_IGN it
 * may stay as it is: none comes but ours. */
static bool stays_ours(int sig, bool change, handler_function *handler)
{
	if (!rt_sample_is_ours(sig))
		return false;
	if (change && handler != SIG_DFL && handler != SIG_IGN)
		rt_sample_give_way(sig);
	return rt_sample_is_ours(sig);
}

typedef int action_function(int, const struct sigaction *, struct sigaction *);

int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	static action_function *_Atomic real;
	bool was = rt_sample_is_ours(sig);
	int ret = 0;

	if (!real)
		real = (action_function *)dlsym(RTLD_NEXT, "sigaction");
	if (!stays_ours(sig, act, act ? act->sa_handler : SIG_DFL))
		ret = real(sig, act, old);
	if (was && old && !ret) {
		clear_bytes(old, sizeof(*old));
		old->sa_handler = SIG_DFL;
	}
	return ret;
}

handler_function *signal(int sig, handler_function *handler)
{
	static handler_function *(*_Atomic real)(int, handler_function *);
	bool was = rt_sample_is_ours(sig);
	handler_function *ret = SIG_DFL;

	if (!real)
		real = (handler_function * (*)(int, handler_function *)) dlsym(RTLD_NEXT, "signal");
	if (!stays_ours(sig, true, handler))
		ret = real(sig, handler);
	return was && ret != SIG_ERR ? SIG_DFL : ret;
}

/* ---- waiting ---- */

static bool is_tick(const siginfo_t *info)
{
	return rt_sample_is_ours(info->si_signo) && info->si_code == SI_TIMER &&
	       info->si_value.sival_ptr == &rt.sampling;
}

static uint64_t bits_of(const sigset_t *set)
{
	uint64_t bits;

	__builtin_memcpy(&bits, set, sizeof(bits));
	return bits;
}

int sigpending(sigset_t *set)
{
	uint64_t bits = 0;
	long r = SYS2(rt_sigpending, &bits, 8);

	if (r) {
		errno = (int)-r;
		return -1;
	}
	if (rt.sampling.period_ns)
		bits &= ~((uint64_t)1 << (rt.sampling.signal - 1));
	clear_bytes(set, sizeof(*set));
	copy_bytes(set, &bits, sizeof(bits));
	return 0;
}

/* Where threads may be cancelled while they wait, the C library has to do it. */
typedef int wait_function(const sigset_t *, siginfo_t *, const struct timespec *);

static int wait_for(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	static wait_function *_Atomic real;
	siginfo_t own;
	int ret;

	if (!real)
		real = (wait_function *)dlsym(RTLD_NEXT, "sigtimedwait");
	if (!rt.sampling.period_ns || !(bits_of(set) >> (rt.sampling.signal - 1) & 1))
		return real(set, info, timeout);
	do
		ret = real(set, &own, timeout);
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

void rt_signals_init(void)
{
	if (rt.sampling.period_ns && pthread_key_create && pthread_setspecific)
		has_key = !pthread_key_create(&key, ends);
}

#endif
