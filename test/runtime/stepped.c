/* stepped WHAT - a -pg program whose signal handler calls profiled functions, too: stepsig delivers
 * the signal between any two instructions. Its last line is the truth: calls of leaf, and of
 * in_handler. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef WITH_RUNTIME
#include "rt.h"

extern void _mcleanup(void), monstartup(unsigned long low, unsigned long high);
#endif

#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink, handled;
static jmp_buf back;

NOINLINE void leaf(void) { sink++; }
NOINLINE void in_handler(void) { sink++; }
NOINLINE void also(unsigned long n) { sink += n; }

/* many call sites, so that slots are added and tables grow in the handler as well */
#define SITES8(f)                                                                                  \
	f;                                                                                         \
	f;                                                                                         \
	f;                                                                                         \
	f;                                                                                         \
	f;                                                                                         \
	f;                                                                                         \
	f;                                                                                         \
	f;
#define SITES64(f) SITES8(SITES8(f))
NOINLINE void sites(void)
{
	SITES64(leaf()) SITES64(leaf()) SITES64(leaf()) SITES64(leaf()) SITES64(leaf())
}

static void handler(int sig)
{
	(void)sig;
	in_handler();
	handled++;
	switch (handled % 8) { /* new arcs here, too */
	case 1:
		also(1);
		break;
	case 2:
		also(2);
		break;
	case 3:
		also(3);
		break;
	case 4:
		also(4);
		break;
	default:
		break;
	}
}

static long calls(void)
{
	for (int i = 0; i < 200; i++)
		leaf();
	sites();
	return 200 + 320;
}

NOINLINE void jump(void)
{
	leaf();
	longjmp(back, 1);
}

static long jumps(void)
{
	volatile int i = 0;

	while (i++ < 20)
		if (!setjmp(back))
			jump();
	return 20;
}

static void *thread(void *unused) { return leaf(), unused; }

static long threads(void)
{
	pthread_t t;
	sigset_t s, old;

	sigemptyset(&s);
	sigaddset(&s, SIGPROF);
	for (int i = 0; i < 3; i++) {
		pthread_sigmask(SIG_BLOCK, &s, &old); /* the thread is not stepped */
		pthread_create(&t, NULL, thread, NULL);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
		pthread_join(t, NULL);
	}
	return 3;
}

static long libraries(const char *plug)
{
	for (int i = 0; i < 2; i++) {
		void *h = dlopen(plug, RTLD_NOW);
		void (*f)(int) = (void (*)(int))dlsym(h, "plug");

		f(3);
		dlclose(h);
	}
	leaf();
	return 1;
}

static long memory(void)
{
	for (int i = 1; i < 40; i++) {
		free(malloc((size_t)i * 700));
		leaf();
	}
	return 39;
}

#ifdef WITH_RUNTIME /* linked with libkinrt.a: inside of it */
NOINLINE void few_sites(void) { SITES64(leaf()) SITES64(leaf()) }

/* Many arcs do not get their first slots, and the first of them that is looked up runs out of
 * probes: the table is followed by a larger one. */
static long renewal(void)
{
	struct rt_own *own;

	leaf();
	own = rt_own(rt_block_of(rt_tls.arcs));
	own->patience = 0;
	for (uint64_t at = 0; at < own->mask; at += 4 * sizeof(struct kinf_call)) {
		struct kinf_call *s = (struct kinf_call *)((char *)rt_tls.arcs + at);

		if (!s->key)
			s->key = KINF_CALL_TAKEN; /* for ever */
	}
	for (int i = 0; i < 3; i++)
		few_sites();
	return 1 + 3 * 128;
}

/* The only slot of a call of leaf(), by any caller. */
static struct kinf_call *slot_of_leaf(void)
{
	uint64_t to = (uint64_t)(uintptr_t)leaf;
	struct kinf_call *s = rt_tls.arcs;

	while (rt_call_at(s).to - to >= 32)
		s++;
	return s;
}

/* As many calls as a slot has no room for. */
static long carry(void)
{
	const uint32_t before = UINT32_MAX - 1;

	for (int i = 0; i < 4; i++) {
		leaf();
		if (i == 0)
			slot_of_leaf()->count = before;
	}
	return (long)before + 3;
}

/* The same of a gmon.out that begins anew: these are its calls. */
static long carry_anew(void)
{
	for (int i = 0; i < 6; i++) {
		leaf();
		if (i)
			continue;
		slot_of_leaf()->count = UINT32_MAX - 1;
		_mcleanup();
		monstartup(0, 0);
	}
	return 5;
}
#endif

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	const char *what = argc > 1 ? argv[1] : "calls";
	long n = 0;

	sigaction(SIGPROF, &sa, NULL);
	if (!strcmp(what, "calls"))
		n = calls();
	else if (!strcmp(what, "jumps"))
		n = jumps();
	else if (!strcmp(what, "threads"))
		n = threads();
	else if (!strcmp(what, "libraries"))
		n = libraries(argv[2]);
	else if (!strcmp(what, "memory"))
		n = memory();
#ifdef WITH_RUNTIME
	else if (!strcmp(what, "renewal"))
		n = renewal();
	else if (!strcmp(what, "carry"))
		n = carry();
	else if (!strcmp(what, "carry anew"))
		n = carry_anew();
#endif
	sa.sa_handler = SIG_IGN;
	sigaction(SIGPROF, &sa, NULL);
	printf("truth %ld %lu\n", n, handled);
	return 0;
}
