/* work.c - a program whose time is spent in one function, called by another one. */
#include <time.h>

volatile unsigned long sum;

__attribute__((noinline)) void busy(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sum += i;
}

__attribute__((noinline)) void outer(void)
{
	while (clock() < CLOCKS_PER_SEC / 2)
		busy(100000);
	sum++;
}

int main(void)
{
	outer();
	return 0;
}
