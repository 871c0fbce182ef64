#include "tap.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "names/kept.h"
#include "profile/job_ranks.h"
#include "profile/profile.h"
#include "profile/ranges.h"
#include "profile/uncounted.h"

static uint32_t seed = 1;

static uint32_t pick(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)seed * n >> 32);
}

static void end_file(struct profile_builder *b)
{
	profile_add_source(b, "f", (struct source){ 0 });
}

static void add(struct profile_builder *b, uint64_t from, uint64_t to, uint64_t count)
{
	profile_add_arc(b, (struct arc){ .from = from, .to = to, .count = count });
}

static bool is(const struct profile *p, size_t i, uint64_t from, uint64_t to, uint64_t count)
{
	return arc_at(&p->arcs, i).from == from && arc_at(&p->arcs, i).to == to &&
	       arc_at(&p->arcs, i).count == count;
}

static void arcs_are_summed_in_order_of_first_appearance(void)
{
	struct profile_builder *b = profile_builder_new();
	add(b, 30, 1, 5);
	add(b, 10, 1, 1);
	add(b, 30, 1, 2);
	end_file(b);
	add(b, 20, 1, 7);
	add(b, 10, 1, 1);
	add(b, 20, 1, 1);
	struct profile *p = profile_finish(b);
	OK(p->n_arcs == 3);
	OK(is(p, 0, 30, 1, 7) && is(p, 1, 10, 1, 2) && is(p, 2, 20, 1, 8));
	OK(!p->saturated);
	profile_free(p);
}

static void sums_of_arcs_saturate_and_say_so(void)
{
	struct profile_builder *b = profile_builder_new();
	add(b, 1, 2, UINT64_MAX - 1);
	end_file(b);
	add(b, 1, 2, 1);
	end_file(b);
	struct profile *p = profile_finish(b);
	OK(is(p, 0, 1, 2, UINT64_MAX) && !p->saturated);
	profile_free(p);

	b = profile_builder_new();
	add(b, 1, 2, UINT64_MAX);
	add(b, 1, 2, 5);
	p = profile_finish(b);
	OK(is(p, 0, 1, 2, UINT64_MAX) && p->saturated);
	profile_free(p);
}

/* The profile that the builder should make, computed the slow way. */
struct expected {
	struct arc at[4096];
	size_t n;
};

static void expect(struct expected *e, struct arc arc)
{
	for (size_t i = 0; i < e->n; i++) {
		if (e->at[i].from == arc.from && e->at[i].to == arc.to &&
		    e->at[i].to_object == arc.to_object) {
			e->at[i].count += arc.count;
			return;
		}
	}
	e->at[e->n++] = arc;
}

static bool same_arcs(const struct profile *p, const struct expected *e)
{
	if (p->n_arcs != e->n)
		return false;
	for (size_t i = 0; i < e->n; i++)
		if (!is(p, i, e->at[i].from, e->at[i].to, e->at[i].count) ||
		    arc_at(&p->arcs, i).to_object != e->at[i].to_object)
			return false;
	return true;
}

/* Nearly the same list per file, with arcs left out, added, swapped and repeated. */
static void random_files(struct profile_builder **parts, size_t n_parts, struct expected *e)
{
	uint32_t n = 1 + pick(60), shape = pick(3), objects = 1 + pick(2);
	struct arc list[64];
	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct arc){ .from = shape == 1   ? 7
						: shape == 2 ? i
							     : pick(40),
					.to = shape == 1 ? 100 - i : pick(10),
					.to_object = pick(objects) };
	for (size_t part = 0; part < n_parts; part++) {
		profile_add_object(parts[part], "other", NULL);
		for (uint32_t file = pick(5); file > 0; file--) {
			for (uint32_t i = 0; i < n; i++) {
				if (pick(20) == 0)
					continue;
				struct arc arc = list[pick(15) ? i : pick(n)];
				if (pick(25) == 0)
					arc.from = pick(50);
				arc.count = pick(1000);
				profile_add_arc(parts[part], arc);
				expect(e, arc);
			}
			end_file(parts[part]);
		}
	}
}

static void any_files_give_what_the_slow_way_gives(void)
{
	struct expected *e = malloc(sizeof(*e));
	int bad = 0;
	for (int round = 0; round < 3000; round++) {
		struct profile_builder *b = profile_builder_new();
		e->n = 0;
		random_files(&b, 1, e);
		struct profile *p = profile_finish(b);
		bad += !same_arcs(p, e);
		profile_free(p);
	}
	OK(bad == 0);
	for (int round = 0; round < 1000; round++) {
		struct profile_builder *b[3];
		for (int i = 0; i < 3; i++)
			b[i] = profile_builder_new();
		e->n = 0;
		random_files(b, 3, e);
		kin_error_free(profile_builder_merge(b[0], b[1]));
		kin_error_free(profile_builder_merge(b[0], b[2]));
		struct profile *p = profile_finish(b[0]);
		bad += !same_arcs(p, e);
		profile_free(p);
	}
	OK(bad == 0);
	free(e);
}

