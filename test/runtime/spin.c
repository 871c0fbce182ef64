/* spin MODE [ARG] - uses CPU time in known places, and says how much by the clock, on standard
 * error, as "NAME SECONDS". What it prints and returns is the same with and without sampling. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "../lib/burn.h"
#include "sys.h"

#define NOINLINE __attribute__((noinline, noclone))

static const char *arg = "", *self;
static __thread volatile unsigned long sink;

BURN(burn_a, i *sink)
BURN(burn_b, i ^ sink)
BURN(burn_c, i + 3 * sink)

static double seconds(double unless) { return *arg ? atof(arg) : unless; }

/* ---- shares ---- */

static int m_shares(void)
{
	double s = seconds(1);

	burn_a(s * 0.6);
	burn_b(s * 0.3);
	burn_c(s * 0.1);
	return 0;
}

static void *thread_a(void *s) { return burn_a(*(double *)s), NULL; }
static void *thread_b(void *s) { return burn_b(*(double *)s), NULL; }
static void *thread_exits(void *s)
{
	burn_c(*(double *)s);
	pthread_exit(NULL);
}

static int m_threads(void)
{
	static void *(*const f[])(void *) = { thread_a, thread_b, thread_exits, thread_a };
	static double s[4];
	pthread_t t[4];

	for (int i = 0; i < 4; i++) {
		s[i] = seconds(1) * (i + 1) / 10;
		pthread_create(&t[i], NULL, f[i], &s[i]);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}

static void *blocks_all(void *s)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	burn_b(*(double *)s);
	sigpending(&all);
	for (int i = 1; i < 65; i++)
		if (sigismember(&all, i) == 1)
			printf("pending %d\n", i);
	sigfillset(&all);
	int r = sigtimedwait(&all, NULL, &(struct timespec){ 0 });
	printf("waited %d %s\n", r, r < 0 && errno == EAGAIN ? "EAGAIN" : "");
	return NULL;
}

static int m_blocked(void)
{
	double s = seconds(0.5);
	pthread_t t;

	pthread_create(&t, NULL, blocks_all, &s);
	burn_a(s);
	pthread_join(t, NULL);
	return 0;
}

/* ---- stacks ---- */

NOINLINE int nested(int n, double s)
{
	if (!n)
		burn_a(s);
	else
		nested(n - 1, s);
	__asm__ volatile("" ::: "memory");
	return n;
}

static int m_stacks(void)
{
	char *text = malloc(1 << 16);

	for (double end = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) + seconds(1);
	     cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < end;) {
		nested(20, 0.002);
		for (int i = 0; i < 200; i++)
			sink += (unsigned long)snprintf(text, 1 << 16, "%d %s %f", i, "text",
							i / 3.0);
		for (int i = 0; i < 200; i++)
			free(malloc((size_t)i * 100));
		memset(text, 1, 1 << 16);
	}
	return 0;
}

static ucontext_t home, away;
static void coroutine(void)
{
	nested(3, seconds(0.3));
	swapcontext(&away, &home);
}

/* Its callers cannot be found: the stack pointer leads nowhere. */
NOINLINE static void blind(unsigned long n)
{
#ifdef __x86_64__
	__asm__ volatile("mov %%rsp, %%r15; mov $8, %%esp; 1: dec %0; jnz 1b; mov %%r15, %%rsp"
			 : "+r"(n)
			 :
			 : "r15", "cc");
#endif
	sink += n;
}

/* As a program in memory alone. */
static int m_memfd(void)
{
	char *const argv[] = { self, "shares", "0.1", NULL };
	int from = open(self, O_RDONLY | O_CLOEXEC), to = memfd_create("hidden", MFD_CLOEXEC);
	char buf[4096];

	for (ssize_t n; (n = read(from, buf, sizeof(buf))) > 0;)
		if (write(to, buf, (size_t)n) != n)
			return 1;
	fexecve(to, argv, environ);
	return 2;
}

