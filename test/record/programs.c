/* programs.c - the programs that the tests record: programs NAME [ARGUMENT]. Compiled -O0 with
 * frame pointers, and -O2 without. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile unsigned long sink;

static double cpu_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

NOINLINE void loop(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i;
}

NOINLINE void spin(double seconds)
{
	for (double end = cpu_seconds() + seconds; cpu_seconds() < end;)
		loop(100000);
	sink++;
}

/* All time in foo (60 %) and bar's own loop (40 %). */
NOINLINE void foo(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i;
}
NOINLINE void bar(unsigned long n)
{
	for (unsigned long i = 0; i < 2 * n; i++)
		sink += i;
	foo(3 * n);
	sink++;
}
static int watch_clock(int n) /* in the vdso, most of the time */
{
	struct timespec t = { 0 };
	for (double end = cpu_seconds() + n / 1000.0; cpu_seconds() < end;)
		for (int i = 0; i < 100000; i++)
			clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_nsec < 0;
}

static int foobar(int n)
{
	for (int i = 0; i < n; i++) {
		bar(1000000);
		sink++;
	}
	return 0;
}

NOINLINE int deep(int n)
{
	volatile char frame[512];
	memset((char *)frame, n, sizeof(frame));
	if (n)
		deep(n - 1);
	else
		spin(0.3);
	return frame[7];
}

static void *thread(void *arg)
{
	for (int i = 0; i < 30; i++)
		loop((int)(long)arg);
	return NULL;
}
static int threads(int n)
{
	pthread_t *t = calloc((size_t)n, sizeof(*t));
	for (int i = 0; i < n; i++)
		pthread_create(&t[i], NULL, thread, (void *)(n > 100 ? 100000L : 1000000L));
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	return 0;
}

/* Two threads at once, then one alone. */
NOINLINE void together(void) { loop(150000000); }
NOINLINE void alone(void) { loop(150000000); }
static void *beside(void *unused)
{
	(void)unused;
	together();
	return NULL;
}
static int pair(void)
{
	pthread_t t;
	pthread_create(&t, NULL, beside, NULL);
	together();
	pthread_join(t, NULL);
	alone();
	return 0;
}

struct ends {
	int from, to, n;
};
static void *wake_each_other(void *arg)
{
	const struct ends *e = arg;
	char c = 0;
	for (int i = 0; i < e->n; i++)
		if (write(e->to, &c, 1) != 1 || read(e->from, &c, 1) != 1)
			break;
	return NULL;
}
static int ping_pong(int n) /* two threads that do nothing else */
{
	int a[2], b[2];
	pthread_t t;
	if (pipe(a) || pipe(b))
		return 1;
	struct ends there = { a[0], b[1], n }, here = { b[0], a[1], n };
	pthread_create(&t, NULL, wake_each_other, &there);
	wake_each_other(&here);
	pthread_join(t, NULL);
	return 0;
}

static int forks(int n)
{
	for (int i = 0; i < n; i++) {
		if (!fork()) {
			spin(0.02);
			_exit(0);
		}
		if (i % 20 == 19)
			while (wait(NULL) > 0)
				continue;
	}
	while (wait(NULL) > 0)
		continue;
	return 7;
}

static int storm(int n) /* of children that end at once */
{
	int bad = 0, status;
	for (int i = 0; i < n; i++) {
		if (!fork())
			_exit(3);
		bad += wait(&status) < 0 || status != 0x300;
	}
	return bad ? 1 : 7;
}

NOINLINE int touch_pages(int n) /* each for the first time */
{
	enum { PAGE = 4096, ROUND = 2000 };
	for (int left = n; left > 0; left -= ROUND) {
		size_t size = (size_t)(left < ROUND ? left : ROUND) * PAGE;
		volatile char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			return 1;
		madvise((void *)p, size, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < size; i += PAGE)
			p[i] = 1;
		munmap((void *)p, size);
	}
	return 0;
}

