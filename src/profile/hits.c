#include "profile/hits.h"

static void sum(struct hits *h, struct hit *into, uint64_t count)
{
	if (__builtin_add_overflow(into->count, count, &into->count)) {
		into->count = UINT64_MAX;
		h->saturated = true;
	}
}

static void add(struct hits *h, struct hit hit)
{
	if (h->at.n > h->settled && hit.bin <= h->at.at[h->at.n - 1].bin)
		hits_settle(h);
	vec_push(&h->at, hit);
}

void hits_add_bins(struct hits *h, uint32_t first, const uint64_t *counts, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (counts[i])
			add(h, (struct hit){ .bin = first + i, .count = counts[i] });
}

void hits_add(struct hits *h, const struct hit *hits, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add(h, hits[i]);
}

void hits_settle(struct hits *h)
{
	const struct hit *a = h->at.at, *a_end = a + h->settled;
	const struct hit *b = a_end, *b_end = h->at.at + h->at.n;
	struct hits merged = { .saturated = h->saturated };

	if (!h->settled || a_end == b_end) {
		h->settled = h->at.n;
		return;
	}
	vec_reserve(&merged.at, h->at.n);
	while (a < a_end || b < b_end) {
		if (b == b_end || (a < a_end && a->bin < b->bin)) {
			vec_push(&merged.at, *a++);
		} else if (a == a_end || b->bin < a->bin) {
			vec_push(&merged.at, *b++);
		} else {
			vec_push(&merged.at, *a++);
			sum(&merged, &merged.at.at[merged.at.n - 1], b++->count);
		}
	}
	merged.settled = merged.at.n;
	hits_free(h);
	*h = merged;
}

void hits_free(struct hits *h)
{
	vec_free(&h->at);
	h->settled = 0;
}
