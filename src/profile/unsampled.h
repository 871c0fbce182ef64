/* unsampled.h - CPU time that no sample stands for, as a row of its own in all reports.
 *
 * Shares are then of the kernel's accounting: nothing is said of where this time was spent, but
 * that it was. Recordings miss CPU time of short threads, of threads that block signals or slept
 * between samples, or if samples were lost. */
#ifndef PROFILE_UNSAMPLED_H
#define PROFILE_UNSAMPLED_H

#include <math.h>

#include "profile/samples_builder.h"

/* A smaller part of the CPU time is in no row: the times of a thread's first and last sample, and
 * of the accounting, differ by chance. */
#define UNSAMPLED_LEAST 0.05

/* The share of the CPU time that `samples` samples lack, or have too much, beyond chance. A
 * recording begins with clocks of CPUs, which see short tasks; their number of samples is random,
 * with a deviation of its root. */
static inline double unsampled_least(double samples)
{
	const double few = 30, at_first = 250; /* a quarter of a second, at the usual rate */
	double random = samples < at_first ? samples : at_first;
	double chance = samples < few ? 0 : 3 * sqrt(random) / samples;
	return chance > UNSAMPLED_LEAST ? chance : UNSAMPLED_LEAST;
}

/* Adds what the tasks used and the samples of the first event, a clock of all CPU time, do not
 * stand for: samples of the frame [not sampled], with a count of 0. `name`: that of the frame;
 * source: of the samples. Adds nothing if that is less than unsampled_least(), but with `all`, or
 * not known, and nothing to ranks of a job: these are compared.
 */
void samples_add_unsampled(struct samples_builder *s, strid name, uint32_t source, bool all);

#endif
