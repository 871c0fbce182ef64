/* test_spreads.c - sums over ranks: against what plain loops over all ranks say, in any grouping.
 */
#include <math.h>
#include <stdlib.h>

#include "profile/spreads.h"
#include "tap.h"

enum { RANKS = 40, FUNCTIONS = 12, ROUNDS = 200 };

static uint64_t state = 1;

static uint64_t any(uint64_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % below;
}

struct truth {
	uint64_t values[RANKS][FUNCTIONS];
};

static struct truth make_truth(void)
{
	struct truth t = { 0 };
	for (int i = 0; i < RANKS; i++)
		for (int f = 0; f < FUNCTIONS; f++)
			t.values[i][f] = any(3) ? any(1000000) : 0;
	return t;
}

static struct spread_row row_of(struct spread_set *s, int function)
{
	char name[16];
	snprintf(name, sizeof(name), "f%d", function);
	return (struct spread_row){ .kind = function % 2 ? SPREAD_SELF : SPREAD_INCLUSIVE,
				    .event = spread_set_string(s, "clock"),
				    .to = { .name = spread_set_string(s, name), .addr = 16 } };
}

static struct spread_set *set_of_rank(const struct truth *t, uint32_t rank)
{
	struct spread_set *s = spread_set_new();
	spread_set_add_ranks(s, (struct rank_range){ rank, rank });
	for (int f = FUNCTIONS; f-- > 0;) { /* others come in another order */
		struct spread_row row = row_of(s, (f + (int)rank) % FUNCTIONS);
		uint64_t v = t->values[rank][(f + (int)rank) % FUNCTIONS];
		row.of = spread_of(rank, v);
		if (v)
			spread_set_add(s, &row);
	}
	return s;
}

/* All, two after two, until one is left. */
static struct spread_set *join_all(const struct truth *t)
{
	struct spread_set *sets[RANKS];
	for (uint32_t i = 0; i < RANKS; i++)
		sets[i] = set_of_rank(t, i);
	for (size_t n = RANKS; n > 1; n--) {
		size_t a = any(n), b = any(n - 1);
		b += b >= a;
		spread_set_join(sets[a], sets[b], NULL);
		spread_set_free(sets[b]);
		sets[b] = sets[n - 1];
	}
	spread_set_sort(sets[0]);
	return sets[0];
}

static bool is_right(const struct truth *t, const struct spread_set *s, const struct spread_row *r)
{
	int f = atoi(strtab_get(s->strings, r->to.name) + 1);
	uint64_t sum = 0, min = UINT64_MAX, max = 0;
	uint32_t min_rank = 0, max_rank = 0, n = 0;
	double squares = 0;
	for (uint32_t i = 0; i < RANKS; i++) {
		uint64_t v = t->values[i][f];
		sum += v;
		n += v != 0;
		min_rank = v < min ? i : min_rank;
		min = v < min ? v : min;
		max_rank = v > max ? i : max_rank;
		max = v > max ? v : max;
	}
	double mean = (double)sum / RANKS;
	for (uint32_t i = 0; i < RANKS; i++)
		squares += ((double)t->values[i][f] - mean) * ((double)t->values[i][f] - mean);
	return r->of.sum == sum && r->of.min == min && r->of.max == max && r->of.n == n &&
	       r->of.min_rank == min_rank && r->of.max_rank == max_rank &&
	       fabs(spread_mean(&r->of, RANKS) - mean) < 1e-6 &&
	       fabs(spread_deviation(&r->of, RANKS) - sqrt(squares / RANKS)) < 1e-3;
}

static bool is_same(const struct spread_set *a, const struct spread_set *b)
{
	bool same = a->rows.n == b->rows.n;
	for (size_t i = 0; same && i < a->rows.n; i++) {
		const struct spread_row *x = &a->rows.at[i], *y = &b->rows.at[i];
		same = x->kind == y->kind &&
		       !strcmp(strtab_get(a->strings, x->to.name),
			       strtab_get(b->strings, y->to.name)) &&
		       x->of.sum == y->of.sum && x->of.squares == y->of.squares &&
		       x->of.min_rank == y->of.min_rank && x->of.max_rank == y->of.max_rank;
	}
	return same;
}

static void test_joining(void)
{
	size_t wrong = 0, unlike = 0, ranges = 0;
	for (int i = 0; i < ROUNDS; i++) {
		struct truth t = make_truth();
		struct spread_set *s = join_all(&t), *again = join_all(&t);
		for (size_t k = 0; k < s->rows.n; k++)
			wrong += !is_right(&t, s, &s->rows.at[k]);
		unlike += !is_same(s, again);
		ranges += s->ranks.n != 1 || spread_set_count(s) != RANKS || s->twice;
		spread_set_free(s);
		spread_set_free(again);
	}
	OK(!wrong);
	OK(!unlike);
	OK(!ranges);
}

/* By kind, unit, event, caller and callee; functions by object, address, name and whether they are
 * inlined. */