static void a_long_unordered_file_is_summed_too(void)
{
	enum { N = 100000 };
	struct profile_builder *b = profile_builder_new();
	for (uint64_t i = 0; i < 2 * N; i++)
		add(b, i * 7919 % N, 1, i);
	struct profile *p = profile_finish(b);
	OK(p->n_arcs == N);
	uint64_t sum = 0;
	for (size_t i = 0; i < p->n_arcs; i++)
		sum += arc_at(&p->arcs, i).count;
	OK(sum == (uint64_t)N * (2 * N - 1));
	OK(is(p, 1, 7919, 1, N + 2));
	profile_free(p);
}

/* Histograms */

/* Its hits live until the next five are made. */
static struct histogram hist(uint64_t low, uint64_t high, uint32_t n, const uint64_t *bins)
{
	static struct hit hits[5][8];
	static unsigned turn;
	struct hit *h = hits[turn++ % 5];
	size_t n_hits = 0;
	for (uint32_t i = 0; i < n; i++)
		if (bins[i])
			h[n_hits++] = (struct hit){ .bin = i, .count = bins[i] };
	return (struct histogram){ .low = low,
				   .high = high,
				   .n = n,
				   .hits = h,
				   .n_hits = n_hits,
				   .rate = 100,
				   .dimension = "seconds",
				   .abbrev = 's' };
}

/* The message of the failure, or "". */
static const char *try_add(struct profile_builder *b, struct histogram h)
{
	static char text[300];
	struct kin_error *err = profile_add_histogram(b, h);
	snprintf(text, sizeof(text), "%s", err ? kin_error_message(err) : "");
	if (err && kin_error_kind(err) != KIN_ERROR_MISMATCH)
		snprintf(text, sizeof(text), "of another kind");
	kin_error_free(err);
	return text;
}

static void histograms_of_one_range_are_summed(void)
{
	static const uint64_t bins[] = { 1, 0, UINT64_MAX, 4 };
	struct profile_builder *b = profile_builder_new();
	OK_STR(try_add(b, hist(0x1000, 0x1010, 4, bins)), "");
	OK_STR(try_add(b, hist(0x2000, 0x2010, 4, bins)), "");
	OK_STR(try_add(b, hist(0x1000, 0x1010, 4, bins)), "");
	struct profile *p = profile_finish(b);
	OK(p->n_histograms == 2 && p->histograms[1].low == 0x2000);
	const struct histogram *sum = &p->histograms[0];
	OK(histogram_count(sum, 0) == 2 && histogram_count(sum, 1) == 0 &&
	   histogram_count(sum, 2) == UINT64_MAX && histogram_count(sum, 3) == 8);
	OK(histogram_count(&p->histograms[1], 3) == 4);
	OK(p->saturated);
	profile_free(p);
}

static void histograms_that_do_not_fit_are_refused(void)
{
	static const uint64_t bins[8] = { 1 };
	struct profile_builder *b = profile_builder_new();
	struct histogram h;
	OK_STR(try_add(b, hist(0x1000, 0x1010, 4, bins)), "");
	OK_STR(try_add(b, hist(0x100c, 0x101c, 4, bins)),
	       "histogram of 0x100c..0x101c overlaps the one of 0x1000..0x1010: they are not of "
	       "the "
	       "same program");
	OK_STR(try_add(b, hist(0x1000, 0x1010, 8, bins)),
	       "histogram has 2 bytes per bin, the ones before have 4: they are not of the same "
	       "program, or only some of its runs had libkinrt (kin run): add up those of one "
	       "kind");
	h = hist(0x1000, 0x1010, 4, bins);
	strcpy(h.dimension, "cycles");
	OK_STR(try_add(b, h), "histogram counts cycles where the ones before count seconds");
	h = hist(0x1000, 0x1010, 4, bins);
	h.abbrev = 'c';
	OK_STR(try_add(b, h), "unit of histogram is abbreviated 'c', of the ones before 's'");
	h = hist(0x1000, 0x1010, 4, bins);
	h.rate = 1000;
	OK_STR(try_add(b, h),
	       "histogram has 1000 ticks per second, the ones before have 100: their "
	       "sum would mean nothing");
	h = hist(0x100c, 0x101c, 4, bins);
	h.object = profile_add_object(b, "lib.so", NULL);
	OK(h.object == 1);
	OK_STR(try_add(b, h), "");
	struct profile *p = profile_finish(b);
	OK(p->n_histograms == 2 && histogram_count(&p->histograms[0], 0) == 1);
	profile_free(p);
}

