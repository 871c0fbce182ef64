/* calls THREADS MILLIONS - nanoseconds a call, in each of THREADS threads at a time; the best of
 * five. The clock is the thread's own: more threads than cores do not make calls dearer. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static __thread volatile unsigned long sink;
static long n;

__attribute__((noinline)) void leaf(void) { sink++; }

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *run(void *best)
{
	*(double *)best = 1e9;
	for (int k = 0; k < 5; k++) {
		double start = now(), each;

		for (long i = 0; i < n; i += 4) {
			leaf();
			leaf();
			leaf();
			leaf();
		}
		each = (now() - start) / (double)n;
		if (each < *(double *)best)
			*(double *)best = each;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	double best[64], sum = 0;
	pthread_t t[64];

	if (threads < 1 || threads > 64)
		return 2;
	n = (argc > 2 ? atol(argv[2]) : 10) * 1000000;
	for (int i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, run, &best[i]);
	for (int i = 0; i < threads; i++) {
		pthread_join(t[i], NULL);
		sum += best[i];
	}
	printf("%.3f\n", sum / threads);
	return 0;
}
