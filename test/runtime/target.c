/* target MODE [N] - one program, many situations. Each mode calls leaf() a known number of times,
 * printed as "leaf N". It prints nothing else, and its output and status are the same with and
 * without the runtime. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "../lib/modes.h"

extern char **environ;
extern int moncontrol(int) __attribute__((weak));
extern int kinrt_flush(void) __attribute__((weak));

static long before; /* calls that were made already */

static void first(long n)
{
	calls(n);
	before += n;
}

static void say(long n)
{
	calls(n);
	printf("leaf %ld\n", before + n);
	fflush(stdout);
}

static void work(void) { first(99000); }
static void tell(void) { say(1000); }

/* ---- ways to end ---- */

static int m_int(void) { return say(1000), raise(SIGINT); }
static void at_end(void) { calls(10); }
static int m_atexit(void)
{
	atexit(at_end);
	calls(90);
	puts("leaf 100");
	return 0;
}

static int m_exit_race(void)
{
	pthread_t t;

	for (int i = 0; i < 4; i++)
		pthread_create(&t, NULL, forever, NULL);
	say(1000);
	exit(6);
}

/* ---- processes ---- */

static int m_fork(void)
{
	pid_t p;

	calls(1000);
	p = fork();
	if (!p) {
		calls(300);
		exit(3);
	}
	printf("child %d\nleaf 1300\n", wait_for(p));
	return 0;
}

static int m_fork_raw(void)
{
	pid_t p;

	calls(1000);
	p = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!p) {
		calls(300);
		_exit(3);
	}
	printf("child %d\nleaf 1300\n", wait_for(p));
	return 0;
}

static int m_fork_start(void) /* the child's requests do not reach its parent's file */
{
	pid_t p;

	calls(1000);
	p = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!p) {
		if (moncontrol)
			moncontrol(1);
		calls(300);
		_exit(3);
	}
	printf("child %d\nleaf 1300\n", wait_for(p));
	return 0;
}

static int m_fork_idle(void) /* the child makes no calls */
{
	pid_t p;

	calls(1000);
	p = fork();
	if (!p)
		_exit(3);
	printf("child %d\nleaf 1000\n", wait_for(p));
	return 0;
}

static int m_fork_storm(void)
{
	int bad = 0;

	calls(10);
	for (int i = 0; i < 100; i++) {
		pid_t p = fork();

		if (!p) {
			calls(100);
			exit(3);
		}
		bad += wait_for(p) != 0x300;
	}
	printf("bad %d\nleaf 10010\n", bad);
	return 0;
}

static volatile int stop;
static void *busy(void *n)
{
	*(long *)n = 0;
	while (!stop) {
		leaf();
		++*(long *)n;
	}
	return NULL;
}

static int m_fork_threads(void)
{
	static long n[4];
	pthread_t t[4];
	int bad = 0;
	long sum = 0;

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, busy, &n[i]);
	for (int i = 0; i < 50; i++) {
		pid_t p = fork();

		if (!p) {
			calls(100);
			exit(3);
		}
		bad += wait_for(p) != 0x300;
	}
	stop = 1;
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
		sum += n[i];
	}
	fprintf(stderr, "truth %ld\n", sum + 5000);
	printf("bad %d\n", bad);
	return 0;
}

static int m_fork_deep(void) /* every child forks the next one */
{
	int depth = 0;
	pid_t p = 0;

	while (depth < 30 && !(p = fork())) {
		depth++;
		calls(100);
	}
	if (depth == 30)
		_exit(0);
	wait_for(p);
	if (!depth)
		puts("leaf 3000");
	return 0;
}

static int m_vfork(void)
{
	int bad = 0;

	for (int i = 0; i < 100; i++) {
		pid_t p = vfork();

		if (!p) {
			leaf();
			_exit(4);
		}
		bad += wait_for(p) != 0x400;
	}
	calls(100);
	printf("bad %d\nleaf 200\n", bad);
	return 0;
}

static int m_vfork_exec(void)
{
	int bad = 0;

	for (int i = 0; i < 50; i++) {
		pid_t p = vfork();

		if (!p) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		bad += wait_for(p);
	}
	printf("bad %d\n", bad);
	say(100);
	return 0;
}