NOINLINE void daemon_work(void) { spin(0.2); }
static int daemons(void)
{
	if (daemon(1, 0))
		return 1;
	usleep(300000);
	daemon_work();
	return 0;
}

static int chain(int n, char *self)
{
	char number[16];
	spin(0.03);
	if (!n)
		return 9;
	snprintf(number, sizeof(number), "%d", n - 1);
	execl(self, self, "chain", number, (char *)NULL);
	return 1;
}

NOINLINE void before_exec(void) { spin(0.2); }
static void *executes(void *unused)
{
	(void)unused;
	before_exec();
	execl("./fast", "fast", "spin", "200", (char *)NULL);
	return NULL;
}
static int thread_executes(void)
{
	pthread_t t;
	pthread_create(&t, NULL, executes, NULL);
	pause();
	return 1;
}

/* The process goes on without its first thread. */
NOINLINE void on_large_stack(double seconds)
{
	volatile char untouched[40000]; /* but for both ends */
	untouched[sizeof(untouched) - 1] = 1;
	spin(seconds);
	untouched[0] = 1;
}
static void *goes_on(void *unused)
{
	(void)unused;
	on_large_stack(1);
	return NULL;
}
static int first_ends(void)
{
	pthread_t t;
	pthread_create(&t, NULL, goes_on, NULL);
	pthread_exit(NULL);
}

NOINLINE void nap(void) { usleep(300000); }
static int sleeper(void)
{
	spin(0.1);
	nap();
	spin(0.1);
	return 0;
}

static volatile sig_atomic_t seen;
static void on_signal(int number) { seen = number; }
static int wait_for_signal(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 };
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		signal(numbers[i], on_signal);
	puts("ready");
	fflush(stdout);
	while (!seen)
		usleep(10000);
	return 50 + seen;
}

/* Code made at run time, and named only after it has run, as by a JIT with a buffered map. */
static int jit(void)
{
#if defined(__x86_64__)
	/* mov rax, rdi; 1: dec rax; jnz 1b; ret */
	static const unsigned char code[] = {
		0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3
	};
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	memcpy(p, code, sizeof(code));
	void (*made)(unsigned long);
	memcpy(&made, &p, sizeof(made));
	for (double end = cpu_seconds() + 0.2; cpu_seconds() < end;)
		made(1000000);
	char path[64];
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	FILE *f = fopen(path, "w");
	fprintf(f, "%lx %zx made_at_run_time\n", (unsigned long)p, sizeof(code));
	fclose(f);
	puts(path);
#endif
	return 0;
}

/* A handler on a stack of its own, which takes half of the time; those it interrupts have two
 * callers. */
NOINLINE static void handles(int number)
{
	(void)number;
	loop(3000000);
	sink++;
}
NOINLINE static void first(void)
{
	foo(1000000);
	sink++;
}
NOINLINE static void second(void)
{
	foo(1000000);
	sink++;
}
static int interrupted(void)
{
	stack_t own = { .ss_size = 1 << 16, .ss_sp = malloc(1 << 16) };
	struct sigaction act = { .sa_handler = handles, .sa_flags = SA_ONSTACK };
	struct itimerval every = { { 0, 10000 }, { 0, 10000 } };
	sigaltstack(&own, NULL);
	sigaction(SIGPROF, &act, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
	for (double end = cpu_seconds() + 0.5; cpu_seconds() < end;) {
		first();
		second();
	}
	return 0;
}

static int dispositions(void)
{
	sigset_t set;
	sigprocmask(SIG_BLOCK, NULL, &set);
	for (int i = 1; i < 32; i++) {
		struct sigaction a;
		sigaction(i, NULL, &a);
		printf("%d%s%s ", i, sigismember(&set, i) ? "b" : "",
		       a.sa_handler == SIG_IGN ? "i" : "");
	}
	printf("%d\n", nice(0));
	return 0;
}

/* The rest of the command line, where perf_event_open is refused, and perhaps timers as well. */
static int refused(char **argv, bool timers)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, timers ? SYS_timer_create : -1u, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &program))
		return 98;
	execv(argv[0], argv);
	return 97;
}

