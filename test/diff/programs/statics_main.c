/* The same static name in several files, and functions of a header in each of them. */
#include <stdio.h>
#include <time.h>

#include "statics.h"

static int helper(int x) { return work(x, 10); }

int main(void)
{
	int sum = 0;

	for (int i = 0; clock() < CLOCKS_PER_SEC / 4; i++)
		sum += helper(i) + first(i) + second(i) + in_header(i);
	printf("%d\n", sum != 0);
	return 0;
}
