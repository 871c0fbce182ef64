/* threads.c - threads THREADS ROUNDS: each thread recurses and sorts; prints the CPU seconds that
 * all of them took. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 2000, DEEP = 20, MOST = 5000 };

static int rounds;

static int by_value(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	return (x > y) - (x < y);
}

static unsigned sorted(unsigned seed, int depth)
{
	unsigned values[N];

	if (depth)
		return sorted(seed * 1664525u + 1013904223u, depth - 1) + 1;
	for (unsigned i = 0; i < N; i++)
		values[i] = seed = seed * 1664525u + 1013904223u;
	qsort(values, N, sizeof(*values), by_value);
	return values[seed % N];
}

static void *run(void *arg)
{
	unsigned sum = 0;

	for (int i = 0; i < rounds; i++)
		sum += sorted((unsigned)i, DEEP);
	*(unsigned *)arg = sum;
	return NULL;
}

int main(int argc, char **argv)
{
	static pthread_t threads[MOST];
	static unsigned sums[MOST];
	int n = argc > 1 ? atoi(argv[1]) : 500;
	struct timespec t;

	rounds = argc > 2 ? atoi(argv[2]) : 10;
	if (n < 1 || n > MOST)
		return 2;
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, run, &sums[i]))
			return 1;
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	printf("%.6f %u\n", (double)t.tv_sec + (double)t.tv_nsec * 1e-9, sums[0]);
	return 0;
}
