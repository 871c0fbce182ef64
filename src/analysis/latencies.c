/* latencies.c - adds up distributions, and finds their quantiles. */
#include "analysis/latencies.h"

#include "base/capped.h"

enum { EXACT = 16, PER_OCTAVE = 8 };

void distribution_add(struct distribution *d, const struct latency *l)
{
	if (!l->count)
		return;
	if (!d->count || l->min_ns < d->min)
		d->min = l->min_ns;
	if (l->max_ns > d->max)
		d->max = l->max_ns;
	d->count = capped_sum(d->count, l->count);
	d->sum = capped_sum(d->sum, l->sum_ns);
	d->probes = capped_sum(d->probes, l->probes_ns);
	for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
		d->bucket[i] = capped_sum(d->bucket[i], l->bucket[i]);
}

uint64_t distribution_low(unsigned bucket)
{
	if (bucket < EXACT)
		return bucket;
	unsigned exponent = 4 + (bucket - EXACT) / PER_OCTAVE, part = (bucket - EXACT) % PER_OCTAVE;
	return (UINT64_C(1) << exponent) + ((uint64_t)part << (exponent - 3));
}

uint64_t distribution_high(unsigned bucket) { return distribution_low(bucket + 1); }

double distribution_quantile(const struct distribution *d, double q)
{
	double all = 0, before = 0;
	for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
		all += (double)d->bucket[i];
	double rank = (double)(uint64_t)(q * all);
	if (rank < q * all || rank < 1)
		rank++;
	for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
		double n = (double)d->bucket[i], low = (double)distribution_low(i);
		if (before + n < rank || n == 0) {
			before += n;
			continue;
		}
		double width = i < EXACT ? 0 : (double)distribution_high(i) - low;
		double ns = low + width * (rank - before - 0.5) / n;
		return ns < (double)d->min   ? (double)d->min
		       : ns > (double)d->max ? (double)d->max
					     : ns;
	}
	return 0;
}

bool distribution_is_doubtful(const struct distribution *d)
{
	return (double)d->probes > distribution_quantile(d, 0.5) * (double)d->count;
}
