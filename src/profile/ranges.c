/* ranges.c - a set of ranges in sorted arrays whose sizes are powers of two. */
#include "profile/ranges.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"

/* Empty ranges come before the others of an object, so that those stay disjoint neighbours. */
static int compare(const struct range *a, const struct range *b)
{
	bool a_full = a->low < a->high, b_full = b->low < b->high;

	int order = ORDER(a->object, b->object);

	if (!order)
		order = ORDER(a_full, b_full);
	if (!order)
		order = ORDER(a->low, b->low);
	return order ? order : ORDER(a->high, b->high);
}

/* Merges the two shortest runs, which are equally long. */
static void merge_last(struct ranges *r)
{
	struct range *a = r->runs[r->n_runs - 2].at, *b = r->runs[r->n_runs - 1].at;
	size_t n = r->runs[r->n_runs - 1].n, i = 0, j = 0;
	struct range *out = xrealloc(NULL, n + n, sizeof(*out));

	while (i < n || j < n) {
		bool from_a = j == n || (i < n && compare(&a[i], &b[j]) < 0);
		out[i + j] = from_a ? a[i] : b[j];
		*(from_a ? &i : &j) += 1;
	}
	free(a);
	free(b);
	r->n_runs--;
	r->runs[r->n_runs - 1].at = out;
	r->runs[r->n_runs - 1].n += n;
}

void ranges_add(struct ranges *r, struct range range)
{
	struct range *one = xrealloc(NULL, 1, sizeof(*one));

	*one = range;
	r->runs[r->n_runs].at = one;
	r->runs[r->n_runs].n = 1;
	r->n_runs++;
	while (r->n_runs > 1 && r->runs[r->n_runs - 2].n == r->runs[r->n_runs - 1].n)
		merge_last(r);
}

/* How many ranges of the run are less than key. */
static size_t lower_bound(const struct range *at, size_t n, const struct range *key)
{
	return COUNT_WHILE(n, i, compare(&at[i], key) < 0);
}

uint32_t ranges_find(const struct ranges *r, objid object, uint64_t low, uint64_t high)
{
	struct range key = { .object = object, .low = low, .high = high };

	for (size_t k = 0; k < r->n_runs; k++) {
		size_t i = lower_bound(r->runs[k].at, r->runs[k].n, &key);
		if (i < r->runs[k].n && compare(&r->runs[k].at[i], &key) == 0)
			return r->runs[k].at[i].value;
	}
	return NONE;
}

static bool starts_before(const struct range *r, objid object, uint64_t address)
{
	return r->object < object ||
	       (r->object == object && (r->low >= r->high || r->low < address));
}

/* How many ranges of the run start before `address`, counting all ranges of smaller objects. */
static size_t starting_before(const struct range *at, size_t n, objid object, uint64_t address)
{
	return COUNT_WHILE(n, i, starts_before(&at[i], object, address));
}

uint32_t ranges_find_overlapping(const struct ranges *r, objid object, uint64_t low, uint64_t high)
{
	if (low >= high)
		return NONE;
	for (size_t k = 0; k < r->n_runs; k++) {
		/* The last range that starts before `high`. Ranges are disjoint, so none before it
		 * reaches further. */
		size_t i = starting_before(r->runs[k].at, r->runs[k].n, object, high);
		const struct range *last = i ? &r->runs[k].at[i - 1] : NULL;
		if (last && last->object == object && last->low < last->high && low < last->high)
			return last->value;
	}
	return NONE;
}

void ranges_free(struct ranges *r)
{
	for (size_t k = 0; k < r->n_runs; k++)
		free(r->runs[k].at);
	*r = (struct ranges){ 0 };
}
