/* truth.h - for programs that know where their own time goes.
 *
 * A program does its work in pieces, and times those it wants to tell of with its thread's CPU
 * clock (pieces of some 0.1 ms and more, so that the clock, some 0.3 us, is lost in them). At the
 * end it prints, to standard output, lines of four words:
 *
 *	inclusive FUNCTION - SECONDS    CPU time while FUNCTION was on the stack
 *	arc CALLER CALLEE SECONDS       CPU time while CALLER's call of CALLEE was on the stack
 *	blocked FUNCTION - SECONDS      time in which a thread in FUNCTION neither ran nor wanted to
 *	total - - SECONDS               CPU time of the process
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <stdio.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))

static volatile unsigned long truth_sink;

static __thread unsigned long truth_seed = 1;

/* About 20 us of work for each unit on average, between half and one and a half times that: a
 * program that does the same thing every so many milliseconds may keep step with whoever samples
 * it. */
static inline __attribute__((always_inline)) void truth_spin(long units)
{
	unsigned long s = truth_sink;
	truth_seed = truth_seed * 6364136223846793005u + 1442695040888963407u;
	long n = units * (5000 + (long)(truth_seed >> 33) % 10000);
	for (long i = 0; i < n; i++)
		s += (unsigned long)i ^ (s >> 3);
	truth_sink = s;
}

static inline double truth_clock(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline double truth_cpu(void) { return truth_clock(CLOCK_THREAD_CPUTIME_ID); }

static inline void truth_inclusive(const char *function, double seconds)
{
	printf("inclusive %s - %.6f\n", function, seconds);
}

static inline void truth_arc(const char *caller, const char *callee, double seconds)
{
	printf("arc %s %s %.6f\n", caller, callee, seconds);
}

static inline void truth_blocked(const char *function, double seconds)
{
	printf("blocked %s - %.6f\n", function, seconds);
}

static inline void truth_end(void)
{
	printf("total - - %.6f\n", truth_clock(CLOCK_PROCESS_CPUTIME_ID));
}

#endif