static void histograms_of_other_bins_are_refused(void)
{
	static const uint64_t bins[8] = { 1 };
	struct profile_builder *b = profile_builder_new();
	OK(!profile_first_histogram(b));
	OK_STR(try_add(b, hist(0x1000, 0x1010, 4, bins)), "");
	OK_STR(try_add(b, hist(0x2000, 0x2020, 8, bins)), "");
	OK(profile_first_histogram(b)->low == 0x1000);
	struct histogram h = hist(0x1000, 0x1010, 4, bins);
	strcpy(h.dimension, "secondsX");
	OK(strstr(try_add(b, h), "counts secondsX where"));
	/* As in GNU gprof: widths in pairs of bytes, equal if they differ by less than a millionth.
	 */
	OK_STR(try_add(b, hist(0x3000, 0x3011, 4, bins)), "");
	OK_STR(try_add(b, hist(0x3000, 0x3012, 4, bins)),
	       "histogram has 4.5 bytes per bin, the ones before have 4: they are not of the same "
	       "program, or only some of its runs had libkinrt (kin run): add up those of one "
	       "kind");
	h = hist(0x4000, 0, 1, bins);
	h.high = h.low + 4 * 3000001;
	h.n = 3000000;
	OK_STR(try_add(b, h), "");
	h.high = h.low + 4 * 1000002;
	h.n = 1000000;
	OK(strstr(try_add(b, h), "bytes per bin"));
	profile_builder_free(b);

	b = profile_builder_new();
	OK_STR(try_add(b, hist(0x10, 0x10, 1, bins)), ""); /* no bytes: bins of no width */
	OK_STR(try_add(b, hist(0x10, 0x10, 2, bins)),
	       "histogram of 0x10..0x10 has 2 bins where it had 1 before");
	OK_STR(try_add(b, hist(0x20, 0x21, 2, bins)), "");
	struct profile *p = profile_finish(b);
	OK(p->n_histograms == 2);
	profile_free(p);
}

/* Files list theirs in any order, also those that have only some. */
static void histograms_are_found_in_any_order(void)
{
	enum { N = 12 };
	size_t wrong = 0;
	for (int round = 0; round < 200; round++) {
		struct profile_builder *b = profile_builder_new();
		uint64_t want[N] = { 0 }, order[N];
		for (uint64_t i = 0; i < N; i++) {
			order[i] = 0x1000 * (1 + (i * 5 + (uint64_t)round) % N);
			wrong += *try_add(b, hist(order[i], order[i] + 16, 4,
						  (const uint64_t[4]){ 0 })) != 0;
		}
		for (int i = 0; i < 60; i++) {
			uint32_t k = pick(N);
			wrong += *try_add(b, hist(order[k], order[k] + 16, 4,
						  (const uint64_t[4]){ [3] = i + 1 })) != 0;
			want[k] += (uint64_t)i + 1;
			if (pick(5) == 0)
				end_file(b);
		}
		struct profile *p = profile_finish(b);
		wrong += p->n_histograms != N;
		for (size_t i = 0; i < N; i++)
			wrong += p->histograms[i].low != order[i] ||
				 histogram_count(&p->histograms[i], 3) != want[i] ||
				 p->histograms[i].n_hits != (want[i] != 0);
		profile_free(p);
	}
	OK(!wrong);
}

/* Of an unit that is as long as there is room for, the last byte ends it. */
static void units_are_ended(void)
{
	struct profile_builder *b = profile_builder_new();
	struct histogram h = hist(0x1000, 0x1010, 4, (const uint64_t[4]){ 1 });
	memset(h.dimension, 'x', sizeof(h.dimension));
	OK_STR(try_add(b, h), "");
	h.dimension[15] = 'y'; /* a byte that is not read */
	OK_STR(try_add(b, h), "");
	h.dimension[14] = 'y';
	OK_STR(try_add(b, h), "histogram counts xxxxxxxxxxxxxxy where the ones before count "
			      "xxxxxxxxxxxxxxx");
	struct profile *p = profile_finish(b);
	OK_STR(p->histograms[0].dimension, "xxxxxxxxxxxxxxx");
	profile_free(p);
}

static void ranges_are_found_as_the_slow_way_finds_them(void)
{
	int bad = 0;
	for (int round = 0; round < 300; round++) {
		struct range all[200];
		struct ranges r = { 0 };
		uint32_t n = 0;
		for (int i = 0; i < 200; i++) {
			uint64_t base = pick(4) ? 0 : UINT64_MAX - 400;
			uint64_t low = base + pick(300), high = low + pick(8);
			objid object = pick(2);
			uint32_t equal = NONE, over = NONE;
			for (uint32_t k = 0; k < n; k++) {
				if (all[k].object != object)
					continue;
				if (all[k].low == low && all[k].high == high)
					equal = k;
				if (all[k].low < high && low < all[k].high && low < high &&
				    all[k].low < all[k].high)
					over = NONE - 1;
			}
			uint32_t found = ranges_find_overlapping(&r, object, low, high);
			bad += ranges_find(&r, object, low, high) != equal;
			bad += (found == NONE) != (over == NONE);
			if (found != NONE)
				bad += !(all[found].object == object && all[found].low < high &&
					 low < all[found].high);
			if (equal != NONE || over != NONE)
				continue;
			all[n] = (struct range){ low, high, object, n };
			ranges_add(&r, all[n]);
			n++;
		}
		ranges_free(&r);
	}
	OK(bad == 0);
}

