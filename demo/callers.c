/* Two functions call work() equally often; one asks for 94 times as much of it. */
#include <stdio.h>

static volatile unsigned sum;

__attribute__((noinline)) void work(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sum += i;
}

__attribute__((noinline)) void cheap(void) { work(3000); }

__attribute__((noinline)) void dear(void) { work(94 * 3000); }

int main(void)
{
	for (int i = 0; i < 4000; i++) {
		cheap();
		dear();
	}
	printf("%u\n", sum);
	return 0;
}
