/* waits - threads that want the runtime's lock while it is held for long: they get it, and hardly
 * poll meanwhile; nor do they wait for a child of vfork that was killed with the lock. Prints the
 * results. */
#include "rt.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 16, HELD_MS = 700 };

struct rt rt;
static _Atomic int looks, got;

static void *wants(void *unused)
{
	struct rusage u;
	uint64_t mask;

	(void)unused;
	if (rt_lock(&mask)) {
		got++;
		rt_unlock(mask);
	}
	getrusage(RUSAGE_THREAD, &u);
	looks += (int)u.ru_nvcsw;
	return NULL;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(void)
{
	pthread_t t[THREADS];
	uint64_t mask;
	double began;
	pid_t child;

	if (!rt_lock(&mask))
		return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, wants, NULL);
	usleep(HELD_MS * 1000);
	rt_unlock(mask);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("%d of %d have had it, after %d looks\n", (int)got, THREADS, looks / THREADS);
	child = vfork();
	if (!child) {
		rt_lock(&mask);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	began = now();
	printf("taken from the dead: %d, ", rt_lock(&mask));
	printf("at once: %d\n", now() - began < 2);
	return 0;
}
