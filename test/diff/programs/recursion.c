/* Self recursion, mutual recursion with several entries, deep recursion, calls of both kinds at
 * once. */
#include <stdio.h>
#include <time.h>

static volatile unsigned long sink;

static void spin(int n)
{
	for (int i = 0; i < n; i++)
		sink += (unsigned long)i;
}

__attribute__((noinline)) int fib(int n)
{
	spin(10);
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) int ackermann(int m, int n)
{
	sink++;
	if (m == 0)
		return n + 1;
	return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__attribute__((noinline)) int is_odd(unsigned n);
__attribute__((noinline)) int is_even(unsigned n)
{
	spin(20);
	return n == 0 ? 1 : !!is_odd(n - 1);
}

__attribute__((noinline)) int is_odd(unsigned n)
{
	spin(30);
	return n == 0 ? 0 : !!is_even(n - 1);
}

/* A cycle of three whose members also call out of it and themselves. */
__attribute__((noinline)) void leaf(int n) { spin(n * 40); }
__attribute__((noinline)) void ping(int n);
__attribute__((noinline)) void pong(int n);

__attribute__((noinline)) void pang(int n)
{
	leaf(n);
	if (n > 0)
		ping(n - 1);
}

__attribute__((noinline)) void pong(int n)
{
	leaf(n);
	if (n > 3)
		pong(n - 2);
	else if (n > 0)
		pang(n - 1);
}

__attribute__((noinline)) void ping(int n)
{
	spin(50);
	if (n > 0) {
		pong(n - 1);
		pang(n - 2);
	}
}

__attribute__((noinline)) int depth(int n)
{
	return n == 0 ? 0 : 1 + depth(n - 1) + (int)(sink & 0);
}

int main(void)
{
	int sum = 0;

	while (clock() < CLOCKS_PER_SEC / 4) {
		sum += fib(22) + ackermann(2, 150) + depth(10000);
		for (unsigned k = 0; k < 300; k++)
			sum += is_even(k) + is_odd(k + 1);
		for (int k = 0; k < 200; k++) {
			ping(12);
			pong(k % 9);
			leaf(k);
		}
	}
	printf("%d\n", sum != 0);
	return 0;
}