static int m_blind(void)
{
	static char stack[64 << 10];
	stack_t s = { .ss_sp = stack, .ss_size = sizeof(stack) };

	sigaltstack(&s, NULL);
	blind(1000000000);
	return 0;
}

static int m_coroutine(void)
{
	static char stack[65536];

	getcontext(&away);
	away.uc_stack.ss_sp = stack;
	away.uc_stack.ss_size = sizeof(stack);
	makecontext(&away, coroutine, 0);
	swapcontext(&home, &away);
	burn_b(0.05);
	return 0;
}

static void handler(int unused) { nested(3, 0.3 + unused * 0); }

static int m_altstack(void)
{
	static char stack[65536];
	stack_t s = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	sigaltstack(&s, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	return 0;
}

NOINLINE static int deep(int n)
{
	volatile char frame[64];

	if (!n) {
		burn_a(seconds(0.3));
		return 0;
	}
	frame[0] = (char)n;
	return deep(n - 1) + frame[0];
}

static int m_deep(void) { return deep(20000) & 0; }

/* Of the classical size, and the page below it is not there. */
static int m_small_altstack(void)
{
	enum { SIZE = 8192, PAGE = 4096 };
	char *at =
		mmap(NULL, PAGE + SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t s = { .ss_sp = at + PAGE, .ss_size = SIZE };
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	mprotect(at, PAGE, PROT_NONE);
	sigaltstack(&s, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	return 0;
}

/* A call of a function with hooks (arg: a library with it), the first one along that arc, takes
 * little of a small stack. */
static void (*on_small_stack)(int);
static void calls_hooks(int unused)
{
	(void)unused;
	on_small_stack(1);
}

static int m_hooks_on_small_stack(void)
{
	enum { SIZE = 8192, UNUSED = 0x5a }; /* the kernel's frame alone may be 3.5 KiB */
	static char stack[SIZE];
	stack_t s = { .ss_sp = stack, .ss_size = SIZE };
	struct sigaction sa = { .sa_handler = calls_hooks, .sa_flags = SA_ONSTACK };
	int left = 0;

	memset(stack, UNUSED, SIZE);
	on_small_stack = (void (*)(int))dlsym(dlopen(arg, RTLD_NOW), "plug");
	sigaltstack(&s, NULL);
	sigfillset(&sa.sa_mask); /* the kernel's frame of a tick would not fit beside its own */
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	while (left < SIZE && stack[left] == UNUSED)
		left++;
	fprintf(stderr, "left %d\n", left);
	return 0;
}

/* ---- signals ---- */

static volatile int profs, others;
static void on_prof(int sig) { profs += sig == SIGPROF; }
static void on_other(int sig) { others += sig > 0; }

static int m_sigprof(void)
{
	struct itimerval it = { { 0, 5000 }, { 0, 5000 } }, now;
	struct sigaction sa = { .sa_handler = on_prof, .sa_flags = SA_RESTART }, old;

	sigaction(SIGPROF, &sa, NULL);
	setitimer(ITIMER_PROF, &it, NULL);
	burn_a(seconds(0.4));
	getitimer(ITIMER_PROF, &now);
	sigaction(SIGPROF, NULL, &old);
	printf("some %d interval %ld own %d\n", profs > 5, (long)now.it_interval.tv_usec,
	       old.sa_handler == on_prof);
	return 0;
}

static int m_all_signals(void) /* none has a handler; then the program takes them all */
{
	int had = 0;

	for (int i = SIGRTMIN; i <= SIGRTMAX; i++) {
		struct sigaction old;

		sigaction(i, NULL, &old);
		had += old.sa_handler != SIG_DFL || old.sa_flags;
	}
	burn_a(0.1);
	for (int i = SIGRTMIN - 1; i <= SIGRTMAX; i++) {
		struct sigaction sa = { .sa_handler = on_other }, old;

		int sig = i < SIGRTMIN ? SIGURG : i;

		sigaction(sig, &sa, &old);
		had += old.sa_handler != SIG_DFL;
		burn_b(0.02);
		others = 0;
		raise(sig);
		if (others != 1)
			printf("signal %d: %d\n", sig, others);
	}
	printf("had %d\n", had);
	burn_c(0.2);
	return 0;
}

static int m_eintr(void)
{
	int fd[2], bad = 0;
	char c;

	if (pipe(fd))
		return 1;
	for (int i = 0; i < 300; i++) {
		struct timespec t = { 0, 100000 };
		struct pollfd p = { fd[0], POLLIN, 0 };

		burn_a(0.001);
		bad += nanosleep(&t, NULL) != 0;
		bad += poll(&p, 1, 1) != 0;
		bad += write(fd[1], "x", 1) != 1 || read(fd[0], &c, 1) != 1;
	}
	printf("interrupted %d\n", bad);
	return 0;
}

/* As runtimes of languages do it, without the C library: they reset all other handlers. */
static int m_raw_reset(void)
{
	static const uint64_t by_default[4];

	burn_a(0.1);
	for (int i = 1; i <= 64; i++)
		SYS4(rt_sigaction, i, by_default, NULL, 8);
	burn_b(0.1);
	return puts("alive"), 0;
}

/* The same by the C library's syscall(), which libkinrt sees; then with a handler of its own. */
static int m_syscall_reset(void)
{
	static struct {
		void (*handler)(int);
		unsigned long flags;
		void *restorer;
		uint64_t mask;
	} action, old;

	burn_a(0.1);
	for (int i = 1; i <= 64; i++) {
		syscall(SYS_rt_sigaction, i, NULL, &old, 8);
		if (old.handler)
			printf("%d has a handler\n", i);
		syscall(SYS_rt_sigaction, i, &action, NULL, 8);
	}
	burn_b(0.1);
	signal(SIGURG, on_other);
	burn_b(0.1);
	printf("others %d\n", others);
	raise(SIGURG);
	printf("others %d\n", others);
	return 0;
}

/* Of programs that ask for plain POSIX, and of old ones. */
extern void (*__sysv_signal(int, void (*)(int)))(int) __attribute__((weak));

static int m_old_signal(void)
{
	if (!__sysv_signal)
		return 1;
	printf("%d\n", __sysv_signal(SIGURG, on_other) == SIG_DFL);
	burn_a(0.05);
	raise(SIGURG);
	raise(SIGURG);
	printf("others %d\n", others);
	printf("%d\n", sigset(SIGRTMAX - 2, on_other) == SIG_DFL);
	burn_b(0.05);
	raise(SIGRTMAX - 2);
	printf("others %d\n", others);
	return 0;
}

/* All signals are blocked but for the time that it waits, and one has come by then. */
static void on_alarm(int unused) { (void)unused; }

static int m_waits(void)
{
	struct itimerval soon = { .it_value = { 0, 20000 } };
	struct timespec none = { 0 }, ms = { .tv_nsec = 1000000 };
	int epoll = epoll_create1(0), bad[11] = { 0 }, fd;
	uint64_t raw_no = 0, raw_all = ~(uint64_t)0, raw;
	const struct {
		const uint64_t *mask;
		size_t size;
	} pair = { &raw_no, 8 };
	struct epoll_event e;
	sigset_t all, no;

	sigemptyset(&no);
	sigfillset(&all);
	signal(SIGALRM, on_alarm);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int i = 0; i < 54; i++) {
		burn_a(0.01);
		switch (i % 9) {
		case 0:
			bad[0] += pselect(0, NULL, NULL, NULL, &ms, &no) != 0;
			break;
		case 1:
			bad[1] += ppoll(NULL, 0, &ms, &no) != 0;
			break;
		case 2:
			bad[2] += epoll_pwait(epoll, &e, 1, 1, &no) != 0;
			break;
		case 3:
			setitimer(ITIMER_REAL, &soon, NULL);
			sigsuspend(&no);
			getitimer(ITIMER_REAL, &soon);
			bad[3] += soon.it_value.tv_usec != 0;
			soon.it_value.tv_usec = 20000;
			break;
		case 4: /* by system calls of its own */
			bad[6] += syscall(SYS_pselect6, 0, NULL, NULL, NULL, &ms, &pair) != 0;
			ms.tv_nsec = 1000000; /* which report the time that is left */
			break;
		case 5:
			bad[7] += syscall(SYS_ppoll, NULL, 0, &ms, &raw_no, 8) != 0;
			ms.tv_nsec = 1000000;
			break;
		case 6:
			bad[8] += syscall(SYS_epoll_pwait, epoll, &e, 1, 1, &raw_no, 8) != 0;
			break;
		case 7:
			bad[9] += syscall(SYS_rt_sigpending, &raw, 8) || raw;
			break;
		default:
			fd = i % 2 ? signalfd(-1, &all, SFD_NONBLOCK)
				   : (int)syscall(SYS_signalfd4, -1, &raw_all, 8, SFD_NONBLOCK);
			char buf[128];
			bad[4] += read(fd, buf, sizeof(buf)) >= 0;
			close(fd);
		}
	}
	bad[5] = sigtimedwait(&all, NULL, &none) >= 0;
	burn_a(0.01);
	bad[10] = syscall(SYS_rt_sigtimedwait, &raw_all, NULL, &none, 8) >= 0;
	for (int i = 0; i < 11; i++)
		printf("%d ", bad[i]);
	return puts(""), 0;
}

/* It reads a signal that has no handler, and by its name: it gets that, and nothing else. */
static int m_reads_signal(void)
{
	struct signalfd_siginfo info[4] = { 0 };
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGURG);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_NONBLOCK);
	burn_a(0.1);
	kill(getpid(), SIGURG);
	long n = read(fd, info, sizeof(info));
	printf("%ld %d %d\n", n / (long)sizeof(info[0]), (int)info[0].ssi_signo, info[0].ssi_code);
	printf("%d\n", signal(SIGURG, SIG_IGN) == SIG_DFL);
	printf("%d\n", signal(SIGURG, SIG_DFL) == SIG_IGN);
	burn_b(0.1);
	return 0;
}

