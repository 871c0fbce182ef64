/* Bins of histograms, added in passes: against an array of all. */
#include "profile/hits.h"

#include <stdlib.h>

#include "tap.h"

enum { BINS = 70 };

/* Finishes it. */
static bool is(struct hits *h, const uint64_t *want, uint32_t n)
{
	size_t n_hits = hits_finish(h), k = 0;
	struct histogram x = { .n = n, .hits = h->at.at, .all = h->all, .n_hits = n_hits };
	struct hit hit = { 0 };
	size_t next = 0, in_order = 0;
	bool more = histogram_next(&x, &next, &hit);

	for (uint32_t i = 0; i < n; i++) {
		if (histogram_count(&x, i) != want[i] || histogram_bin(&x, &in_order, i) != want[i])
			return false;
		if (!want[i])
			continue;
		if (!more || hit.bin != i || hit.count != want[i])
			return false;
		more = histogram_next(&x, &next, &hit);
		k++;
	}
	return k == n_hits && !more && (!h->all || (n_hits > n / 4 && !h->at.n)) && !h->wide;
}

/* One pass: some bins one by one, some as a range, as in a file. */
static void add_pass(struct hits *h, uint32_t n, uint64_t *want)
{
	uint64_t bins[BINS] = { 0 };
	uint32_t rare = 1 + (uint32_t)rand() % 12;
	uint32_t from = (uint32_t)rand() % n, to = from + (uint32_t)rand() % (n - from + 1);
	for (uint32_t i = from; i < to; i++) {
		bins[i] = rand() % (int)rare ? 0 : 1 + (uint64_t)rand() % 9;
		want[i] += bins[i];
	}
	int way = rand() % 3;
	if (way == 0) {
		hits_add_bins(h, from, bins + from, to - from);
		return;
	}
	if (way == 1) {
		uint32_t all[BINS];
		for (uint32_t i = 0; i < n; i++)
			all[i] = (uint32_t)bins[i];
		hits_add_all(h, all);
		return;
	}
	struct hit list[BINS];
	size_t k = 0;
	for (uint32_t i = from; i < to; i++)
		if (bins[i])
			list[k++] = (struct hit){ i, bins[i] };
	hits_add(h, list, k);
}

static void random_passes(void)
{
	size_t wrong = 0, saturated = 0, arrays = 0;
	srand(11);
	for (int round = 0; round < 3000; round++) {
		struct hits h = { .n_bins = 1 + (uint32_t)rand() % BINS };
		uint64_t want[BINS] = { 0 };
		for (int pass = rand() % 6; pass > 0; pass--)
			add_pass(&h, h.n_bins, want);
		wrong += !is(&h, want, h.n_bins);
		saturated += h.saturated;
		arrays += h.all != NULL;
		hits_free(&h);
	}
	OK(!wrong);
	OK(!saturated);
	OK(arrays > 100);
}

/* Sums up to the largest value are none that say so, one more is; in few bins and in many. */
static void sums_saturate(void)
{
	for (uint64_t beyond = 0; beyond < 2; beyond++)
		for (uint64_t others = 0; others < 2; others++) {
			struct hits h = { .n_bins = 20 };
			uint64_t bins[20] = { 0 }, more[20] = { 0 };
			for (size_t i = 0; others && i < ARRAY_LEN(bins); i++)
				bins[i] = more[i] = 1;
			bins[4] = UINT64_MAX - 7;
			more[4] = 7 + beyond;
			bins[5] = more[5] = UINT64_MAX / 2;
			for (int i = 0; i < 2; i++) /* two passes; neither adds to bins 4 or 5 */
				hits_add_bins(&h, 8, &(const uint64_t){ 1 }, 1);
			hits_add_bins(&h, 0, bins, ARRAY_LEN(bins));
			hits_add_bins(&h, 0, more, ARRAY_LEN(more));
			for (size_t i = 0; i < ARRAY_LEN(bins); i++)
				bins[i] += i == 4 ? 7 : more[i] + (i == 8 ? 2 : 0);
			OK(is(&h, bins, ARRAY_LEN(bins)) && h.saturated == (bool)beyond);
			hits_free(&h);
		}
}

/* Few hits in the largest histogram there is take no room for its 32 GB of bins. */
static void few_hits_take_little_room(void)
{
	struct hits h = { .n_bins = UINT32_MAX };
	for (int i = 0; i < 4; i++)
		hits_add(&h, (const struct hit[]){ { 3, 1 }, { UINT32_MAX - 1, 2 } }, 2);
	OK(!h.all);
	hits_finish(&h);
	OK(h.at.n == 2 && h.at.at[0].bin == 3 && h.at.at[0].count == 4);
	OK(h.at.at[1].bin == UINT32_MAX - 1 && h.at.at[1].count == 8);
	hits_free(&h);
}

/* Many files of full histograms do not each leave a list behind. */
static void full_histograms_take_an_array(void)
{
	struct hits h = { .n_bins = BINS };
	uint64_t bins[BINS];
	for (size_t i = 0; i < BINS; i++)
		bins[i] = i + 1;
	for (int i = 0; i < 100; i++) {
		hits_add_bins(&h, 0, bins, BINS);
		OK(h.at.n <= BINS);
	}
	OK(h.all);
	for (size_t i = 0; i < BINS; i++)
		bins[i] *= 100;
	OK(is(&h, bins, BINS));
	hits_free(&h);
	hits_free(&(struct hits){ 0 });
}

int main(void)
{
	random_passes();
	sums_saturate();
	few_hits_take_little_room();
	full_histograms_take_an_array();
	return DONE();
}