static int m_spawn(void)
{
	char *argv[] = { "true", NULL };
	int bad = 0;

	for (int i = 0; i < 50; i++) {
		pid_t p;

		bad += posix_spawn(&p, "/bin/true", NULL, NULL, argv, environ) || wait_for(p);
	}
	printf("bad %d\n", bad);
	say(100);
	return 0;
}

static int m_exec(void) /* N more times */
{
	int left = *arg ? atoi(arg) : 10;
	char next[16];

	calls(100);
	if (!left) {
		puts("leaf 1100");
		return 0;
	}
	snprintf(next, sizeof(next), "%d", left - 1);
	char *const next_argv[] = { self, "exec", next, NULL };

	switch (left % 6) {
	case 0:
		execl(self, self, "exec", next, (char *)NULL);
		break;
	case 1:
		execle(self, self, "exec", next, (char *)NULL, environ);
		break;
	case 2:
		execvp(self, next_argv);
		break;
	case 3:
		fexecve(open(self, O_RDONLY | O_CLOEXEC), next_argv, environ);
		break;
	case 4:
		execveat(AT_FDCWD, self, next_argv, environ, 0);
		break;
	case 5:
		syscall(SYS_execve, self, next_argv, environ);
	}
	die("exec");
	return 1;
}

static int m_exec_fails(void)
{
	first(10);
	if (execl("/nowhere/at/all", "x", (char *)NULL) != -1 || errno != ENOENT)
		return 1;
	if (syscall(SYS_execve, "/bin/true", NULL, 8) != -1 || errno != EFAULT)
		return 1;
	if (syscall(SYS_execve, 8, NULL, NULL) != -1 || errno != EFAULT)
		return 1;
	say(90);
	return 0;
}

static int m_daemon(void)
{
	calls(10);
	if (daemon(0, 1))
		die("daemon");
	calls(90);
	puts("leaf 100");
	return 0;
}

/* ---- the world around ---- */

static int m_close_all(void)
{
	int keep = dup(1);

	calls(10);
	for (int i = 0; i < 2048; i++)
		if (i != keep)
			close(i);
	calls(100000);
	dprintf(keep, "leaf 100010\n");
	return 0;
}

static int m_close_first(void)
{
	for (int i = 3; i < 2048; i++)
		close(i);
	return say(100), 0;
}

/* fd numbers are the same as without the runtime, and its files are not written to by them */
static int m_fd(void)
{
	first(10);
	close(2);
	if (open("data.txt", O_CREAT | O_TRUNC | O_WRONLY, 0644) != 2 || dup(1) != 3)
		die("fd");
	return say(100), 0;
}

static int m_sigmask(void)
{
	sigset_t all, now;
	int pending = 0;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	calls(1000);
	sigpending(&now);
	for (int i = 1; i < 65; i++)
		pending += sigismember(&now, i) == 1;
	sigprocmask(SIG_SETMASK, NULL, &now);
	printf("pending %d mask %d\nleaf 1000\n", pending, !memcmp(&now, &all, 8));
	return 0;
}

static int m_seccomp(void)
{
	static struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { 5, f };

	say(1000);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (*arg ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog)
		 : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		die("seccomp");
	calls(0);
	return 0;
}

static int m_errno(void)
{
	int bad = 0;

	errno = 12345;
	leaf();
	bad += errno != 12345;
	for (int i = 0; i < 1000; i++) {
		errno = 12345;
		calls(1000);
		bad += errno != 12345;
	}
	printf("bad %d\nleaf 1000001\n", bad);
	return 0;
}

/* ---- threads ---- */

static void *thread_calls(void *n) { return calls((long)n), NULL; }

static int many_threads(int n, int at_a_time, long each)
{
	pthread_attr_t small;
	pthread_t *t = calloc((size_t)at_a_time, sizeof(*t));

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 128 << 10);
	for (int done = 0; done < n; done += at_a_time) {
		for (int i = 0; i < at_a_time; i++)
			if (pthread_create(&t[i], &small, thread_calls, (void *)each))
				die("pthread_create");
		for (int i = 0; i < at_a_time; i++)
			pthread_join(t[i], NULL);
	}
	printf("leaf %ld\n", n * each);
	return 0;
}

static int m_threads64(void) { return many_threads(64, 64, *arg ? atol(arg) / 64 : 10000000 / 64); }
static int m_threads1000(void) { return many_threads(1000, 1000, 1000); }
static int m_threads5000(void) { return many_threads(5000, 10, 100); }

