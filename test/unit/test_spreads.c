/* test_spreads.c - sums over ranks in any grouping, compared with plain loops over all ranks. */
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

/* Values that are often the same on several ranks, or never. */
static struct truth make_truth(bool often)
{
	struct truth t = { 0 };
	for (int i = 0; i < RANKS; i++)
		for (int f = 0; f < FUNCTIONS; f++)
			t.values[i][f] = often ? 1 + any(4) : any(3) ? any(1000000) : 0;
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
		struct truth t = make_truth(i % 2);
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
	test_missing(s, 21, "0-1, 5, 7-9, 11, 13, 15, 17, 19");
	test_missing(s, 20, "0-1, 5, 7-9, 11, 13, 15, 17, 19");
	test_missing(s, 22, "0-1, 5, 7-9, 11, 13, 15, 17, 19, ...");
	test_missing(s, 2, "0-1");
	test_missing(s, 1, "0");
	spread_set_free(s);
}

/* Of files with ranks that others have, too, the lowest of these is named. */
static void test_twice(void)
{
	struct spread_set *s = spread_set_new(), *other = spread_set_new();
	spread_set_add_ranks(s, (struct rank_range){ 5, 4 }); /* none */
	spread_set_add_ranks(s, (struct rank_range){ 7, UINT32_MAX });
	OK(!s->ranks.n && !spread_set_count(s));
	spread_set_add_ranks(s, (struct rank_range){ 0, UINT32_MAX - 1 });
	OK(s->ranks.n == 1 && spread_set_count(s) == UINT32_MAX);
	spread_set_free(s);

	s = spread_set_new();
	spread_set_add_ranks(s, (struct rank_range){ 10, 12 });
	spread_set_add_ranks(s, (struct rank_range){ 20, 29 });
	spread_set_add_ranks(s, (struct rank_range){ 14, 14 });
	OK(s->ranks.n == 3 && spread_set_count(s) == 14 && !s->twice);
	spread_set_add_ranks(s, (struct rank_range){ 13, 13 });
	OK(s->ranks.n == 2 && s->ranks.at[0].first == 10 && s->ranks.at[0].last == 14);
	spread_set_add_ranks(other, (struct rank_range){ 25, 26 });
	spread_set_add_ranks(other, (struct rank_range){ 26, 40 });
	OK(other->twice == 26 + 1);
	spread_set_join(s, other, NULL);
	OK(s->twice == 25 + 1 && s->ranks.n == 2 && s->ranks.at[1].last == 40);
	spread_set_free(other);
	other = spread_set_new();
	spread_set_add_ranks(other, (struct rank_range){ 2, 2 });
	spread_set_add_ranks(other, (struct rank_range){ 2, 2 });
	spread_set_join(s, other, NULL);
	OK(s->twice == 2 + 1 && s->ranks.n == 3);
	spread_set_join(other, s, NULL);
	OK(other->twice == 2 + 1);
	spread_set_free(other);
	other = spread_set_new();
	spread_set_join(other, s, NULL);
	OK(other->twice == 2 + 1 && other->ranks.n == 3);
	spread_set_free(other);
	spread_set_free(s);
}

static void add_row(struct spread_set *s, const char *name, objid object, uint32_t rank,
		    uint64_t value)
{
	spread_set_add(s, &(struct spread_row){
				  .to = { .name = spread_set_string(s, name), .object = object },
				  .of = spread_of(rank, value) });
}

/* Objects are renumbered; a row that the other side lacks gets zeros for the ranks of that side, if
 * it has any. */
static void test_sides(void)
{
	static const objid moved[] = { 0, 2, 1 };
	struct spread_set *s = spread_set_new(), *other = spread_set_new();
	add_row(s, "a", 1, 3, 50);
	add_row(s, "a", 1, 4, 50);
	add_row(s, "b", 1, 3, 7);
	spread_set_add_ranks(s, (struct rank_range){ 3, 4 });
	add_row(other, "b", 2, 9, 70);
	add_row(other, "c", 2, 8, 1);
	spread_set_add_ranks(other, (struct rank_range){ 8, 9 });
	spread_set_join(s, other, moved);
	OK(s->rows.n == 3);
	const struct spread_row *r = s->rows.at;
	OK(r[0].of.sum == 100 && r[0].of.max == 50 && r[0].of.max_rank == 3 && r[0].of.n == 2);
	OK(r[0].of.min == 0 && r[0].of.min_rank == 8);
	OK(r[1].of.sum == 77 && r[1].of.min == 7 && r[1].of.min_rank == 3 && r[1].of.n == 2);
	OK(r[1].of.max == 70 && r[1].of.max_rank == 9 && r[1].of.squares == 49 + 4900);
	OK(r[2].to.object == 1 && r[2].of.min == 0 && r[2].of.min_rank == 3 && r[2].of.max == 1);
	spread_set_free(other);

	other = spread_set_new(); /* without known ranks */
	add_row(other, "d", 1, 0, 5);
	spread_set_join(s, other, NULL);
	OK(s->rows.n == 4 && s->rows.at[1].of.min == 7 && s->rows.at[3].of.min == 0);
	spread_set_free(s);
	s = spread_set_new();
	spread_set_join(s, other, NULL);
	OK(s->rows.n == 1 && s->rows.at[0].of.min == 5);
	spread_set_free(s);
	spread_set_free(other);
	spread_set_free(NULL);
}

/* All the same: that is no deviation, whatever rounding makes of it. */
static void test_deviation(void)
{
	struct spread s = spread_of(0, 5);
	OK(spread_mean(&s, 1) == 5 && spread_deviation(&s, 1) == 0);
	OK(spread_mean(&s, 2) == 2.5 && spread_deviation(&s, 2) == 2.5);
	s = (struct spread){ .sum = 30, .squares = 299 }; /* less than the square of the mean */
	OK(spread_deviation(&s, 3) == 0);
	s = spread_of(7, 0);
	OK(s.n == 0 && s.min_rank == 7 && s.max_rank == 7 && spread_deviation(&s, 1) == 0);
}

/* A sum may be larger than 64 bits; the sum of squares stays at the largest value. */
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
	a = spread_set_new();
	b = spread_set_new();
	row = row_of(a, 0);
	row.of.n = UINT32_MAX - 1; /* ranks that had any */
	spread_set_add(a, &row);
	row.of.n = 1;
	spread_set_add(a, &row);
	OK(a->rows.n == 1 && a->rows.at[0].of.n == UINT32_MAX);
	spread_set_add(a, &row);
	OK(a->rows.at[0].of.n == UINT32_MAX);
	spread_set_free(a);
	spread_set_free(b);
}

int main(void)
{
	test_joining();
	test_order();
	test_ranks();
	test_twice();
	test_sides();
	test_deviation();
	test_limits();
	return DONE();
}
