/* A library whose constructor waits until a signal handler of the program has run. */
#include <stdio.h>
#include <unistd.h>

extern volatile int constructing, called;

__attribute__((constructor)) static void begins(void)
{
	enum { PATIENCE_MS = 10000 };

	constructing = 1;
	for (int i = 0; i < PATIENCE_MS && !called; i++)
		usleep(1000);
	puts(called ? "called meanwhile" : "waited in vain");
}
