/* latencies.h - durations of calls, from distributions in log-linear buckets (kin/format.h). */
#ifndef ANALYSIS_LATENCIES_H
#define ANALYSIS_LATENCIES_H

#include "profile/profile_samples.h"

struct distribution { /* all calls along some arcs, in ns */
	uint64_t count, sum, min, max;
	uint64_t probes; /* cost of measuring, not included in the durations; 0: not known */
	uint64_t bucket[LATENCY_BUCKETS];
};

void distribution_add(struct distribution *d, const struct latency *l);

/* The bounds of a bucket: [low, high) ns. */
uint64_t distribution_low(unsigned bucket);
uint64_t distribution_high(unsigned bucket);

/* The duration that a share `q` (0..1) of the calls does not exceed; 0 if there are none. Calls are
 * assumed to be spread evenly within a bucket: the error is at most its width, an eighth. */
double distribution_quantile(const struct distribution *d, double q);

/* Whether the cost of measuring a call exceeds the duration, without that cost, of half of the
 * calls: the durations are then no more accurate than that. */
bool distribution_is_doubtful(const struct distribution *d);

#endif
