/* idle THREADS - threads that made one call and wait; prints KiB of memory in use then. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_barrier_t all, end;

__attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }

static void *run(void *unused)
{
	leaf();
	pthread_barrier_wait(&all);
	pthread_barrier_wait(&end);
	return unused;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 500;
	pthread_t *t = calloc((size_t)n, sizeof(*t));
	char line[256];
	FILE *f;

	pthread_barrier_init(&all, NULL, (unsigned)n + 1);
	pthread_barrier_init(&end, NULL, (unsigned)n + 1);
	for (int i = 0; i < n; i++)
		pthread_create(&t[i], NULL, run, NULL);
	pthread_barrier_wait(&all);
	f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmRSS:", 6))
			printf("%ld\n", atol(line + 6));
	pthread_barrier_wait(&end);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	return 0;
}
