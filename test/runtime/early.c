/* early.c - a resolver of an indirect function, which static programs run before they have a thread
 * pointer. */
#include <stdio.h>

int leaf(int x) { return x + 1; }

static int (*resolve(void))(int) { return leaf; }

int through(int) __attribute__((ifunc("resolve")));

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 1000; i++)
		sum = through(sum);
	printf("%d\n", sum);
	return 0;
}
