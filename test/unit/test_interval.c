/* Overlapping intervals: at each address the one with the highest priority. */
#include "tap.h"

#include "object/interval.h"

enum { SPACE = 64, MANY = 24 };

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* The expected answer at one address, by a search through all intervals. */
static uint32_t value_at(const struct interval *v, size_t n, uint64_t addr)
{
	const struct interval *best = NULL;
	for (size_t i = 0; i < n; i++) {
		if (addr < v[i].low || addr >= v[i].high)
			continue;
		if (!best || v[i].rank > best->rank ||
		    (v[i].rank == best->rank && v[i].order > best->order))
			best = &v[i];
	}
	return best ? best->value : NONE;
}

static bool agrees(uint32_t seed)
{
	struct interval all[MANY];
	struct intervals v = { 0 };
	size_t n = next_random(&seed) % MANY;
	for (size_t i = 0; i < n; i++) {
		uint64_t low = next_random(&seed) % SPACE;
		all[i] = (struct interval){ low, low + next_random(&seed) % 20,
					    next_random(&seed) % 4, (uint32_t)i,
					    next_random(&seed) % 6 };
		vec_push(&v, all[i]);
	}
	intervals_flatten(&v);

	bool good = true;
	for (size_t i = 0; i < v.n; i++) {
		const struct interval *before = i ? &v.at[i - 1] : NULL;
		good &= v.at[i].low < v.at[i].high;
		good &= !before || before->high <= v.at[i].low;
		good &= !before || before->high < v.at[i].low || before->value != v.at[i].value;
	}
	for (uint64_t addr = 0; addr < SPACE + 24; addr++)
		good &= value_at(all, n, addr) == value_at(v.at, v.n, addr);
	vec_free(&v);
	return good;
}

static void test_random(void)
{
	int bad = 0;
	for (uint32_t seed = 0; seed < 3000; seed++)
		bad += !agrees(seed);
	OK(bad == 0);
}

static void test_whole_space(void)
{
	struct intervals v = { 0 };
	vec_push(&v, ((struct interval){ 0, UINT64_MAX, 0, 0, 7 }));
	vec_push(&v, ((struct interval){ 10, 10, 9, 1, 8 }));
	vec_push(&v, ((struct interval){ 20, 5, 9, 2, 8 }));
	vec_push(&v, ((struct interval){ 5, UINT64_MAX, 1, 3, 9 }));
	intervals_flatten(&v);
	OK(v.n == 2);
	OK(v.at[0].low == 0 && v.at[0].high == 5 && v.at[0].value == 7);
	OK(v.at[1].low == 5 && v.at[1].high == UINT64_MAX && v.at[1].value == 9);
	vec_free(&v);
}

int main(void)
{
	test_random();
	test_whole_space();
	return DONE();
}
