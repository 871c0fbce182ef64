/* spans MODE [ARG] - calls of known duration, for -finstrument-functions. At its end it prints
 * the median duration of each by its own clock: "took NAME MEDIAN", in ns. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define QUIET    __attribute__((no_instrument_function))

static const char *arg = "";
static jmp_buf away;

QUIET static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

enum { NAP, TEN_US, HUNDRED_US, THOUSAND, KINDS, MOST = 1000 };
static const char *const kinds[KINDS] = { "nap", "ten_us", "hundred_us", "thousand" };
static long spans[KINDS][MOST];
static int n_spans[KINDS];

QUIET static void took(int kind, long start)
{
	long ns = now() - start;
	int i = __atomic_fetch_add(&n_spans[kind], 1, __ATOMIC_RELAXED);

	if (i < MOST)
		spans[kind][i] = ns;
}

QUIET static int by_length(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

QUIET static void say_medians(void)
{
	for (int k = 0; k < KINDS; k++) {
		int n = n_spans[k] < MOST ? n_spans[k] : MOST;

		qsort(spans[k], (size_t)n, sizeof(long), by_length);
		if (n)
			printf("took %s %ld\n", kinds[k], spans[k][n / 2]);
	}
}

QUIET static void busy(int kind, long ns)
{
	long start = now();

	while (now() - start < ns)
		;
	took(kind, start);
}

NOINLINE void nap(void)
{
	long start = now();

	usleep(2000);
	took(NAP, start);
}
NOINLINE void ten_us(void) { busy(TEN_US, 10000); }
NOINLINE void hundred_us(void) { busy(HUNDRED_US, 100000); }
NOINLINE void outer(void)
{
	ten_us();
	hundred_us();
}
NOINLINE void empty(void) { __asm__ volatile(""); }
NOINLINE void thousand(void)
{
	for (int i = 0; i < 1000; i++)
		empty();
}
NOINLINE void leaves(int n)
{
	if (n)
		leaves(n - 1);
	else
		longjmp(away, 1);
	__asm__ volatile("");
}
NOINLINE long recursive(long n)
{
	long r = n ? recursive(n - 1) : 0;

	__asm__ volatile("" : "+r"(r));
	return r + 1;
}

QUIET static int m_known(void)
{
	for (int i = 0; i < 20; i++)
		nap();
	for (int i = 0; i < 200; i++)
		outer();
	for (int i = 0; i < 500; i++) {
		long start = now();

		thousand();
		took(THOUSAND, start);
	}
	return 0;
}

QUIET static int m_jumps(void)
{
	for (volatile int i = 0; i < 100; i++)
		if (!setjmp(away))
			leaves(5);
		else
			ten_us();
	return 0;
}

QUIET static int m_deep(void) { return recursive(1000000) != 1000001 || recursive(10) != 11; }

QUIET static void *in_thread(void *unused)
{
	for (int i = 0; i < 1000; i++)
		outer(), thousand();
	return unused;
}

QUIET static int m_threads(void)
{
	pthread_t t[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, in_thread, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	return 0;
}

NOINLINE void parent_of(int *status)
{
	pid_t p = fork();

	if (!p) {
		hundred_us();
		return;
	}
	waitpid(p, status, 0);
	ten_us();
}

QUIET static int m_fork(void)
{
	int status = 0;

	parent_of(&status);
	return status != 0;
}

static ucontext_t home, other;
NOINLINE void yields(void)
{
	for (int i = 0; i < 50; i++) {
		ten_us();
		swapcontext(&other, &home);
	}
}
NOINLINE void resumes(void)
{
	swapcontext(&home, &other);
	hundred_us();
}

QUIET static int m_coroutine(void)
{
	static char stack[65536];

	getcontext(&other);
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = sizeof(stack);
	other.uc_link = &home;
	makecontext(&other, yields, 0);
	for (int i = 0; i < 50; i++)
		resumes();
	return 0;
}

QUIET static int m_libraries(void) /* arg: N:DIR */
{
	char path[4096];

	for (long i = 0, n = atol(arg); i < n; i++) {
		snprintf(path, sizeof(path), "%s/plug_%ld.so", strchr(arg, ':') + 1, i % 8);
		void *h = dlopen(path, RTLD_NOW);
		void (*f)(int) = (void (*)(int))dlsym(h, "plug");
		f(10);
		dlclose(h);
	}
	return 0;
}

NOINLINE void in_handler(void) { empty(); }
static volatile long handled;
QUIET static void handler(int sig)
{
	(void)sig;
	handled++;
	in_handler();
}

QUIET static int m_stepped(void)
{
	signal(SIGPROF, handler);
	for (int i = 0; i < 30; i++) {
		empty();
		recursive(3);
		if (i % 10 == 0 && !setjmp(away))
			leaves(2);
	}
	signal(SIGPROF, SIG_IGN);
	printf("handled %ld\n", handled);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} modes[] = {
	{ "known", m_known },     { "jumps", m_jumps },         { "deep", m_deep },
	{ "threads", m_threads }, { "fork", m_fork },           { "coroutine", m_coroutine },
	{ "stepped", m_stepped }, { "libraries", m_libraries },
};

QUIET int main(int argc, char **argv)
{
	arg = argc > 2 ? argv[2] : "";
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(modes[i].name, argv[1])) {
			int r = modes[i].run();

			say_medians();
			return r;
		}
	return 97;
}
