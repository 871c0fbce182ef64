/* Several threads in the same functions; each thread start is a function without a known caller. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long shared;

__attribute__((noinline)) unsigned long mix(unsigned long x)
{
	for (int i = 0; i < 40; i++)
		x = x * 6364136223846793005UL + 1442695040888963407UL;
	return x;
}

__attribute__((noinline)) void publish(unsigned long x)
{
	pthread_mutex_lock(&lock);
	shared ^= x;
	pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
	unsigned long x = (unsigned long)arg;

	for (int i = 0; i < 600000; i++) {
		x = mix(x);
		if (i % 100 == 0)
			publish(x);
	}
	return NULL;
}

static void *other_worker(void *arg)
{
	for (int i = 0; i < 300000; i++)
		publish(mix((unsigned long)arg + (unsigned long)i));
	return NULL;
}

int main(void)
{
	pthread_t t[4];

	for (unsigned long i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, i % 2 ? worker : other_worker, (void *)i))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", shared != 0);
	return 0;
}