static void canonical_order(void)
{
	static const uint64_t bins[4] = { 1, 2, 3, 4 };
	struct profile_builder *b = profile_builder_new();
	add(b, 30, 1, 5);
	add(b, 10, 2, 1);
	add(b, 10, 1, 2);
	OK_STR(try_add(b, hist(0x2000, 0x2010, 4, bins)), "");
	OK_STR(try_add(b, hist(0x1000, 0x1010, 4, bins)), "");
	profile_add_block(b, (struct block){ .addr = 9, .count = 1 });
	profile_add_block(b, (struct block){ .addr = 4, .count = 2 });
	profile_add_block_record(b);
	profile_add_block(b, (struct block){ .addr = 9, .count = 3 });
	profile_add_block_record(b);
	profile_add_source(b, "gmon.out", (struct source){ .kind = "gmon", .version = 1 });
	struct profile *p = profile_finish(b), *q = profile_canonical(p, NULL, NULL);
	profile_free(p);
	OK(is(q, 0, 10, 1, 2) && is(q, 1, 10, 2, 1) && is(q, 2, 30, 1, 5) && q->n_arcs == 3);
	OK(q->histograms[0].low == 0x1000 && q->histograms[1].low == 0x2000);
	OK(histogram_count(&q->histograms[0], 3) == 4);
	OK(q->n_blocks == 2 && q->n_block_records == 1);
	OK(q->blocks[0].addr == 4 && q->blocks[1].addr == 9 && q->blocks[1].count == 4);
	OK(q->n_sources == 1);
	OK_STR(strtab_get(q->strings, q->sources[0].path), "gmon.out");
	profile_free(q);
}

/* In few bins and in many, added one by one and all at once. */
static void sums_of_hits_saturate_and_say_so(void)
{
	enum { N = 64 };
	for (uint64_t beyond = 0; beyond < 2; beyond++) {
		for (int dense = 0; dense < 2; dense++) {
			struct profile_builder *b = profile_builder_new();
			uint64_t bins[N] = { 0 }, more[N] = { 0 };
			for (int i = 0; dense && i < N; i++)
				bins[i] = more[i] = 10;
			bins[7] = UINT64_MAX - 5;
			more[7] = 5 + beyond;
			bins[9] = UINT64_MAX / 2 + 1;
			more[9] = 2;
			size_t i;
			struct histogram h = { .low = 0x1000,
					       .high = 0x1100,
					       .n = N,
					       .rate = 100,
					       .dimension = "seconds",
					       .abbrev = 's' };
			OK(!profile_begin_histogram(b, h, &i));
			profile_add_bins(b, i, 0, bins, N);
			profile_add_bins(b, i, 0, more, N);
			profile_add_bins(b, i, 0, (const uint64_t[N]){ [11] = 1 }, N);
			struct profile *p = profile_finish(b);
			const struct histogram *sum = &p->histograms[0];
			OK(p->saturated == (bool)beyond && histogram_count(sum, 7) == UINT64_MAX);
			OK(histogram_count(sum, 9) == UINT64_MAX / 2 + 3);
			OK(histogram_count(sum, 8) == (dense ? 20u : 0u));
			OK(histogram_count(sum, 11) == (dense ? 21u : 1u));
			OK(histogram_count(sum, 63) == (dense ? 20u : 0u));
			profile_free(p);
		}
	}
}

/* Sums of many bins begin with 32 bits each, and get more when they are needed. */
static void sums_of_many_hits_outgrow_32_bits(void)
{
	enum { N = 64, FILES = 5 };
	for (int wide_from = 0; wide_from < FILES; wide_from++) {
		struct profile_builder *b = profile_builder_new();
		struct histogram h = { .low = 0x1000, .high = 0x1100, .n = N, .rate = 100 };
		uint64_t bins[N];
		size_t i;
		OK(!profile_begin_histogram(b, h, &i));
		for (int file = 0; file < FILES; file++) {
			for (unsigned k = 0; k < N; k++)
				bins[k] = k + 1;
			bins[5] = file < wide_from ? UINT32_MAX / 8 : UINT32_MAX;
			profile_add_bins(b, i, 0, bins, N);
		}
		struct profile *p = profile_finish(b);
		const struct histogram *sum = &p->histograms[0];
		uint64_t narrow = (uint64_t)wide_from * (UINT32_MAX / 8);
		OK(!p->saturated);
		OK(histogram_count(sum, 5) == narrow + (uint64_t)(FILES - wide_from) * UINT32_MAX);
		for (unsigned k = 0; k < N; k++)
			OK(k == 5 || histogram_count(sum, k) == (uint64_t)FILES * (k + 1));
		profile_free(p);
	}
}

