/* Threads that mostly wait: in a sleep, and for a lock. */
#include "truth.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double waited;

APART void nap(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
	truth_sink++;
}

APART void hold(void)
{
	pthread_mutex_lock(&lock);
	nap(20);
	pthread_mutex_unlock(&lock);
	truth_sink++;
}

APART void wait_for_lock(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	truth_sink++;
}

static void *waiter(void *arg)
{
	for (int i = 0; i < 25; i++) {
		nap(5);
		double start = truth_clock(CLOCK_MONOTONIC), cpu = truth_cpu();
		wait_for_lock();
		waited += truth_clock(CLOCK_MONOTONIC) - start - (truth_cpu() - cpu);
		truth_spin(100);
	}
	return arg;
}

int main(void)
{
	pthread_t thread;
	double held = 0;

	pthread_create(&thread, NULL, waiter, NULL);
	for (int i = 0; i < 35; i++) {
		double start = truth_clock(CLOCK_MONOTONIC), cpu = truth_cpu();
		hold();
		held += truth_clock(CLOCK_MONOTONIC) - start - (truth_cpu() - cpu);
		truth_spin(100);
	}
	pthread_join(thread, NULL);
	truth_blocked("hold", held);
	truth_blocked("wait_for_lock", waited);
	truth_end();
	return 0;
}
