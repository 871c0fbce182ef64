/* clock.h - times in nanoseconds; one that only goes forward. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <sys/resource.h>
#include <time.h>

#include "base/base.h"

static inline uint64_t clock_ns_of(struct timespec t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* CPU time, of programs and of the kernel for them. */
static inline uint64_t clock_cpu_ns(const struct rusage *u)
{
	return (uint64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000;
}

/* Nanoseconds on CLOCK_MONOTONIC, the clock of samples. */
static inline uint64_t clock_now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return clock_ns_of(t);
}

#endif
