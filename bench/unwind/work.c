/* A program whose stacks are of every shape that C compilers make: deep and flat, aligned frames,
 * variable ones, callbacks from the C library, lazy binding, threads, signal handlers. Runs for
 * about argv[1] seconds of CPU time. */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))

static volatile unsigned sink;

static APART unsigned burn(unsigned n)
{
	unsigned x = n;
	for (unsigned i = 0; i < n; i++)
		x = x * 1664525 + 1013904223 + (x >> 7);
	return x;
}

static APART unsigned recurse(unsigned depth, unsigned n)
{
	volatile char pad[40];
	pad[depth % 40] = (char)n;
	unsigned x = depth ? recurse(depth - 1, n + 1) + 1 : burn(300);
	return x + (unsigned)pad[0];
}

/* gcc realigns the stack here, and the CFA is read from memory. */
static APART unsigned aligned(unsigned n)
{
	_Alignas(64) volatile unsigned a[32];
	for (unsigned i = 0; i < 32; i++)
		a[i] = burn(n & 31) + i;
	return recurse(n % 8, a[n % 32]);
}

static APART unsigned variable(unsigned n)
{
	_Alignas(64) volatile unsigned a[16];
	char *p = alloca(n % 100 + 16);
	memset(p, (int)n, n % 100 + 16);
	a[n % 16] = (unsigned)p[n % 16];
	return aligned(a[n % 16]) + (unsigned)p[3];
}

static int compare(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	sink += burn(20);
	return x < y ? -1 : x > y;
}

static APART void library(unsigned n)
{
	unsigned a[200];
	char text[200];
	for (unsigned i = 0; i < 200; i++)
		a[i] = burn(i + n);
	qsort(a, 200, sizeof(*a), compare);
	for (unsigned i = 0; i < 20; i++) {
		char *p = malloc(a[i] % 5000 + 1);
		snprintf(text, sizeof(text), "%g %u %s", a[i] / 3.0, a[i], "text");
		sink += (unsigned)strlen(text) + (unsigned)strtod(text, NULL);
		free(p);
	}
}

static void handle(int sig) { sink += recurse((unsigned)sig % 5, burn(20000)); }

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double until;

static void *work(void *arg)
{
	unsigned n = *(unsigned *)arg;
	while (seconds() < until) {
		sink += recurse(n % 60, n);
		sink += variable(n);
		library(n++);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	unsigned a = 1, b = 7;
	struct itimerval every = { { 0, 2000 }, { 0, 2000 } };
	until = seconds() + (argc > 1 ? atof(argv[1]) : 0.3);
	signal(SIGALRM, handle);
	setitimer(ITIMER_REAL, &every, NULL);
	pthread_create(&thread, NULL, work, &a);
	work(&b);
	pthread_join(thread, NULL);
	return 0;
}