/* Empty bins are passed over, wherever the one is that is not. */
static void no_bin_is_passed_over(void)
{
	enum { N = 21 };
	size_t wrong = 0;
	for (uint32_t k = 0; k < N; k++)
		for (uint32_t last = k; last < N; last++) {
			struct profile_builder *b = profile_builder_new();
			uint64_t bins[N] = { 0 };
			size_t i;
			struct histogram h = { .low = 0x1000,
					       .high = 0x1000 + 4 * N,
					       .n = N,
					       .rate = 100,
					       .dimension = "seconds",
					       .abbrev = 's' };
			bins[k] = bins[last] = 7;
			OK(!profile_begin_histogram(b, h, &i));
			profile_add_bins(b, i, 0, bins, N);
			struct profile *p = profile_finish(b);
			wrong += histogram_count(&p->histograms[0], k) != 7 ||
				 histogram_count(&p->histograms[0], last) != 7 ||
				 p->histograms[0].n_hits != 1 + (last > k);
			profile_free(p);
		}
	OK(!wrong);
}

static void overflow_of_blocks_is_said(void)
{
	for (int beyond = 0; beyond < 2; beyond++) {
		struct profile_builder *b = profile_builder_new();
		profile_add_block(b, (struct block){ .addr = 9, .count = UINT64_MAX - 3 });
		profile_add_block(b, (struct block){ .addr = 9, .count = 3 + (uint64_t)beyond });
		struct profile *p = profile_finish(b), *q = profile_canonical(p, NULL, NULL);
		struct profile *again = profile_canonical(q, NULL, NULL);
		OK(q->n_blocks == 1 && q->blocks[0].count == UINT64_MAX);
		OK(!p->saturated && q->saturated == beyond && again->saturated == beyond);
		profile_free(p);
		profile_free(q);
		profile_free(again);
	}
}

/* The error names the first thing that does not fit; everything that fits is added nevertheless. */
static void merging_tells_what_does_not_fit(void)
{
	static const uint64_t bins[4] = { 1, 2, 3, 4 };
	struct profile_builder *into = profile_builder_new(), *from = profile_builder_new();
	OK_STR(try_add(into, hist(0x1000, 0x1010, 4, bins)), "");
	OK_STR(try_add(into, hist(0x3000, 0x3010, 4, bins)), "");
	OK_STR(try_add(from, hist(0x1008, 0x1018, 4, bins)), "");
	OK_STR(try_add(from, hist(0x3008, 0x3018, 4, bins)), "");
	OK_STR(try_add(from, hist(0x2000, 0x2010, 4, bins)), "");
	add(from, 10, 1, 2);
	struct kin_error *err = profile_builder_merge(into, from);
	OK(err && strstr(kin_error_message(err), "0x1008..0x1018 overlaps"));
	kin_error_free(err);
	struct profile *p = profile_finish(into);
	OK(p->n_histograms == 3 && p->histograms[2].low == 0x2000 && p->n_arcs == 1);
	profile_free(p);
}

static void hits_and_arcs_are_released(void)
{
	static const uint64_t bins[4] = { 1, 2, 3, 4 };
	struct profile_builder *b = profile_builder_new();
	OK_STR(try_add(b, hist(0x1000, 0x1010, 4, bins)), "");
	add(b, 10, 1, 2);
	struct profile *p = profile_finish(b);
	profile_release_hits(p);
	OK(p->n_histograms == 1 && !p->histograms[0].hits && !p->histograms[0].n_hits);
	OK(p->n_arcs == 1);
	profile_release_arcs(p);
	OK(!p->arcs.near && !p->arcs.any && !p->n_arcs && !p->arcs_ascend);
	profile_free(p);
}

/* Problems of files are listed once for the whole, each with its rank. */
static void troubles_are_collected(void)
{
	struct profile_builder *b = profile_builder_new();
	for (uint32_t i = 0; i < 4; i++) {
		char rank[2] = { (char)('0' + i), '\0' };
		if (i < 3)
			profile_add_fact(b, FACT_RANK, rank);
		profile_add_fact(b, FACT_JOB, "17");
		profile_add_fact(b, FACT_RANKS, "4");
		profile_add_fact(b, FACT_PROGRAM, "solver");
		if (i == 1)
			profile_add_fact(b, FACT_TROUBLE, "no memory");
		if (i == 2)
			profile_add_fact(b, FACT_UNREAD, "one part");
		profile_add_source(b, "x", (struct source){ .kind = "kin", .unfinished = i != 1 });
	}
	struct profile *p = profile_finish(b), *q = profile_canonical(p, "other", NULL);
	char text[1000] = "";
	for (size_t i = 0; i < q->n_facts; i++) {
		strcat(text, strtab_get(q->strings, q->facts[i].name));
		strcat(text, " ");
		strcat(text, strtab_get(q->strings, q->facts[i].value));
		strcat(text, "\n");
	}
	OK_STR(text, FACT_TROUBLE
	       " it was not ended: its recorder was killed, or was still at work\n" FACT_TROUBLE
	       " rank 0: it was not ended: its recorder was killed, or was still at "
	       "work\n" FACT_TROUBLE " rank 1: no memory\n" FACT_TROUBLE
	       " rank 2: it was not ended: its recorder was "
	       "killed, or was still at work\n" FACT_TROUBLE " rank 2: one part\n" FACT_PROGRAM
	       " other\n" FACT_PROGRAM " solver\n" FACT_JOB " 17\n" FACT_RANKS " 4\n" FACT_NOT_ENDED
	       " 0\n" FACT_NOT_ENDED " 2\n");
	profile_free(p);
	profile_free(q);
}