/* Threads that get a name after their first call: from themselves, and from another one. */
static pthread_barrier_t counted, named;

static void *thread_named(void *how)
{
	calls(100);
	if (how == thread_named)
		prctl(PR_SET_NAME, "by prctl");
	else if (how)
		pthread_setname_np(pthread_self(), "by itself");
	pthread_barrier_wait(&counted);
	pthread_barrier_wait(&named);
	return NULL;
}

static int m_names(void)
{
	void *const how[] = { (void *)thread_named, &how, NULL };
	pthread_t t[3];

	pthread_barrier_init(&counted, NULL, 4);
	pthread_barrier_init(&named, NULL, 4);
	calls(100);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, thread_named, how[i]);
	pthread_barrier_wait(&counted);
	syscall(SYS_prctl, PR_SET_NAME, "by syscall");
	pthread_setname_np(t[2], "by another");
	puts("leaf 400");
	fflush(stdout);
	if (*arg)
		raise(SIGKILL);
	if (kinrt_flush)
		kinrt_flush();
	pthread_barrier_wait(&named);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}

/* Threads' tables that the file may not grow for, flushed again and again; with an argument it may
 * in the end. */
static int m_flushes(void)
{
	struct rlimit before, small;

	getrlimit(RLIMIT_FSIZE, &before);
	small = before;
	small.rlim_cur = 200 << 10;
	setrlimit(RLIMIT_FSIZE, &small);
	many_threads(64, 64, 1000);
	for (int i = 0; i < 3; i++) {
		if (i == 2 && *arg)
			setrlimit(RLIMIT_FSIZE, &before);
		if (kinrt_flush)
			kinrt_flush();
	}
	return 0;
}

/* The first table is nearly half full before the calls begin that are made most: some of those have
 * to be looked for. */
#define SMALL(name)                                                                                \
	NOINLINE void name(void) { __asm__ volatile(""); }
SMALL(small_0)
SMALL(small_1)
SMALL(small_2)
SMALL(small_3)
SMALL(small_4)
SMALL(small_5)
SMALL(small_6)
SMALL(small_7)

static int m_patience(void)
{
	static void (*const small[])(void) = { small_0, small_1, small_2, small_3,
					       small_4, small_5, small_6, small_7 };

	for (int i = 0; i < 8; i++) {
		void (*f)(void) = small[i];

		f(), f(), f(), f(), f(), f(), f(), f(), f(), f();
		f(), f(), f(), f(), f(), f(), f(), f(), f(), f();
		f(), f(), f(), f(), f(), f(), f(), f(), f(), f();
	}
	for (int i = 0; i < 8 * (100000 - 30); i++)
		small[i % 8]();
	return say(1000), 0;
}

/* ---- control flow ---- */

NOINLINE int deep(long n)
{
	int r;

	leaf();
	if (n <= 1)
		return 0;
	r = deep(n - 1);
	__asm__ volatile("" ::: "memory");
	return r + 1;
}

static int m_deep(void)
{
	printf("deep %d\nleaf 1000000\n", deep(1000000));
	return 0;
}

static jmp_buf back;
NOINLINE void jump(void)
{
	leaf();
	longjmp(back, 1);
}

static int m_longjmp(void)
{
	volatile long n = 0;

	while (n++ < 100000)
		if (!setjmp(back))
			jump();
	puts("leaf 100000");
	return 0;
}

static ucontext_t home, co[2];
static long switches;
static void coroutine(int me)
{
	for (;;) {
		if (++switches > 20000)
			setcontext(&home);
		leaf();
		swapcontext(&co[me], &co[!me]);
	}
}

static int m_ucontext(void)
{
	static char stack[2][65536];

	for (int i = 0; i < 2; i++) {
		getcontext(&co[i]);
		co[i].uc_stack.ss_sp = stack[i];
		co[i].uc_stack.ss_size = sizeof(stack[i]);
		makecontext(&co[i], (void (*)(void))coroutine, 1, i);
	}
	swapcontext(&home, &co[0]);
	puts("leaf 20000");
	return 0;
}

static void on_signal(int unused)
{
	(void)unused;
	leaf();
}