/* Functions that may be called in signal handlers, for the first time, while a library's
 * constructor (arg) runs: that waits until all have returned. */
volatile int constructing, called;
static void calls_them(int unused)
{
	sigset_t none, pending;
	struct timespec now = { 0 };

	(void)unused;
	sigemptyset(&none);
	sigaction(SIGUSR2, NULL, NULL);
	signal(SIGUSR2, SIG_DFL);
	sigpending(&pending);
	pselect(0, NULL, NULL, NULL, &now, &none);
	ppoll(NULL, 0, &now, &none);
	sigtimedwait(&none, NULL, &now);
	called = 1;
}

static void *is_interrupted(void *unused)
{
	while (!constructing)
		usleep(1000);
	raise(SIGUSR1);
	return unused;
}

static int m_in_handler(void)
{
	struct sigaction sa = { .sa_handler = calls_them };
	pthread_t t;

	syscall(SYS_rt_sigaction, 0, NULL, NULL, 8);
	sa.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &sa, NULL);
	pthread_create(&t, NULL, is_interrupted, NULL);
	if (!dlopen(arg, RTLD_NOW))
		puts(dlerror());
	pthread_join(t, NULL);
	return 0;
}

static int m_errno(void)
{
	int bad = 0;

	for (int i = 0; i < 200; i++) {
		errno = 12345;
		double end = 0;
		for (volatile int k = 0; k < 2000000; k++)
			end += k;
		bad += errno != 12345;
		sink += end > 0;
	}
	printf("bad %d\n", bad);
	return 0;
}

