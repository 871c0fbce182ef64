/* Two threads; each calls a function here and one in a shared library, COUNT times. Built twice:
 * with LIBRARY the library. With an argument it ends by exit, otherwise by _exit, which skips all
 * clean-up. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { COUNT = 5 * 1000 * 1000 };

unsigned mix(unsigned x);

#ifdef LIBRARY
static unsigned rotate(unsigned x) { return x << 7 | x >> 25; }

unsigned mix(unsigned x)
{
	for (int i = 0; i < 64; i++)
		x = x * 2654435761u + 1;
	return rotate(x);
}
#else
unsigned step(unsigned x) { return mix(x) ^ x >> 3; }

static void *worker(void *seed)
{
	unsigned x = *(unsigned *)seed;
	for (int i = 0; i < COUNT; i++)
		x = step(x);
	*(unsigned *)seed = x;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	unsigned one = 1, two = 2;

	pthread_create(&thread, NULL, worker, &one);
	worker(&two);
	pthread_join(thread, NULL);
	printf("%u: 2 threads called step() and mix() %d times each, mix() is in a library\n",
	       one + two, COUNT);
	fflush(stdout);
	if (argc > 1)
		exit(atoi(argv[1]));
	_exit(0);
}
#endif