static int m_altstack(void)
{
	static char stack[8192];
	stack_t s = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

	sigaltstack(&s, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	for (int i = 0; i < 10000; i++)
		raise(SIGUSR1);
	puts("leaf 10000");
	return 0;
}

/* ---- libraries ---- */

static void *use_open(const char *path, int n)
{
	void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*f)(int) = h ? (void (*)(int))dlsym(h, "plug") : NULL;

	if (!f)
		die(dlerror());
	f(n);
	return h;
}

static void use(const char *path) { dlclose(use_open(path, 10)); }

static int m_dlopen(void) /* arg: N:DIR with plug_0.so ... plug_7.so */
{
	long n = atol(arg);
	const char *dir = strchr(arg, ':') + 1;
	char path[4096];

	for (long i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/plug_%ld.so", dir, i % 8);
		use(path);
	}
	return say(100), 0;
}

static int m_dlmopen(void) /* in a namespace of its own: nothing of it is counted */
{
	void *h = dlmopen(LM_ID_NEWLM, arg, RTLD_NOW);
	void (*f)(int) = h ? (void (*)(int))dlsym(h, "plug") : NULL;

	if (!f)
		die(dlerror());
	f(10);
	return say(100), 0;
}

/* ---- a progress counter beside the profile: for being killed ---- */

static int m_progress(void)
{
	int fd = open(arg, O_RDWR);
	volatile long *seen = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (seen == MAP_FAILED)
		die("mmap");
	for (;;) {
		leaf();
		++*seen;
	}
}

/* ---- control from within ---- */

static int m_moncontrol(void)
{
	calls(100);
	if (moncontrol)
		moncontrol(0);
	calls(50);
	if (moncontrol)
		moncontrol(1);
	calls(100);
	puts("leaf 200");
	return 0;
}

extern void _mcleanup(void) __attribute__((weak));

/* gmon.out of the first 100 calls. */
static int m_snapshot(void)
{
	calls(100);
	if (_mcleanup)
		_mcleanup();
	calls(200);
	puts("leaf 300");
	return 0;
}

extern void monstartup(unsigned long low, unsigned long high) __attribute__((weak));
extern char __executable_start[], etext[];

/* gmon.out of the last calls alone: of other threads' tables, and of this one's. */
static int m_anew(void)
{
	calls(100);
	many_threads(4, 4, 100);
	if (_mcleanup)
		_mcleanup();
	calls(200);
	if (monstartup)
		monstartup((unsigned long)__executable_start, (unsigned long)etext);
	calls(30);
	many_threads(4, 4, 10);
	fflush(stdout);
	puts("leaf 770");
	return 0;
}

/* A library that is unloaded after that, and comes back to the same place: all calls of the former
 * one count. */
static int m_anew_library(void) /* arg: its path */
{
	void *h = use_open(arg, 1000);

	if (_mcleanup)
		_mcleanup();
	if (monstartup)
		monstartup((unsigned long)__executable_start, (unsigned long)etext);
	dlclose(h);
	use_open(arg, 10);
	return say(100), 0;
}

NOINLINE static int compares(const void *a, const void *b)
{
	leaf();
	return *(const char *)a - *(const char *)b;
}

static int m_callback(void) /* called from the C library, outside of the program */
{
	char text[] = "ba";

	qsort(text, 2, 1, compares);
	puts("leaf 1");
	return 0;
}

static const struct mode modes[] = {
	SHARED_MODES,    M(int),        M(atexit),     M(exit_race),   M(fork),
	M(fork_raw),     M(fork_start), M(fork_idle),  M(fork_storm),  M(fork_threads),
	M(fork_deep),    M(vfork),      M(vfork_exec), M(spawn),       M(exec),
	M(exec_fails),   M(daemon),     M(close_all),  M(close_first), M(fd),
	M(sigmask),      M(seccomp),    M(errno),      M(threads64),   M(threads1000),
	M(threads5000),  M(patience),   M(deep),       M(longjmp),     M(ucontext),
	M(altstack),     M(dlopen),     M(progress),   M(moncontrol),  M(snapshot),
	M(callback),     M(flushes),    M(names),      M(anew),        M(dlmopen),
	M(anew_library),
};

int main(int argc, char **argv)
{
	return mode_run(modes, sizeof(modes) / sizeof(modes[0]), argc, argv);
}
