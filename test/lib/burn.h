/* burn.h - functions that use a known amount of CPU time, for tests that sample them.
 *
 * Since Linux 6.6 the kernel checks a thread's slice whenever the thread reads its clock. A thread
 * that reads it more often than the tick comes loses the CPU there, and no tick ever meets it: no
 * timer that the tick drives would sample it. So these functions read the clock after three ticks,
 * and more often towards the end only. */
#ifndef LIB_BURN_H
#define LIB_BURN_H

#include <time.h>

static inline double cpu_seconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static const unsigned long BURN_ROUNDS = 50000; /* the least: a tenth of a millisecond, or two */
static const double BURN_PIECE = 0.012;         /* seconds */

/* void name(double seconds); `step` is an expression of i: different ones, and the compiler keeps
 * the functions apart. */
#define BURN(name, step)                                                                           \
	__attribute__((noinline, noclone)) void name(double seconds)                               \
	{                                                                                          \
		double now = cpu_seconds(CLOCK_THREAD_CPUTIME_ID), end = now + seconds;            \
		volatile unsigned long sink = 0;                                                   \
		unsigned long rounds = BURN_ROUNDS;                                                \
		for (;;) {                                                                         \
			for (unsigned long i = 0; i < rounds; i++)                                 \
				sink += (step);                                                    \
			double then = now;                                                         \
			now = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);                                \
			if (now >= end)                                                            \
				break;                                                             \
			double piece =                                                             \
				0.9 * (end - now) < BURN_PIECE ? 0.9 * (end - now) : BURN_PIECE;   \
			double more = (double)rounds * piece / (now - then);                       \
			rounds = (unsigned long)more > BURN_ROUNDS ? (unsigned long)more           \
								   : BURN_ROUNDS;                  \
		}                                                                                  \
		__asm__ volatile("" ::: "memory");                                                 \
	}

#endif
