/* hits.c - merges passes over ascending bins. */
#include "profile/hits.h"

/* If more than one bin in DENSE is not empty, an array of all bins takes less memory. */
enum { DENSE = 8 };

static void sum(struct hits *h, uint64_t *into, uint64_t count)
{
	if (__builtin_add_overflow(*into, count, into)) {
		*into = UINT64_MAX;
		h->saturated = true;
	}
}

/* Merges the bins of this pass into those of earlier passes. */
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

static bool is_array(const struct hits *h) { return h->all || h->wide; }

/* Whether a count is at most half the range of 32 bits, so that two such counts can be added. */
static bool is_narrow(uint64_t v) { return v <= UINT32_MAX / 2; }

static void spread(struct hits *h)
{
	uint64_t largest = 0;

	for (size_t i = 0; i < h->at.n; i++)
		largest |= h->at.at[i].count;
	if (is_narrow(largest))
		h->all = xalloc(h->n_bins * sizeof(*h->all));
	else
		h->wide = xalloc(h->n_bins * sizeof(*h->wide));
	for (size_t i = 0; i < h->at.n; i++) {
		struct hit hit = h->at.at[i];
		if (h->all)
			h->all[hit.bin] = (uint32_t)hit.count;
		else
			h->wide[hit.bin] = hit.count;
	}
	vec_free(&h->at);
}

static void widen(struct hits *h)
{
	h->wide = xrealloc(NULL, h->n_bins, sizeof(*h->wide));
	for (uint32_t i = 0; i < h->n_bins; i++)
		h->wide[i] = h->all[i];
	free(h->all);
	h->all = NULL;
}

static void begin_pass(struct hits *h)
{
	settle(h);
	if (h->at.n > h->n_bins / DENSE)
		spread(h);
}

static bool add_narrow(uint32_t *all, const uint64_t *counts, uint32_t n)
{
	uint64_t largest = 0;

	for (uint32_t i = 0; i < n; i++)
		largest |= all[i] | counts[i];
	if (!is_narrow(largest))
		return false;
	for (uint32_t i = 0; i < n; i++)
		all[i] += (uint32_t)counts[i];
	return true;
}

static void add_to_array(struct hits *h, uint32_t first, const uint64_t *counts, uint32_t n)
{
	if (h->all && add_narrow(h->all + first, counts, n))
		return;
	if (h->all)
		widen(h);
	for (uint32_t i = 0; i < n; i++)
		sum(h, &h->wide[first + i], counts[i]);
}

static void add_hits(struct hits *h, struct hit hit)
{
	if (!is_array(h) && h->at.n > h->settled && hit.bin <= h->at.at[h->at.n - 1].bin)
		begin_pass(h);
	if (is_array(h))
		add_to_array(h, hit.bin, &hit.count, 1);
	else
		vec_push(&h->at, hit);
}

/* Skips empty bins in groups: most bins are empty. */
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
	uint32_t i = is_array(h) ? 0 : skip_empty(counts, 0, n);
	for (; i < n && !is_array(h); i = skip_empty(counts, i + 1, n))
		add_hits(h, (struct hit){ .bin = first + i, .count = counts[i] });
	if (i < n)
		add_to_array(h, first + i, counts + i, n - i);
}

void hits_add(struct hits *h, const struct hit *hits, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_hits(h, hits[i]);
}

void hits_add_all(struct hits *h, const uint32_t *all)
{
	enum { PIECE = 1024 };
	uint64_t counts[PIECE];

	if (!is_array(h)) {
		settle(h);
		spread(h);
	}
	for (uint32_t i = 0; i < h->n_bins; i += PIECE) {
		uint32_t k = h->n_bins - i < PIECE ? h->n_bins - i : PIECE;
		for (uint32_t j = 0; j < k; j++)
			counts[j] = all[i + j];
		add_to_array(h, i, counts, k);
	}
}

static void drop_array(struct hits *h)
{
	free(h->all);
	free(h->wide);
	h->all = NULL;
	h->wide = NULL;
}

size_t hits_finish(struct hits *h)
{
	size_t n = 0;

	if (!is_array(h)) {
		settle(h);
		return h->at.n;
	}
	for (uint32_t i = 0; i < h->n_bins; i++)
		n += h->all ? h->all[i] != 0 : h->wide[i] != 0;
	if (h->all && n * sizeof(struct hit) > h->n_bins * sizeof(*h->all))
		return n;
	vec_reserve(&h->at, n);
	for (uint32_t i = 0; i < h->n_bins; i++) {
		uint64_t count = h->all ? h->all[i] : h->wide[i];
		if (count)
			h->at.at[h->at.n++] = (struct hit){ .bin = i, .count = count };
	}
	drop_array(h);
	return n;
}

void hits_free(struct hits *h)
{
	vec_free(&h->at);
	drop_array(h);
}
