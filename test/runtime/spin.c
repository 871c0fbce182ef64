/* spin MODE [ARG] - uses CPU time in known places, and says how much by the clock, on standard
 * error, as "NAME SECONDS". What it prints and returns is the same with and without sampling. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "../lib/burn.h"

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
	for (int i = SIGRTMIN + 3; i <= SIGRTMAX; i++) {
		struct sigaction sa = { .sa_handler = on_other }, old;

		sigaction(i, &sa, &old);
		had += old.sa_handler != SIG_DFL;
		burn_b(0.01);
		others = 0;
		raise(i);
		if (others != 1)
			printf("signal %d: %d\n", i, others);
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

/* ---- libraries ---- */

static volatile int stop;
static void *burns(void *unused)
{
	while (!stop)
		burn_a(0.001);
	return unused;
}

static int m_dlclose(void) /* arg: N:DIR with plug_0.so ... */
{
	long n = atol(arg);
	char path[4096];
	pthread_t t;

	pthread_create(&t, NULL, burns, NULL);
	for (long i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/plug_%ld.so", strchr(arg, ':') + 1, i % 8);
		void *h = dlopen(path, RTLD_NOW);
		void (*f)(int) = (void (*)(int))dlsym(h, "plug");
		f(300000);
		dlclose(h);
	}
	stop = 1;
	pthread_join(t, NULL);
	return puts("done"), 0;
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
	{ "altstack", m_altstack },
	{ "deep", m_deep },
	{ "sigprof", m_sigprof },
	{ "all_signals", m_all_signals },
	{ "eintr", m_eintr },
	{ "errno", m_errno },
	{ "default", m_default_action },
	{ "forks", m_forks },
	{ "execs", m_execs },
	{ "vforks", m_vforks },
	{ "late", m_late },
	{ "no_timers", m_no_timers },
	{ "dlclose", m_dlclose },
	{ "control", m_control },
	{ "short_threads", m_short_threads },
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