static void list_gaps(const struct profile *p, char *text)
{
	struct remarks r = { 0 };
	job_ranks_gaps(p, &r);
	for (size_t i = 0; i < r.at.n; i++)
		strcat(strcat(text, r.at.at[i].text), "\n");
	remarks_free(&r);
}

/* Files and their sum give the same list; sorted by rank, each once. */
static void gaps_are_listed(void)
{
	static const char *const killed[] = { "10 (9)", "2 (15)", "2 (15)", "1 (11)", "7 (6)",
					      "11 (6)", "12 (6)", "13 (6)", "14 (6)", "15 (6)" };
	struct profile_builder *b = profile_builder_new();
	for (size_t i = 0; i < ARRAY_LEN(killed); i++)
		profile_add_fact(b, FACT_KILLED, killed[i]);
	profile_add_fact(b, FACT_NOT_ENDED, "3");
	end_file(b);
	profile_add_fact(b, FACT_RANK, "0");
	profile_add_fact(b, FACT_RANKS, "16");
	profile_add_source(b, "x", (struct source){ .kind = "kin", .unfinished = true });
	struct profile *p = profile_finish(b), *q = profile_canonical(p, NULL, NULL);
	char text[2][1000] = { "", "" };
	list_gaps(p, text[0]);
	list_gaps(q, text[1]);
	OK_STR(text[0], "ranks 0-15 of 16 are missing\n"
			"killed by a signal: rank 1 (11), rank 2 (15), rank 7 (6), rank 10 (9), "
			"rank 11 (6), rank 12 (6), rank 13 (6), rank 14 (6), and 1 more\n"
			"not ended (killed, or still running): rank 0, rank 3\n");
	OK_STR(text[1], text[0]);
	OK(job_ranks_count(p) == 0);
	profile_free(p);
	profile_free(q);
}

static void blocks_and_facts_are_merged(void)
{
	struct profile_builder *into = profile_builder_new(), *from = profile_builder_new();
	profile_add_object(into, "x", NULL);
	for (int i = 0; i < 2; i++) {
		struct profile_builder *b = i ? from : into;
		objid o = profile_add_object_of(b, "o", "b", OBJECT_VDSO, i);
		profile_add_block(
			b, (struct block){ .addr = 4, .count = 1 + (uint64_t)i, .object = o });
		profile_add_block_record(b);
		profile_add_block_record(b);
		profile_add_fact(b, "host", i ? "two" : "one");
		end_file(b);
		profile_add_fact(b, "end", "open");
	}
	profile_note_saturated(from);
	OK(!profile_builder_merge(into, from));
	OK(!profile_builder_merge(into, profile_builder_new())); /* it stays so */
	struct profile *p = profile_finish(into);
	OK(p->n_blocks == 2 && p->n_block_records == 4 && p->saturated);
	OK(p->blocks[0].object == 2 && p->blocks[1].object == 2 && p->blocks[1].count == 2);
	OK(p->n_objects == 3 && p->objects[2].is_main && p->objects[2].kind == OBJECT_VDSO);
	OK(p->n_sources == 2 && p->n_facts == 4);
	OK(p->facts[0].source == 0 && p->facts[2].source == 1);
	OK_STR(strtab_get(p->strings, p->facts[2].value), "two");
	profile_free(p);
}

/* Object 0 is that without a name. */
static void objects_are_interned(void)
{
	struct profile_builder *b = profile_builder_new();
	OK(profile_add_object(b, NULL, NULL) == 0 && profile_add_object(b, "", "") == 0);
	OK(profile_add_object(b, "x", NULL) == 1 && profile_add_object(b, "x", "") == 1);
	OK(profile_add_object(b, "x", "aa") == 2 && profile_add_object(b, NULL, "aa") == 3);
	profile_builder_free(b);
}

/* The arcs of a list that is taken from the builder belong to the caller. */
static void arcs_are_taken(void)
{
	struct profile_builder *b = profile_builder_new();
	struct arc list[] = { { 1, 2, 3, 0, 0 }, { 2, 2, 4, 0, 0 } };
	profile_expect_arcs(b, 2);
	profile_add_arcs(b, list, 2);
	struct profile *p = profile_finish(b);
	OK(p->arcs_ascend && p->n_arcs == 2);
	struct near_arc *arcs = profile_take_arcs(p);
	OK(!p->arcs.near && !p->arcs.any && !p->n_arcs && !p->arcs_ascend && arcs[1].count == 4);
	free(arcs);
	profile_free(p);
	profile_free(NULL);
	profile_builder_free(NULL);
}