static int m_default_action(void) { return kill(getpid(), SIGRTMAX - 2), burn_a(0.1), 0; }

/* ---- processes ---- */

static int m_forks(void)
{
	int n = *arg ? atoi(arg) : 100, bad = 0;
	static double s[4] = { 1, 1, 1, 1 };
	pthread_t t[4];

	for (int i = 0; i < 4; i++) {
		s[i] = n * 0.003;
		pthread_create(&t[i], NULL, thread_a, &s[i]);
	}
	for (int i = 0; i < n; i++) {
		int status;
		pid_t p = fork();

		if (!p) {
			burn_b(i % 4 ? 0 : 0.02);
			_exit(3);
		}
		bad += waitpid(p, &status, 0) != p || status != 0x300;
	}
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("bad %d\n", bad);
	return 0;
}

static int other_child(void *s) { return burn_b(*(double *)s), 3; }

/* Made by all that makes processes, and never calls fork()'s handlers. */
static int m_clones(void)
{
	static char stack[256 << 10] __attribute__((aligned(16)));
	static double s = 0.1;
	struct clone_args { /* as in linux/sched.h, its first version */
		unsigned long long flags, pidfd, child_tid, parent_tid, exit_signal, stack, size,
			tls;
	} all = { .exit_signal = SIGCHLD };
	int bad = 0, status;
	pid_t p[4] = { 0 };

	p[0] = _Fork();
	if (!p[0])
		_exit(other_child(&s));
	p[1] = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!p[1])
		_exit(other_child(&s));
	p[2] = (pid_t)syscall(SYS_clone3, &all, sizeof(all));
	if (!p[2])
		_exit(other_child(&s));
	p[3] = clone(other_child, stack + sizeof(stack), SIGCHLD, &s);
	for (int i = 0; i < 4; i++)
		bad += waitpid(p[i], &status, 0) != p[i] || status != 0x300;
	printf("bad %d\n", bad);
	return 0;
}

