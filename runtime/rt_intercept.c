/* rt_intercept.c - functions of the C library through which the program changes what the runtime
 * may do. All behave as the C library's own. */
#include "rt.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <unistd.h>

RT_EXPORT int dlclose(void *handle);
RT_EXPORT int prctl(int option, ...);
RT_EXPORT long syscall(long number, ...);

#ifndef RT_STATIC

static long result(long r)
{
	if (r < 0 && r > -4096) {
		errno = (int)-r;
		return -1;
	}
	return r;
}

static int (*real_dlclose)(void *);

int dlclose(void *handle)
{
	int ret;

	if (!real_dlclose) /* our constructor has not run yet */
		rt_intercept_init();
	atomic_fetch_add(&rt.sampling.unloading, 1);
	ret = real_dlclose(handle);
	if (rt.state == RT_READY || rt.state == RT_STARTED) {
		int err = errno;

		rt_modules_retire();
		errno = err;
	}
	atomic_fetch_sub(&rt.sampling.unloading, 1);
	return ret;
}

/* From here on any system call may kill the process. gmon.out is written now; the .kin file is
 * still filled as far as it is mapped. */
/* A gmon.out from here would lack all that follows. */
static void finish_but_gmon(void)
{
	bool kept = rt.gmon_kept;

	rt.gmon_kept = true;
	rt_finish(KINF_RUNNING, 0);
	rt.gmon_kept = kept;
}

static void before_seccomp(void)
{
	enum { ROOM = 1 << 20 };
	uint64_t mask;

	if (rt.silent)
		return;
	finish_but_gmon();
	if (!rt_lock(&mask))
		return;
	if (rt.state == RT_STARTED)
		rt_room(ROOM);
	else
		rt.state = RT_OFF;
	rt_unlock(mask);
	rt_sample_on(false);
	rt.silent = true;
}

static void after_seccomp(long err, bool was)
{
	if (err) {
		rt.silent = was;
		if (!was)
			rt_sample_on(true);
	} else if (!was && rt.profiled && rt.options.gmon)
		rt_error("no gmon.out, and no more samples, since the program gave up system calls "
			 "(seccomp)",
			 0);
	else if (!was && rt.sampling.period_ns)
		rt_error("sampling ended when the program gave up system calls (seccomp)", 0);
}

int prctl(int option, ...)
{
	unsigned long a, b, c, d;
	bool was = rt.silent;
	va_list args;
	long r;

	va_start(args, option);
	a = va_arg(args, unsigned long);
	b = va_arg(args, unsigned long);
	c = va_arg(args, unsigned long);
	d = va_arg(args, unsigned long);
	va_end(args);
	if (option == PR_SET_SECCOMP)
		before_seccomp();
	r = SYS5(prctl, option, a, b, c, d);
	if (option == PR_SET_NAME)
		rt_thread_name();
	if (option == PR_SET_SECCOMP)
		after_seccomp(r, was);
	return (int)result(r);
}

long syscall(long number, ...)
{
	bool exec = number == SYS_execve || number == SYS_execveat, seccomp, was = rt.silent;
	bool forks;
	long a, b, c, d, r, all[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		all[i] = va_arg(args, long);
	va_end(args);
	a = all[0], b = all[1], c = all[2], d = all[3];
	seccomp = (number == SYS_seccomp &&
		   (a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER)) ||
		  (number == SYS_prctl && a == PR_SET_SECCOMP);
	if (seccomp)
		before_seccomp();
	if (number == SYS_exit_group)
		rt_finish(KINF_EXITED_AT_ONCE, (uint64_t)(a & 255));
	forks = rt_makes_process(number, a);
	if (exec)
		rt_exec((const char *)(number == SYS_execve ? a : b),
			(char *const *)(number == SYS_execve ? c : d));
	r = rt_signals_call(number, all);
	if (exec)
		rt_exec_failed();
	if (forks && !r)
		rt_forked();
	if (number == SYS_prctl && a == PR_SET_NAME)
		rt_thread_name();
	if (seccomp)
		after_seccomp(r, was);
	return result(r);
}

/* ---- exec: only to record how the process ended ---- */

RT_EXPORT int execve(const char *path, char *const argv[], char *const envp[]);
RT_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[]);
RT_EXPORT int execv(const char *path, char *const argv[]);
RT_EXPORT int execvp(const char *file, char *const argv[]);
RT_EXPORT int execl(const char *path, const char *arg, ...);
RT_EXPORT int execlp(const char *file, const char *arg, ...);
RT_EXPORT int execle(const char *path, const char *arg, ...);
RT_EXPORT int fexecve(int fd, char *const argv[], char *const envp[]);
RT_EXPORT int execveat(int dir, const char *path, char *const argv[], char *const envp[],
		       int flags);

