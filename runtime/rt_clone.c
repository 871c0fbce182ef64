/* rt_clone.c - processes and threads that are not made by fork() and pthread_create(): _Fork(),
 * clone(), their system calls, and thrd_create(). All functions here behave as the C library's own.
 * Children that share our memory are not followed. The file says so unless the parent waits for
 * them, as it does for children that execute another program. */
#include "rt.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <threads.h>

#ifdef RT_STATIC

void rt_clone_init(void) {}

#else

typedef int clone_function(int (*)(void *), void *, int, void *, ...);
typedef int thread_function(thrd_t *, thrd_start_t, void *);

RT_EXPORT pid_t _Fork(void);
RT_EXPORT int clone(int (*f)(void *), void *stack, int flags, void *arg, ...);
RT_EXPORT int thrd_create(thrd_t *thread, thrd_start_t start, void *arg);

static pid_t (*real_fork)(void);
static clone_function *real_clone;
static thread_function *real_thread;

void rt_clone_init(void)
{
	real_fork = (pid_t(*)(void))dlsym(RTLD_NEXT, "_Fork");
	real_clone = (clone_function *)dlsym(RTLD_NEXT, "clone");
	real_thread = (thread_function *)dlsym(RTLD_NEXT, "thrd_create");
}

/* ---- processes ---- */

pid_t _Fork(void)
{
	pid_t child;

	if (!real_fork)
		rt_clone_init();
	if (!real_fork) { /* the C library has no _Fork() */
		errno = ENOSYS;
		return -1;
	}
	child = real_fork();
	if (!child)
		rt_forked();
	return child;
}

struct clone_start {
	int (*f)(void *);
	void *arg;
};

/* The child has a copy of the parent's memory, so the parent's stack is at the same address. */
static int starts_process(void *arg)
{
	const struct clone_start *s = arg;

	rt_forked();
	return s->f(s->arg);
}

int clone(int (*f)(void *), void *stack, int flags, void *arg, ...)
{
	struct clone_start s = { f, arg };
	void *parent_tid, *tls, *child_tid;
	va_list more;
	int child;

	va_start(more, arg);
	parent_tid = va_arg(more, void *);
	tls = va_arg(more, void *);
	child_tid = va_arg(more, void *);
	va_end(more);
	if (!real_clone)
		rt_clone_init();
	if (flags & CLONE_VM || !f) {
		child = real_clone(f, stack, flags, arg, parent_tid, tls, child_tid);
		if (child > 0 && !(flags & (CLONE_THREAD | CLONE_VFORK)) && rt.sampling.period_ns)
			rt_error("a process with the same memory (CLONE_VM) was not sampled", 0);
		return child;
	}
	return real_clone(starts_process, stack, flags, &s, parent_tid, tls, child_tid);
}

bool rt_makes_process(long number, long first)
{
#ifdef SYS_fork
	if (number == SYS_fork)
		return true;
#endif
	if (number == SYS_clone3)
		return first && !(((const struct clone_args *)first)->flags & CLONE_VM);
	return number == SYS_clone && !(first & CLONE_VM);
}

/* ---- threads ---- */

/* The C library's threads are of one kind. thrd_join() takes the int result from the pointer that
 * the start function returns. */
int thrd_create(thrd_t *thread, thrd_start_t start, void *arg)
{
	int err;

	_Static_assert(sizeof(thrd_t) == sizeof(pthread_t), "one is the other");
	if (!real_thread)
		rt_clone_init();
	if (!rt.sampling.period_ns)
		return real_thread(thread, start, arg);
	err = pthread_create((pthread_t *)thread, NULL, (void *(*)(void *))(void *)start, arg);
	return err == 0 ? thrd_success : err == ENOMEM ? thrd_nomem : thrd_error;
}

#endif
