/* latencies.h - how long calls took, from distributions in log-linear buckets (kin/format.h). */
#ifndef ANALYSIS_LATENCIES_H
#define ANALYSIS_LATENCIES_H

#include "profile/profile_samples.h"

struct distribution { /* of all calls of some arcs, in ns */
	uint64_t count, sum, min, max;
	uint64_t probes; /* that measuring took, and is not in them; 0: not known */
	uint64_t bucket[LATENCY_BUCKETS];
};

void distribution_add(struct distribution *d, const struct latency *l);

/* The bounds of a bucket: [low, high) ns. */
uint64_t distribution_low(unsigned bucket);
uint64_t distribution_high(unsigned bucket);

/* What a share `q` (0..1) of the calls took at most; 0 if there are none. Within a bucket calls are
 * taken to be spread evenly: the answer is off by no more than its width, an eighth. */
double distribution_quantile(const struct distribution *d, double q);

/* Whether measuring took more than what half of the calls are left with, which is then no better
 * known than that. */
bool distribution_is_doubtful(const struct distribution *d);

#endif
