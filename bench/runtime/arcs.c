/* arcs N - makes N different arcs; prints the milliseconds of CPU time that writing the profile
 * takes, .kin and gmon.out. */
#include <kinrt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void __cyg_profile_func_enter(void *function, void *call_site);
void monstartup(unsigned long low, unsigned long high);
static char code[1 << 20];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000000;
	double start;

	monstartup(0, 1); /* as a program compiled with -pg */
	for (long i = 0; i < n; i++)
		__cyg_profile_func_enter(code + i % 1000 * 16, code + i / 1000 * 16 + 5);
	start = now();
	kinrt_flush();
	printf("%.3f\n", now() - start);
	return 0;
}
