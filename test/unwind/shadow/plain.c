/* What C programs without tables do: recursion, calls through pointers and from the C library,
 * signals, longjmp(), threads. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf back;
static volatile unsigned sink;

__attribute__((noinline)) static unsigned leaf(unsigned x) { return x * 2654435761u >> 3; }

__attribute__((noinline)) static unsigned recurse(unsigned n)
{
	volatile unsigned here[5] = { n };
	return n ? recurse(n - 1) + here[0] : leaf(n);
}

__attribute__((noinline)) static unsigned varied(unsigned n)
{
	char room[16 + n % 700];
	memset(room, (int)n, sizeof(room));
	return recurse(n % 5) + (unsigned)room[n % 16];
}

static int compare(const void *a, const void *b)
{
	sink += varied(3);
	return *(const int *)a - *(const int *)b;
}

static void handler(int signal) { sink += recurse((unsigned)signal % 8); }

static void *thread(void *unused)
{
	char text[100];
	for (int i = 0; i < 30; i++) {
		snprintf(text, sizeof(text), "%g %s", i * 1.5, "x");
		sink += (unsigned)strlen(text);
	}
	return unused;
}

int main(void)
{
	signal(SIGUSR1, handler);
	for (;;) {
		int of[32];
		char text[200];
		pthread_t t;
		for (int i = 0; i < 32; i++)
			of[i] = i * 7 % 32;
		qsort(of, 32, sizeof(of[0]), compare);
		raise(SIGUSR1);
		if (!setjmp(back)) {
			recurse(3);
			longjmp(back, 1);
		}
		snprintf(text, sizeof(text), "%f %u %s", sqrt(sink), sink, "a");
		sink += (unsigned)strtod(text, NULL);
		pthread_create(&t, NULL, thread, NULL);
		pthread_join(t, NULL);
		free(strdup(text));
	}
}