typedef int exec_function(const char *, char *const[], char *const[]);
typedef int fexecve_function(int, char *const[], char *const[]);
static exec_function *real_execve, *real_execvpe;
static fexecve_function *real_fexecve;

void rt_intercept_init(void)
{
	real_execve = (exec_function *)dlsym(RTLD_NEXT, "execve");
	real_execvpe = (exec_function *)dlsym(RTLD_NEXT, "execvpe");
	real_fexecve = (fexecve_function *)dlsym(RTLD_NEXT, "fexecve");
	real_dlclose = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
	rt_signals_find();
}

static int call_exec(exec_function *f, const char *path, char *const argv[], char *const envp[])
{
	int ret, err;

	if (!f) { /* our constructor has not run yet */
		rt_intercept_init();
		f = real_execve;
	}
	rt_exec(path, envp);
	ret = f(path, argv, envp);
	err = errno;
	rt_exec_failed();
	errno = err;
	return ret;
}

int execve(const char *path, char *const argv[], char *const envp[])
{
	return call_exec(real_execve, path, argv, envp);
}

int execvpe(const char *file, char *const argv[], char *const envp[])
{
	return call_exec(real_execvpe, file, argv, envp);
}

int execv(const char *path, char *const argv[])
{
	return call_exec(real_execve, path, argv, environ);
}

int execvp(const char *file, char *const argv[])
{
	return call_exec(real_execvpe, file, argv, environ);
}

/* The arguments as an array on the stack; `last` is what to do with the argument after the
 * terminating NULL. */
#define ARGUMENTS(argv, first, last)                                                               \
	size_t n_ = 1;                                                                             \
	va_list args_;                                                                             \
	va_start(args_, first);                                                                    \
	while (va_arg(args_, char *))                                                              \
		n_++;                                                                              \
	va_end(args_);                                                                             \
	char **argv = __builtin_alloca((n_ + 1) * sizeof(char *));                                 \
	va_start(args_, first);                                                                    \
	argv[0] = (char *)(uintptr_t)first;                                                        \
	for (size_t i_ = 1; i_ <= n_; i_++)                                                        \
		argv[i_] = va_arg(args_, char *);                                                  \
	last;                                                                                      \
	va_end(args_)

int execl(const char *path, const char *arg, ...)
{
	ARGUMENTS(argv, arg, (void)0);
	return call_exec(real_execve, path, argv, environ);
}

int execlp(const char *file, const char *arg, ...)
{
	ARGUMENTS(argv, arg, (void)0);
	return call_exec(real_execvpe, file, argv, environ);
}

int execle(const char *path, const char *arg, ...)
{
	char **envp;

	ARGUMENTS(argv, arg, envp = va_arg(args_, char **));
	return call_exec(real_execve, path, argv, envp);
}

/* The path of an open file; "" if unknown. */
static const char *fd_path(char path[256], int fd)
{
	char link[64];
	struct text t = { .at = link, .size = sizeof(link) };
	long n;

	text_add(&t, "/proc/self/fd/");
	text_number(&t, (uint64_t)fd);
	n = SYS4(readlinkat, AT_FDCWD, link, path, 255);
	path[n > 0 ? n : 0] = 0;
	return path;
}

int fexecve(int fd, char *const argv[], char *const envp[])
{
	char path[256];
	int ret, err;

	if (!real_fexecve)
		rt_intercept_init();
	rt_exec(fd_path(path, fd), envp);
	ret = real_fexecve(fd, argv, envp);
	err = errno;
	rt_exec_failed();
	errno = err;
	return ret;
}

/* By system call, since some C libraries lack the function. */
int execveat(int dir, const char *path, char *const argv[], char *const envp[], int flags)
{
	long r;

	rt_exec(path, envp);
	r = SYS5(execveat, dir, path, argv, envp, flags);
	rt_exec_failed();
	return (int)result(r);
}

#else

void rt_intercept_init(void) {}

#endif