static void test_order(void)
{
	static const struct {
		uint32_t kind, unit;
		const char *event;
		struct {
			uint32_t object;
			uint64_t addr;
			const char *name;
			uint32_t inlined;
		} from, to;
	} rows[] = {
		{ 1, 9, "z", { 9, 9, "z", 1 }, { 9, 9, "z", 1 } },
		{ 2, 1, "z", { 9, 9, "z", 1 }, { 9, 9, "z", 1 } },
		{ 2, 2, "a", { 9, 9, "z", 1 }, { 9, 9, "z", 1 } },
		{ 2, 2, "b", { 1, 9, "z", 1 }, { 9, 9, "z", 1 } },
		{ 2, 2, "b", { 2, 1, "z", 1 }, { 9, 9, "z", 1 } },
		{ 2, 2, "b", { 2, 2, "a", 1 }, { 9, 9, "z", 1 } },
		{ 2, 2, "b", { 2, 2, "b", 0 }, { 9, 9, "z", 1 } },
		{ 2, 2, "b", { 2, 2, "b", 1 }, { 1, 9, "z", 1 } },
		{ 2, 2, "b", { 2, 2, "b", 1 }, { 2, 1, "z", 1 } },
		{ 2, 2, "b", { 2, 2, "b", 1 }, { 2, 2, "a", 1 } },
		{ 2, 2, "b", { 2, 2, "b", 1 }, { 2, 2, "b", 0 } },
		{ 2, 2, "b", { 2, 2, "b", 1 }, { 2, 2, "b", 1 } },
	};
	enum { N = ARRAY_LEN(rows) };
	size_t wrong = 0;
	for (int round = 0; round < ROUNDS; round++) {
		struct spread_set *s = spread_set_new();
		size_t order[N];
		for (size_t i = 0; i < N; i++) {
			size_t k = any(i + 1);
			order[i] = order[k];
			order[k] = i;
		}
		for (size_t i = 0; i < N; i++) {
			size_t k = order[i];
			struct spread_row row = {
				.kind = rows[k].kind,
				.unit = rows[k].unit,
				.event = spread_set_string(s, rows[k].event),
				.from = { .object = rows[k].from.object,
					  .addr = rows[k].from.addr,
					  .name = spread_set_string(s, rows[k].from.name),
					  .inlined = rows[k].from.inlined },
				.to = { .object = rows[k].to.object,
					.addr = rows[k].to.addr,
					.name = spread_set_string(s, rows[k].to.name),
					.inlined = rows[k].to.inlined },
				.of = spread_of(0, 1 + k),
			};
			spread_set_add(s, &row);
		}
		spread_set_sort(s);
		wrong += s->rows.n != N;
		for (size_t i = 0; i < s->rows.n; i++)
			wrong += s->rows.at[i].of.sum != 1 + i;
		spread_set_free(s);
	}
	OK(!wrong);
}

static void test_missing(const struct spread_set *s, uint32_t ranks, const char *want)
{
	char *missing = spread_set_missing(s, ranks);
	OK_STR(missing ? missing : "none", want);
	free(missing);
}

static void test_ranks(void)
{
	struct spread_set *s = spread_set_new();
	test_missing(s, 3, "0-2");
	spread_set_add_ranks(s, (struct rank_range){ 2, 3 });
	spread_set_add_ranks(s, (struct rank_range){ 6, 6 });
	spread_set_add_ranks(s, (struct rank_range){ 4, 4 });
	OK(s->ranks.n == 2 && spread_set_has(s, 4) && !spread_set_has(s, 5));
	OK(!spread_set_has(s, 1) && spread_set_has(s, 2) && spread_set_has(s, 6));
	test_missing(s, 9, "0-1, 5, 7-8");
	test_missing(s, 0, "none");
	OK(!s->twice);
	spread_set_add_ranks(s, (struct rank_range){ 3, 3 });
	OK(s->twice == 3 + 1);
	spread_set_add_ranks(s, (struct rank_range){ 4, 4 });
	OK(s->twice == 3 + 1); /* the lowest */
	for (uint32_t i = 10; i < 40; i += 2)
		spread_set_add_ranks(s, (struct rank_range){ i, i });
	test_missing(s, 40, "0-1, 5, 7-9, 11, 13, 15, 17, 19, ...");
	spread_set_free(s);
}

/* A sum may be larger than 64 bits; that of squares stays at the largest value. */
static void test_limits(void)
{
	struct spread_set *a = spread_set_new(), *b = spread_set_new();
	struct spread_row row = row_of(a, 0);
	spread_set_add_ranks(a, (struct rank_range){ 0, 0 });
	spread_set_add_ranks(b, (struct rank_range){ 1, 1 });
	row.of = spread_of(0, UINT64_MAX);
	spread_set_add(a, &row);
	row = row_of(b, 0);
	row.of = spread_of(1, UINT64_MAX);
	spread_set_add(b, &row);
	spread_set_join(a, b, NULL);
	OK(a->rows.n == 1 && a->rows.at[0].of.sum == 2 * (spread_sum)UINT64_MAX);
	OK(a->rows.at[0].of.squares == ~(spread_sum)0);
	spread_set_free(a);
	spread_set_free(b);
}

int main(void)
{
	test_joining();
	test_order();
	test_ranks();
	test_limits();
	return DONE();
}