static int c11_thread(void *s) { return burn_c(*(double *)s), -7; }

static int m_c11(void)
{
	static double s = 0.3;
	int result = 0;
	thrd_t t;

	printf("%d ", thrd_create(&t, c11_thread, &s) == thrd_success);
	printf("%d ", thrd_join(t, &result) == thrd_success);
	printf("%d\n", result);
	return 0;
}

static int m_execs(void)
{
	int left = *arg ? atoi(arg) : 10;
	char next[16];

	burn_a(0.01);
	if (!left)
		return puts("end"), 0;
	snprintf(next, sizeof(next), "%d", left - 1);
	execl(self, self, "execs", next, (char *)NULL);
	return 1;
}

static int m_vforks(void)
{
	int bad = 0;

	for (int i = 0; i < 20; i++) {
		int status;
		pid_t p;

		burn_a(0.01); /* several ticks */
		p = vfork();
		if (!p) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		bad += waitpid(p, &status, 0) != p || status;
	}
	printf("bad %d\n", bad);
	return 0;
}

static int burns_in_child(void *s) { return burn_b(*(double *)s), 0; }

static int m_clone_vm(void)
{
	static _Alignas(16) char stack[65536];
	static double s = 0.05;
	int status = -1;
	pid_t p;

	burn_a(0.05);
	p = clone(burns_in_child, stack + sizeof(stack), CLONE_VM | SIGCHLD, &s);
	if (waitpid(p, &status, 0) != p || status)
		return 1;
	return puts("done"), 0;
}

/* ---- libraries ---- */

static volatile int stop;
static void *burns(void *unused)
{
	while (!stop)
		burn_a(0.001);
	return unused;
}

/* How many calls f(n) has to make for so much time. Known beforehand: see burn.h on asking often.
 */
static int calls_in(double seconds, void (*f)(int))
{
	enum { TRIAL = 2000000 };
	double start = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);

	f(TRIAL);
	return (int)(TRIAL * seconds / (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - start)) + 1;
}

