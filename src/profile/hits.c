/* hits.c - merges passes of ascending bins. */
#include "profile/hits.h"

enum { DENSE = 8 }; /* one bin in so many, and an array of all is better */

static void sum(struct hits *h, uint64_t *into, uint64_t count)
{
	if (__builtin_add_overflow(*into, count, into)) {
		*into = UINT64_MAX;
		h->saturated = true;
	}
}

/* The pass so far becomes one with those before. */
static void settle(struct hits *h)
{
	const struct hit *a = h->at.at, *a_end = a + h->settled;
	const struct hit *b = a_end, *b_end = h->at.at + h->at.n;
	VEC(struct hit) merged = { 0 };

	if (!h->settled || a_end == b_end) {
		h->settled = h->at.n;
		return;
	}
	vec_reserve(&merged, h->at.n);
	while (a < a_end || b < b_end) {
		if (b == b_end || (a < a_end && a->bin < b->bin)) {
			merged.at[merged.n++] = *a++;
		} else if (a == a_end || b->bin < a->bin) {
			merged.at[merged.n++] = *b++;
		} else {
			merged.at[merged.n] = *a++;
			sum(h, &merged.at[merged.n++].count, b++->count);
		}
	}
	vec_free(&h->at);
	h->at.at = merged.at;
	h->at.cap = merged.cap;
	h->settled = h->at.n = merged.n;
}

static void spread(struct hits *h)
{
	h->all = xalloc(h->n_bins * sizeof(*h->all));
	for (size_t i = 0; i < h->at.n; i++)
		h->all[h->at.at[i].bin] = h->at.at[i].count;
	vec_free(&h->at);
}

static void begin_pass(struct hits *h)
{
	settle(h);
	if (h->at.n > h->n_bins / DENSE)
		spread(h);
}

static void add(struct hits *h, struct hit hit)
{
	if (!h->all && h->at.n > h->settled && hit.bin <= h->at.at[h->at.n - 1].bin)
		begin_pass(h);
	if (h->all)
		sum(h, &h->all[hit.bin], hit.count);
	else
		vec_push(&h->at, hit);
}

static void add_to_all(struct hits *h, uint32_t first, const uint64_t *counts, uint32_t n)
{
	uint64_t *all = h->all + first;
	uint64_t largest = 0;

	for (uint32_t i = 0; i < n; i++)
		largest |= all[i] | counts[i];
	if (largest > UINT64_MAX / 2) { /* a sum might overflow */
		for (uint32_t i = 0; i < n; i++)
			sum(h, &all[i], counts[i]);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		all[i] += counts[i];
}

/* Most bins are empty: they are passed over in groups. */
static uint32_t skip_empty(const uint64_t *counts, uint32_t i, uint32_t n)
{
	while (i + 4 <= n && !(counts[i] | counts[i + 1] | counts[i + 2] | counts[i + 3]))
		i += 4;
	while (i < n && !counts[i])
		i++;
	return i;
}

void hits_add_bins(struct hits *h, uint32_t first, const uint64_t *counts, uint32_t n)
{
	uint32_t i = h->all ? 0 : skip_empty(counts, 0, n);
	for (; i < n && !h->all; i = skip_empty(counts, i + 1, n))
		add(h, (struct hit){ .bin = first + i, .count = counts[i] });
	if (i < n)
		add_to_all(h, first + i, counts + i, n - i);
}

void hits_add(struct hits *h, const struct hit *hits, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add(h, hits[i]);
}

void hits_finish(struct hits *h)
{
	if (!h->all) {
		settle(h);
		return;
	}
	for (uint32_t i = 0; i < h->n_bins; i++)
		if (h->all[i])
			vec_push(&h->at, ((struct hit){ .bin = i, .count = h->all[i] }));
	free(TAKE(h->all));
}

void hits_free(struct hits *h)
{
	vec_free(&h->at);
	free(h->all);
}
