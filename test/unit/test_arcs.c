/* Distinct arcs of several files, in order of first appearance, compared with a linear search. */
#include "profile/arcs.h"

#include <stdlib.h>

#include "tap.h"

enum { MOST = 3000 };

static bool same(const struct arc *a, const struct arc *b)
{
	return a->from == b->from && a->to == b->to && a->from_object == b->from_object &&
	       a->to_object == b->to_object;
}

struct expected {
	struct arc at[MOST];
	size_t n;
	bool saturated;
};

static void expect(struct expected *e, const struct arc *x)
{
	for (size_t i = 0; i < e->n; i++)
		if (same(&e->at[i], x)) {
			uint64_t sum = e->at[i].count + x->count;
			e->saturated |= sum < x->count;
			e->at[i].count = sum < x->count ? UINT64_MAX : sum;
			return;
		}
	e->at[e->n++] = *x;
}

static struct arc at(const struct arcs *a, size_t i)
{
	struct arc_list list = arcs_list(a);
	return arc_at(&list, i);
}

static bool is(const struct arcs *a, const struct expected *e)
{
	bool good = a->n == e->n && a->settled == e->n && a->saturated == e->saturated;
	for (size_t i = 0; good && i < e->n; i++) {
		struct arc arc = at(a, i);
		good = same(&arc, &e->at[i]) && arc.count == e->at[i].count;
	}
	return good;
}

/* Sorted by from, all in one object. */
static bool ascend(const struct arcs *a)
{
	for (size_t i = 1; i < a->n; i++)
		if (at(a, i).from < at(a, i - 1).from ||
		    at(a, i).from_object != at(a, i - 1).from_object)
			return false;
	return true;
}

static int by_from(const void *a, const void *b)
{
	const struct arc *x = a, *y = b;
	return x->from_object != y->from_object ? (x->from_object > y->from_object ? 1 : -1)
						: (x->from > y->from) - (x->from < y->from);
}

/* Arcs of random sites, some with many callees; some sorted, some in one object, some 2 GB apart.
 */
static size_t random_file(struct arc *list, uint32_t sites, uint32_t callees, int shape)
{
	static const uint64_t bases[] = { 0, 0x555555554000, 0x7ffffff0, UINT64_MAX - 30 };
	size_t n = 1 + (size_t)rand() % 300;
	uint64_t base = bases[shape >> 3 & 3], step = shape & 32 ? UINT64_C(1) << 31 : 1;
	for (size_t i = 0; i < n; i++)
		list[i] = (struct arc){ .from = base + (uint32_t)rand() % sites * step,
					.to = base + (uint32_t)rand() % callees,
					.from_object = shape & 1 ? (uint32_t)rand() % 2 : 0,
					.to_object = shape & 2 ? (uint32_t)rand() % 2 : 0,
					.count = (uint64_t)rand() % 50 };
	if (shape & 4)
		qsort(list, n, sizeof(*list), by_from);
	return n;
}

static void random_files(void)
{
	static struct expected e;
	size_t wrong = 0, disordered = 0, ascending = 0, far = 0, near = 0;
	srand(5);
	for (int round = 0; round < 1500; round++) {
		struct arcs a = { 0 };
		struct arc list[400];
		uint32_t sites = 1 + (uint32_t)rand() % 20, callees = 1 + (uint32_t)rand() % 200;
		size_t n = random_file(list, sites, callees, round % 64);
		e.n = 0;
		e.saturated = false;
		if (rand() % 2)
			arcs_expect(&a, (size_t)rand() % 400);
		for (int file = 0; file < 4; file++) {
			if (file && rand() % 3 == 0) /* much as before */
				n = random_file(list, sites, callees, round % 64);
			size_t from = rand() % 4 ? 0 : (size_t)rand() % n;
			for (size_t i = from; i < n; i++)
				expect(&e, &list[i]);
			if (rand() % 2) {
				arcs_add(&a, list + from, n - from);
			} else {
				for (size_t i = from; i < n; i++)
					arcs_add(&a, &list[i], 1);
			}
			arcs_end_file(&a);
			wrong += !is(&a, &e);
			disordered += a.ascend && !ascend(&a);
			ascending += a.ascend;
			if (rand() % 3 == 0)
				arcs_drop_index(&a);
		}
		far += a.is_far;
		near += !a.is_far;
		arcs_free(&a);
	}
	OK(!wrong && far > 100 && near > 100);
	OK(!disordered);
	OK(ascending > 100);
}

/* The same arc with one end of it another, in a list of files that is otherwise the same. */
static void ends_tell_arcs_apart(void)
{
	static const struct arc ends[] = {
		{ 1, 2, 3, 0, 0 }, { 1, 2, 3, 0, 1 }, { 1, 2, 3, 1, 0 },
		{ 1, 4, 3, 0, 0 }, { 5, 2, 3, 0, 0 },
	};
	struct arcs a = { 0 };
	for (int file = 0; file < 3; file++) {
		for (size_t i = 0; i < ARRAY_LEN(ends); i++)
			arcs_add(&a, &ends[file % 2 ? ARRAY_LEN(ends) - 1 - i : i], 1);
		arcs_end_file(&a);
	}
	OK(a.n == ARRAY_LEN(ends) && !a.ascend);
	for (size_t i = 0; i < a.n; i++) {
		struct arc arc = at(&a, i);
		OK(same(&arc, &ends[i]) && arc.count == 9);
	}
	arcs_free(&a);
}