static int m_dlclose(void) /* arg: N:DIR with plug_0.so ... */
{
	long n = atol(arg);
	int calls = 0;
	char path[4096];
	pthread_t t;

	pthread_create(&t, NULL, burns, NULL);
	for (long i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/plug_%ld.so", strchr(arg, ':') + 1, i % 8);
		void *h = dlopen(path, RTLD_NOW);
		void (*f)(int) = (void (*)(int))dlsym(h, "plug");
		if (!calls)
			calls = calls_in(0.001, f);
		f(calls);
		dlclose(h);
	}
	stop = 1;
	pthread_join(t, NULL);
	return puts("done"), 0;
}

/* Libraries that the C library unloads without our knowing: one after the other, in one place. */
static int m_unseen(void) /* arg: DIR with plug_0.so ... */
{
	char path[4096];
	void *libc = dlopen("libc.so.6", RTLD_NOW);
	int (*close)(void *) = libc ? (int (*)(void *))dlsym(libc, "dlclose") : dlclose;

	for (int i = 0; i < 8; i++) {
		snprintf(path, sizeof(path), "%s/plug_%d.so", arg, i);
		void *h = dlopen(path, RTLD_NOW);
		void (*f)(int) = (void (*)(int))dlsym(h, "plug");
		for (double end = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) + 0.1;
		     cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < end;)
			f(100000);
		close(h);
	}
	return puts("done"), 0;
}

/* Code made at run time, without call-frame information: a loop of some 100 us. Its frame pointer
 * register does not hold one, and points to a fake frame of a library that comes and goes. */
static void *volatile stale[2];
static void *runs_made_code(void *unused)
{
#if defined(__x86_64__)
	static const unsigned char code[] = {
		0x55,                         /* push %rbp */
		0x48, 0x89, 0xfd,             /* mov %rdi, %rbp */
		0xb9, 0x00, 0x00, 0x04, 0x00, /* mov $0x40000, %ecx */
		0xff, 0xc9,                   /* 1: dec %ecx */
		0x75, 0xfc,                   /* jnz 1b */
		0x5d,                         /* pop %rbp */
		0xc3,                         /* ret */
	};
	void *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *frame[64];

	memcpy(made, code, sizeof(code));
	while (!stop) {
		frame[0] = &frame[2];
		frame[1] = stale[1];
		((void (*)(void *))made)(frame);
	}
#endif
	return unused;
}

static int m_stale(void) /* arg: N:LIBRARY */
{
	pthread_t t;

	int calls = 0;

	pthread_create(&t, NULL, runs_made_code, NULL);
	for (long i = atol(arg); i > 0; i--) {
		void *h = dlopen(strchr(arg, ':') + 1, RTLD_NOW);
		void (*f)(int) = (void (*)(int))dlsym(h, "plug");

		stale[1] = (char *)f + 4;
		if (!calls)
			calls = calls_in(0.0005, f);
		f(i % 16 ? 1 : calls);
		dlclose(h);
	}
	stop = 1;
	pthread_join(t, NULL);
	return puts("done"), 0;
}

/* ---- its profile ---- */

NOINLINE static void profiled(void) { sink++; }

static void *keeps_calling(void *unused)
{
	while (!stop) {
		profiled();
		burn_c(0.001);
	}
	return unused;
}

/* The file is truncated while it is written: to no bytes, or to `arg` bytes. */
static int m_truncates(void)
{
	glob_t found = { 0 };
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, keeps_calling, NULL);
	for (int i = 0; i < 1000; i++)
		profiled();
	burn_a(0.05);
	glob("*.kin", 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (truncate(found.gl_pathv[i], *arg ? atol(arg) : 0))
			perror(found.gl_pathv[i]);
	for (int i = 0; i < 1000; i++)
		profiled();
	burn_b(0.05);
	if (!fork()) {
		profiled();
		burn_c(0.05);
		_exit(0);
	}
	wait(NULL);
	stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return puts("alive"), 0;
}