/* `n` symbols of one byte from `addr` on, `step` apart, code of as many bytes, and a tail call. */
static struct kept *kept_of(uint64_t addr, uint64_t step, size_t n)
{
	struct kept *k = kept_new();
	struct kept_object *o =
		kept_add_object(k, &(struct kept_object){ .path = "/x", .build_id = "aa" });
	for (size_t i = 0; i < n; i++)
		vec_push(&o->symbols, ((struct kept_symbol){ .addr = addr + i * step,
							     .end = addr + i * step + 1,
							     .name = kept_string(k, "f") }));
	vec_push(&o->code,
		 ((struct kept_code){ addr, kept_bytes(k, &"abcdefgh"[addr % 8], n), n }));
	kept_add_tail_call(o, addr, 0x2000, &addr, 1);
	kept_sort(k);
	return k;
}

/* Names that exist already, as in recordings of one build, take no more memory. */
static void kept_names_are_merged(void)
{
	struct kept *all = kept_new(), *even = kept_of(0x1000, 2, 4), *odd = kept_of(0x1003, 2, 3),
		    *within = kept_of(0x1001, 3, 5);
	struct kept *const from[] = { odd, even, odd, within, even };
	for (size_t i = 0; i < ARRAY_LEN(from); i++)
		kept_merge(all, from[i]);
	const struct kept_object *o = kept_find(all, "/x", "aa");
	static const uint64_t want[] = { 0x1000, 0x1001, 0x1002, 0x1003, 0x1004,
					 0x1005, 0x1006, 0x1007, 0x100a, 0x100d };
	OK(o->symbols.n == ARRAY_LEN(want));
	for (size_t i = 0; i < o->symbols.n && i < ARRAY_LEN(want); i++)
		OK(o->symbols.at[i].addr == want[i]);
	OK(o->code.n == 1);
	OK(o->code.at[0].addr == 0x1000);
	OK(o->code.at[0].size == 6);
	OK(!memcmp(o->code.at[0].bytes, "abcdef", 6));
	OK(all->owned.n == 3); /* two, and them joined */
	OK(o->tail_calls.n == 3);
	OK(kept_tail_call_at(o, 0x1003) == 2 && kept_tail_call_at(o, 0x1002) == NONE);
	OK(o->tail_calls.at[2].n == 1 && *o->tail_calls.at[2].jump == 0x1003);
	kept_free(within);
	kept_free(odd);
	kept_free(even);
	kept_free(all);
}

/* Names from several files are joined; names that another profile owns are not changed. */
static void names_are_kept(void)
{
	struct kept *one = kept_new(), *two = kept_new(), *three = kept_new();
	kept_add_object(one, &(struct kept_object){ .path = "/x", .build_id = "aa" });
	kept_add_object(two, &(struct kept_object){ .path = "/y", .build_id = "bb" });
	kept_add_object(three, &(struct kept_object){ .path = "/z", .build_id = "cc" });
	struct profile_builder *b = profile_builder_new(), *more = profile_builder_new();
	profile_add_kept(b, NULL);
	profile_add_kept(b, one);
	profile_add_kept(b, NULL);
	profile_add_kept(b, two);
	profile_add_kept(b, three);
	profile_add_kept(more, two);
	OK(!profile_builder_merge(b, more));
	struct profile *p = profile_finish(b);
	OK(kept_find(p->kept, "/x", "aa") && kept_find(p->kept, "/y", "bb"));
	OK(kept_find(p->kept, "/z", "cc") && !kept_find(p->kept, "/x", "bb"));
	OK(kept_find(one, "/x", "aa") && !kept_find(one, "/y", "bb"));
	OK(!kept_find(two, "/x", "aa") && p->kept->objects.n == 3);
	struct profile *q = profile_canonical(p, NULL, NULL);
	OK(q->kept == p->kept);
	profile_free(q);
	profile_free(p);
	kept_free(one);
	kept_free(two);
	kept_free(three);
}

/* Results from files that not everybody may read may not be read by everybody. */
static void results_are_as_private_as_files(void)
{
	char paths[2][32] = { "/tmp/kin-profile.XXXXXX", "/tmp/kin-profile.XXXXXX" };
	struct profile_builder *b = profile_builder_new();
	for (int i = 0; i < 2; i++) {
		int fd = mkstemp(paths[i]);
		OK(fd >= 0 && !fchmod(fd, i ? 0604 : 0640));
		close(fd);
		profile_add_source(b, paths[i], (struct source){ 0 });
	}
	struct profile *p = profile_finish(b), *none = profile_finish(profile_builder_new());
	OK(profile_file_mode(p) == 0600 && profile_file_mode(none) == 0666);
	profile_free(p);
	profile_free(none);
	unlink(paths[0]);
	unlink(paths[1]);
}

