/* random.c - random THREADS MILLIONS: nanoseconds a call where a thousand functions call each other
 * at random, a million arcs in each thread, once all are known; the thread's own clock, the mean of
 * all threads. And the memory that the process has, in KiB. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { FUNCTIONS = 1000, DEPTH = 30, WARM_UP = 12 };

typedef uint64_t function(uint64_t state, int depth);
static function *const functions[FUNCTIONS];

static inline uint64_t next(uint64_t s) { return s * 6364136223846793005u + 1442695040888963407u; }

/* The result is computed from the call's, so that the call is not a tail call. */
#define ONE(n)                                                                                     \
	__attribute__((noinline)) static uint64_t f##n(uint64_t s, int depth)                      \
	{                                                                                          \
		s = next(s + n);                                                                   \
		if (!depth)                                                                        \
			return s;                                                                  \
		return functions[(s >> 33) % FUNCTIONS](s, depth - 1) + n;                         \
	}
#define TEN(f, n) f(n##0) f(n##1) f(n##2) f(n##3) f(n##4) f(n##5) f(n##6) f(n##7) f(n##8) f(n##9)
#define HUNDRED(f, n)                                                                              \
	TEN(f, n##0)                                                                               \
	TEN(f, n##1)                                                                               \
	TEN(f, n##2)                                                                               \
	TEN(f, n##3)                                                                               \
	TEN(f, n##4) TEN(f, n##5) TEN(f, n##6) TEN(f, n##7) TEN(f, n##8) TEN(f, n##9)
#define THOUSAND(f)                                                                                \
	HUNDRED(f, 1)                                                                              \
	HUNDRED(f, 2)                                                                              \
	HUNDRED(f, 3)                                                                              \
	HUNDRED(f, 4)                                                                              \
	HUNDRED(f, 5)                                                                              \
	HUNDRED(f, 6) HUNDRED(f, 7) HUNDRED(f, 8) HUNDRED(f, 9) HUNDRED(f, 10)
THOUSAND(ONE)
#define NAME(n) f##n,
static function *const functions[FUNCTIONS] = { THOUSAND(NAME) };

__attribute__((no_instrument_function)) static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t call(uint64_t state, long calls)
{
	for (long i = 0; i < calls; i += DEPTH + 1)
		state = functions[state >> 33 & 511](state, DEPTH);
	return state;
}

static long calls;
static volatile uint64_t sink;

static void *run(void *ns)
{
	uint64_t state = call((uintptr_t)ns, WARM_UP * 1000000L);
	double start = now();

	sink = call(state, calls);
	*(double *)ns = (now() - start) / (double)calls;
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	double ns[64], sum = 0;
	struct rusage used;
	pthread_t t[64];

	if (threads < 1 || threads > 64)
		return 2;
	calls = (argc > 2 ? atol(argv[2]) : 32) * 1000000L;
	for (int i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, run, &ns[i]);
	for (int i = 0; i < threads; i++) {
		pthread_join(t[i], NULL);
		sum += ns[i];
	}
	getrusage(RUSAGE_SELF, &used);
	printf("%.3f %ld\n", sum / threads, used.ru_maxrss);
	return 0;
}