/* Errors of its own on the bus are its own: handled, and not. */
static char *beyond;
static void print_blocked(void)
{
	sigset_t set;

	sigprocmask(SIG_SETMASK, NULL, &set);
	for (int i = 1; i < SIGRTMIN; i++)
		if (sigismember(&set, i) == 1)
			printf("blocked %d\n", i);
}

static void on_bus(int sig, siginfo_t *info, void *unused)
{
	(void)unused;
	printf("bus error %d at its own place %d\n", sig == SIGBUS, info->si_addr == beyond);
	print_blocked();
	mmap(beyond, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static int m_bus(void)
{
	struct sigaction sa = { .sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_RESETHAND },
			 old;
	FILE *f = tmpfile();

	burn_a(0.02);
	beyond = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
	sigaddset(&sa.sa_mask, SIGUSR1);
	sigaction(SIGBUS, &sa, &old);
	printf("had %d\n", old.sa_handler != SIG_DFL);
	*beyond = 1;
	print_blocked();
	sigaction(SIGBUS, NULL, &old);
	printf("reset %d\n", old.sa_handler == SIG_DFL);
	signal(SIGBUS, SIG_IGN);
	printf("unless %d\n", signal(SIGBUS, SIG_DFL) == SIG_IGN);
	beyond = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
	fflush(stdout);
	*beyond = 1;
	return puts("not reached"), 0;
}

/* Sent while it is busy, to a handler that calls functions with hooks; and to none. */
static volatile int buses;
static void counts_bus(int unused)
{
	(void)unused;
	profiled();
	buses++;
}

static void *sends_buses(void *unused)
{
	for (int i = 0; i < 200; i++) {
		int before = buses;

		kill(getpid(), SIGBUS);
		while (buses == before)
			usleep(100);
	}
	stop = 1;
	return unused;
}

static int m_bus_sent(void)
{
	pthread_t t;

	signal(SIGBUS, counts_bus);
	pthread_create(&t, NULL, sends_buses, NULL);
	keeps_calling(NULL);
	pthread_join(t, NULL);
	printf("%d\n", buses);
	fflush(stdout);
	signal(SIGBUS, SIG_DFL);
	return raise(SIGBUS);
}

/* ---- control ---- */

extern int moncontrol(int) __attribute__((weak));

static int m_control(void)
{
	burn_a(0.2);
	if (moncontrol)
		moncontrol(0);
	burn_b(0.3);
	if (moncontrol)
		moncontrol(1);
	burn_c(0.2);
	return 0;
}

extern int kinrt_flush(void) __attribute__((weak));

static int m_flushes(void)
{
	burn_a(0.2);
	while (kinrt_flush && cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < 0.5)
		kinrt_flush();
	burn_a(0.1);
	return 0;
}

static NOINLINE void burst(double s) { burn_a(s), sink++; }

static int m_bursts(void)
{
	enum { TICK = 4000000, N = 300 };
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	for (int i = 0; i < N; i++) {
		t.tv_nsec = (t.tv_nsec / TICK + 1) * TICK + 150000;
		if (t.tv_nsec >= 1000000000)
			t.tv_sec++, t.tv_nsec -= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		burst(0.00035);
	}
	return puts("done"), 0;
}

static int m_short_threads(void)
{
	for (int i = 0; i < 2000; i++) {
		static double s = 0.0002;
		pthread_t t;

		if (pthread_create(&t, NULL, i % 2 ? thread_a : thread_exits, &s))
			return 1;
		pthread_join(t, NULL);
	}
	return puts("done"), 0;
}

static void come_and_go(int n)
{
	static double s = 0;

	for (int i = 0; i < n; i++) {
		pthread_t t;

		if (!pthread_create(&t, NULL, thread_a, &s))
			pthread_join(t, NULL);
	}
}

/* More threads than have tables of their own, before two that work and beside them. */
static int m_many_threads(void)
{
	static double s = 0.5;
	pthread_t t[2];

	come_and_go(1100);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, thread_b, &s);
	come_and_go(1200);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return puts("done"), 0;
}

/* Many threads that wait to start: each only runs when no other can. */
static int m_waiting_threads(void)
{
	enum { N = 300 };
	static double s = 0.002;
	struct sched_param first = { .sched_priority = 10 };
	cpu_set_t one;
	pthread_t t[N];

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &first))
		return puts("not permitted"), 0;
	for (int i = 0; i < N; i++)
		if (pthread_create(&t[i], NULL, thread_b, &s))
			return 1;
	for (int i = 0; i < N; i++)
		pthread_join(t[i], NULL);
	return puts("done"), 0;
}