NOINLINE static void *waits_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* Two threads that never run again. */
static int waiting(void)
{
	pthread_t t;
	pthread_create(&t, NULL, waits_for_ever, NULL);
	usleep(100000);
	puts("begun");
	fflush(stdout);
	for (;;)
		pause();
}

static void *nothing(void *arg)
{
	for (volatile int i = 0; i < 20000; i++)
		;
	return arg;
}

static void *churns(void *once)
{
	do {
		pthread_t t[4];
		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, nothing, NULL);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
	} while (!once);
	return NULL;
}

static void *works(void *arg)
{
	for (;;)
		loop(1000000);
	return arg;
}

/* Threads that work until a line comes. */
static int workers(int n)
{
	pthread_t t;
	for (int i = 0; i < n; i++)
		pthread_create(&t, NULL, works, NULL);
	puts("begun");
	fflush(stdout);
	getchar();
	return 0;
}

/* Threads that come and go, for ever. */
static int churn(void)
{
	pthread_t t;
	puts("begun");
	fflush(stdout);
	for (int i = 0; i < 2; i++)
		pthread_create(&t, NULL, churns, NULL);
	churns(NULL);
	return 0;
}

static ucontext_t caller, coroutine;

static void turns(void)
{
	for (;;) {
		spin(0.02);
		swapcontext(&coroutine, &caller);
	}
}

static int coroutines(void)
{
	getcontext(&coroutine);
	coroutine.uc_stack.ss_size = 64 << 10;
	coroutine.uc_stack.ss_sp = malloc(coroutine.uc_stack.ss_size);
	coroutine.uc_link = &caller;
	makecontext(&coroutine, turns, 0);
	for (int i = 0; i < 20; i++)
		swapcontext(&caller, &coroutine);
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;
	if (!strcmp(name, "foobar"))
		return foobar(n);
	if (!strcmp(name, "spin"))
		return spin(n / 1000.0), 0;
	if (!strcmp(name, "clock"))
		return watch_clock(n);
	if (!strcmp(name, "deep"))
		return deep(n), 0;
	if (!strcmp(name, "storm"))
		return storm(n);
	if (!strcmp(name, "threads"))
		return threads(n);
	if (!strcmp(name, "touch"))
		return touch_pages(n);
	if (!strcmp(name, "forks"))
		return forks(n);
	if (!strcmp(name, "daemon"))
		return daemons();
	if (!strcmp(name, "chain"))
		return chain(n, argv[0]);
	if (!strcmp(name, "thread_executes"))
		return thread_executes();
	if (!strcmp(name, "first_ends"))
		return first_ends();
	if (!strcmp(name, "pingpong"))
		return ping_pong(n);
	if (!strcmp(name, "pair"))
		return pair();
	if (!strcmp(name, "sleeper"))
		return sleeper();
	if (!strcmp(name, "wait"))
		return wait_for_signal();
	if (!strcmp(name, "jit"))
		return jit();
	if (!strcmp(name, "interrupted"))
		return interrupted();
	if (!strcmp(name, "coroutines"))
		return coroutines();
	if (!strcmp(name, "dispositions"))
		return dispositions();
	if (!strcmp(name, "waiting"))
		return waiting();
	if (!strcmp(name, "workers"))
		return workers(n);
	if (!strcmp(name, "churn"))
		return churn();
	if (!strcmp(name, "refused") || !strcmp(name, "untimed"))
		return refused(argv + 2, !strcmp(name, "untimed"));
	if (!strcmp(name, "exit"))
		return n;
	if (!strcmp(name, "die"))
		raise(n);
	return 99;
}