/* Arcs that are too far from the first for 32 bits, or of other objects, are kept as exactly. */
static void far_arcs_are_kept(void)
{
	static const struct arc ends[] = {
		{ 0x1000, 0xffffffff, 1, 4, 4 },
		{ 0x1001, 0x100000000, 2, 4, 4 },
		{ UINT64_MAX, 0, UINT64_MAX, 4, 4 },
		{ 0x1000, 0x100000fff, 4, 4, 5 },
	};
	struct arcs a = { 0 };
	arcs_add(&a, ends, 1);
	OK(!a.is_far);
	for (size_t i = 1; i < ARRAY_LEN(ends); i++) {
		arcs_add(&a, &ends[i], 1);
		OK(a.is_far);
	}
	arcs_end_file(&a);
	OK(a.n == ARRAY_LEN(ends) && !a.saturated);
	for (size_t i = 0; i < a.n; i++) {
		struct arc arc = at(&a, i);
		OK(same(&arc, &ends[i]) && arc.count == ends[i].count);
	}
	arcs_free(&a);
}

/* Ascending arcs are known to be so until one comes that is not. */
static void order_is_known(void)
{
	struct arcs a = { 0 };
	for (uint64_t i = 0; i < 500; i++)
		arcs_add(&a, &(struct arc){ .from = i / 2, .to = i % 2, .count = 1 }, 1);
	arcs_end_file(&a);
	OK(a.ascend && a.n == 500);
	arcs_add(&a, &(struct arc){ .from = 3, .to = 1, .count = 1 }, 1);
	arcs_end_file(&a);
	OK(a.ascend && a.n == 500 && at(&a, 7).count == 2);
	arcs_add(&a, &(struct arc){ .from = 3, .to = 2, .count = 1 }, 1);
	arcs_end_file(&a);
	OK(!a.ascend && a.n == 501);
	arcs_free(&a);

	arcs_add(&a,
		 (const struct arc[]){ { 1, 1, 1, 0, 0 }, { 1, 2, 1, 0, 0 }, { 0, 1, 1, 0, 0 } },
		 3);
	arcs_end_file(&a);
	OK(!a.ascend && a.n == 3);
	arcs_free(&a);

	arcs_add(&a, (const struct arc[]){ { 1, 1, 1, 0, 0 }, { 2, 2, 1, 1, 0 } }, 2);
	arcs_end_file(&a);
	OK(!a.ascend && a.n == 2); /* of two objects */
	arcs_free(&a);

	arcs_end_file(&a);
	OK(!a.n);
	arcs_free(&a);
}

static void sums_saturate(void)
{
	for (uint64_t beyond = 0; beyond < 2; beyond++)
		for (int way = 0; way < 4; way++) {
			struct arcs a = { 0 };
			struct arc x = { .from = 7, .to = 1, .count = UINT64_MAX - 3 };
			struct arc y = { .from = 5, .to = 1, .count = 1 };
			arcs_add(&a, &x, 1);
			if (way == 1) /* not in order */
				arcs_add(&a, &y, 1);
			if (way == 2) /* another file */
				arcs_end_file(&a);
			if (way == 3) { /* where it is not looked for first */
				for (y.from = 10; y.from < 30; y.from++)
					arcs_add(&a, &y, 1);
				arcs_end_file(&a);
				arcs_add(&a, &(struct arc){ 20, 1, 1, 0, 0 }, 1);
			}
			x.count = 3 + beyond;
			arcs_add(&a, &x, 1);
			arcs_end_file(&a);
			OK(at(&a, 0).count == UINT64_MAX && a.saturated == (bool)beyond);
			arcs_free(&a);
		}
}

/* A site with very many callees, all its arcs twice: no pair of them is compared. */
static void one_site_with_many_callees(void)
{
	enum { MANY = 200000 };
	struct arcs a = { 0 };
	for (int turn = 0; turn < 2; turn++)
		for (uint64_t i = 0; i < MANY; i++)
			arcs_add(&a, &(struct arc){ .from = 1, .to = i, .count = 1 }, 1);
	arcs_end_file(&a);
	size_t wrong = a.n != MANY;
	for (size_t i = 0; i < a.n; i++)
		wrong += at(&a, i).to != i || at(&a, i).count != 2;
	OK(!wrong);
	arcs_free(&a);
}

int main(void)
{
	random_files();
	ends_tell_arcs_apart();
	far_arcs_are_kept();
	order_is_known();
	sums_saturate();
	one_site_with_many_callees();
	return DONE();
}