/* The runtime comes when threads run already. */
static void *sleeps_then_burns(void *s)
{
	usleep(50000);
	burn_b(*(double *)s);
	return NULL;
}

static int m_late(void)
{
	double s = 0.3;
	pthread_t t;

	unsetenv("LD_PRELOAD");
	pthread_create(&t, NULL, sleeps_then_burns, &s);
	if (getenv("KIN_OPTIONS") && !dlopen(arg, RTLD_NOW | RTLD_GLOBAL))
		puts(dlerror());
	burn_a(s);
	pthread_join(t, NULL);
	return puts("done"), 0;
}

/* Becomes a program with the runtime (arg) that the kernel refuses timers. */
static int m_no_timers(void)
{
	static struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_timer_create, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { 4, f };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		return 1;
	if (getenv("KIN_OPTIONS"))
		setenv("LD_PRELOAD", arg, 1);
	execl(self, self, "threads", "0.5", (char *)NULL);
	return 2;
}

static const struct {
	const char *name;
	int (*run)(void);
} modes[] = {
	{ "shares", m_shares },
	{ "threads", m_threads },
	{ "blocked", m_blocked },
	{ "stacks", m_stacks },
	{ "coroutine", m_coroutine },
	{ "blind", m_blind },
	{ "memfd", m_memfd },
	{ "altstack", m_altstack },
	{ "deep", m_deep },
	{ "small_altstack", m_small_altstack },
	{ "hooks_on_small_stack", m_hooks_on_small_stack },
	{ "raw_reset", m_raw_reset },
	{ "syscall_reset", m_syscall_reset },
	{ "old_signal", m_old_signal },
	{ "waits", m_waits },
	{ "reads_signal", m_reads_signal },
	{ "in_handler", m_in_handler },
	{ "stale", m_stale },
	{ "truncates", m_truncates },
	{ "bus", m_bus },
	{ "bus_sent", m_bus_sent },
	{ "bursts", m_bursts },
	{ "sigprof", m_sigprof },
	{ "all_signals", m_all_signals },
	{ "eintr", m_eintr },
	{ "errno", m_errno },
	{ "default", m_default_action },
	{ "forks", m_forks },
	{ "execs", m_execs },
	{ "clones", m_clones },
	{ "c11", m_c11 },
	{ "vforks", m_vforks },
	{ "clone_vm", m_clone_vm },
	{ "late", m_late },
	{ "no_timers", m_no_timers },
	{ "dlclose", m_dlclose },
	{ "unseen", m_unseen },
	{ "control", m_control },
	{ "flushes", m_flushes },
	{ "short_threads", m_short_threads },
	{ "many_threads", m_many_threads },
	{ "waiting_threads", m_waiting_threads },
};

int main(int argc, char **argv)
{
	self = argv[0];
	arg = argc > 2 ? argv[2] : "";
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(modes[i].name, argv[1])) {
			int r = modes[i].run();

			fflush(stdout);
			fprintf(stderr, "cpu %.6f\n", cpu_seconds(CLOCK_PROCESS_CPUTIME_ID));
			return r;
		}
	return 97;
}