/* A sample in an object, of a file with or without calls there. */
static void add_file(struct profile_builder *b, const char *path, const char *build, bool counted)
{
	objid o = profile_add_object(b, path, build);
	frameid f = profile_add_frame(b, (struct frame){ .addr = 16, .object = o });
	uint16_t e = profile_add_event(b, (struct event){ .name = profile_add_string(b, "e", 1) });
	taskid t = profile_add_task(b, (struct task){ .pid = 1, .tid = 1 });
	stackid stack = profile_add_stack(b, 0, f);
	profile_add_sample(
		b,
		(struct sample){ .stack = stack, .task = t, .event = e, .count = 1, .weight = 1 });
	if (counted)
		profile_add_arc(b, (struct arc){ 1, 16, 1, o, o });
	profile_add_source(b, "f", (struct source){ .n_arcs = counted });
}

static bool is_uncounted(const struct profile *p, const char *path)
{
	bool *uncounted = uncounted_objects(p), found = false;
	for (size_t i = 0; i < p->n_objects && uncounted; i++)
		found |= uncounted[i] && !strcmp(strtab_get(p->strings, p->objects[i].path), path);
	free(uncounted);
	return found;
}

/* A sum keeps it, also of files that others count the calls of later. */
static void time_without_calls_is_known(void)
{
	struct profile_builder *b = profile_builder_new();
	add_file(b, "/p/a", "1", true);
	add_file(b, "/p/a", "2", false); /* another build */
	add_file(b, "/p/b", "3", false);
	add_file(b, "/p/c", "4", true);
	struct profile *p = profile_finish(b), *sum = profile_canonical(p, NULL, NULL);
	OK(is_uncounted(p, "/p/a") && is_uncounted(p, "/p/b") && !is_uncounted(p, "/p/c"));
	OK(sum->n_facts == 2);
	OK_STR(strtab_get(sum->strings, sum->facts[0].name), FACT_UNCOUNTED);
	OK_STR(strtab_get(sum->strings, sum->facts[1].value), "/p/b");
	profile_free(p);
	profile_free(sum);
	b = profile_builder_new();
	add_file(b, "/p/a", "1", false);
	p = profile_finish(b);
	OK(!uncounted_objects(p));
	profile_free(p);
}

/* A recording of calls alone. */
static void add_calls(struct profile_builder *b, const char *path, const char *build)
{
	objid o = profile_add_object(b, path, build);
	profile_add_arc(b, (struct arc){ 1, 16, 1, o, o });
	profile_mark_untimed(b, o);
	profile_add_source(b, "f", (struct source){ .n_arcs = 1 });
}

static bool is_untimed(const struct profile *p, const char *path)
{
	bool *untimed = untimed_objects(p, false), found = false;
	for (size_t i = 0; i < p->n_objects && untimed; i++)
		found |= untimed[i] && !strcmp(strtab_get(p->strings, p->objects[i].path), path);
	free(untimed);
	return found;
}

/* A sum keeps it, also one without any time, to which recordings with time are added later. */
static void calls_without_time_are_known(void)
{
	struct profile_builder *b = profile_builder_new();
	add_calls(b, "/p/a", "1");
	struct profile *p = profile_finish(b), *sum = profile_canonical(p, NULL, NULL);
	OK(is_untimed(p, "/p/a") && is_untimed(sum, "/p/a") && !uncounted_objects(sum));
	OK(sum->n_facts == 1);
	OK_STR(strtab_get(sum->strings, sum->facts[0].name), FACT_UNTIMED);
	profile_free(p);
	profile_free(sum);
	b = profile_builder_new();
	add_file(b, "/p/a", "1", true);
	add_file(b, "/p/b", "2", true);
	p = profile_finish(b);
	OK(!untimed_objects(p, false));
	profile_free(p);
	/* Calls belong to the objects that were called, in whatever order recordings are added up.
	 */
	b = profile_builder_new();
	add_calls(b, "/p/a", "1");
	add_file(b, "/p/b", "2", true);
	p = profile_finish(b);
	OK(is_untimed(p, "/p/a") && !is_untimed(p, "/p/b"));
	profile_free(p);
}

int main(void)
{
	time_without_calls_is_known();
	calls_without_time_are_known();
	histograms_of_other_bins_are_refused();
	histograms_are_found_in_any_order();
	units_are_ended();
	blocks_and_facts_are_merged();
	objects_are_interned();
	arcs_are_taken();
	names_are_kept();
	kept_names_are_merged();
	results_are_as_private_as_files();
	arcs_are_summed_in_order_of_first_appearance();
	sums_of_arcs_saturate_and_say_so();
	any_files_give_what_the_slow_way_gives();
	a_long_unordered_file_is_summed_too();
	histograms_of_one_range_are_summed();
	histograms_that_do_not_fit_are_refused();
	ranges_are_found_as_the_slow_way_finds_them();
	canonical_order();
	sums_of_hits_saturate_and_say_so();
	sums_of_many_hits_outgrow_32_bits();
	no_bin_is_passed_over();
	overflow_of_blocks_is_said();
	merging_tells_what_does_not_fit();
	hits_and_arcs_are_released();
	troubles_are_collected();
	gaps_are_listed();
	return DONE();
}
