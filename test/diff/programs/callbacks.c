/* Functions called from libraries, from the start-up code and from the kernel; function pointers;
 * constructors, destructors, weak symbols, aliases and an indirect function. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;
static volatile sig_atomic_t signals;

static int compare(const void *a, const void *b)
{
	sink++;
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static int compare_down(const void *a, const void *b) { return compare(b, a); }

__attribute__((constructor)) static void before_main(void) { sink = 1; }
__attribute__((constructor(200))) void early(void) { before_main(); }
__attribute__((destructor)) static void after_main(void) { sink++; }
static void at_exit(void) { after_main(); }
static void on_signal(int number) { signals += number; }

__attribute__((weak)) int hook(int x) { return x + 1; }
int real_name(int x);
__attribute__((noinline)) int real_name(int x) { return x * 3 + (int)sink; }
int other_name(int x) __attribute__((alias("real_name")));
int _real_name(int x) __attribute__((weak, alias("real_name")));

static int slow_way(int x) { return real_name(x) + hook(x); }
static int (*pick_way(void))(int) { return slow_way; }
int way(int x) __attribute__((ifunc("pick_way")));

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }
static int (*const operations[])(int, int) = { add, sub, mul };

__attribute__((noinline)) static int fold(const int *v, size_t n)
{
	int r = 1;

	for (size_t i = 0; i < n; i++)
		r = operations[i % 3](r, v[i] & 7);
	return r;
}

int main(void)
{
	enum { N = 60000 };
	static int v[N];
	int sum = 0, round = 0;

	atexit(at_exit);
	signal(SIGUSR1, on_signal);
	for (; clock() < CLOCKS_PER_SEC / 4; round++) {
		for (int i = 0; i < N; i++)
			v[i] = (int)((unsigned)i * 2654435761U >> 3) + round;
		qsort(v, N, sizeof(*v), round % 2 ? compare : compare_down);
		sum += fold(v, N) & 1;
		raise(SIGUSR1);
		sum += bsearch(&v[7], v, N, sizeof(*v), compare) != NULL;
		sum += other_name(round) + _real_name(round) + way(round);
	}
	printf("%d\n", sum != 0 && signals == round * SIGUSR1);
	return 0;
}
