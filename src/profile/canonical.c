/* canonical.c - a profile in the order that all profiles with the same sums have. */
#include <stdlib.h>
#include <string.h>

#include "profile/builder.h"

#define ORDER(a, b) ((a) < (b) ? -1 : (a) > (b))

static int by_ends(const void *a, const void *b)
{
	const struct arc *x = a, *y = b;
	int order = ORDER(x->from, y->from);

	if (!order)
		order = ORDER(x->to, y->to);
	if (!order)
		order = ORDER(x->from_object, y->from_object);
	return order ? order : ORDER(x->to_object, y->to_object);
}

static int by_range(const void *a, const void *b)
{
	const struct histogram *x = a, *y = b;
	int order = ORDER(x->object, y->object);

	if (!order)
		order = ORDER(x->low, y->low);
	return order ? order : ORDER(x->high, y->high);
}

static int by_address(const void *a, const void *b)
{
	const struct block *x = a, *y = b;
	int order = ORDER(x->object, y->object);

	return order ? order : ORDER(x->addr, y->addr);
}

/* A copy that may be sorted; n may be 0. */
static void *sorted(const void *at, size_t n, size_t size,
		    int (*compare)(const void *, const void *))
{
	void *copy = xrealloc(NULL, n, size);

	if (n) {
		memcpy(copy, at, n * size);
		qsort(copy, n, size, compare);
	}
	return copy;
}

static void add_arcs(struct profile_builder *b, const struct profile *p)
{
	struct arc *arcs = sorted(p->arcs, p->n_arcs, sizeof(*arcs), by_ends);

	for (size_t i = 0; i < p->n_arcs; i++)
		profile_add_arc(b, arcs[i]);
	free(arcs);
}

static void add_histograms(struct profile_builder *b, const struct profile *p)
{
	struct histogram *all = sorted(p->histograms, p->n_histograms, sizeof(*all), by_range);

	for (size_t i = 0; i < p->n_histograms; i++)
		builder_add_hits(b, builder_put_histogram(b, all[i]), all[i].hits, all[i].n_hits);
	free(all);
}

static bool add_blocks(struct profile_builder *b, const struct profile *p)
{
	struct block *all = sorted(p->blocks, p->n_blocks, sizeof(*all), by_address);
	bool saturated = false;
	size_t next;

	for (size_t i = 0; i < p->n_blocks; i = next) {
		struct block sum = all[i];
		for (next = i + 1; next < p->n_blocks && by_address(&all[i], &all[next]) == 0;
		     next++) {
			if (__builtin_add_overflow(sum.count, all[next].count, &sum.count)) {
				sum.count = UINT64_MAX;
				saturated = true;
			}
		}
		profile_add_block(b, sum);
	}
	if (p->n_blocks)
		profile_add_block_record(b);
	free(all);
	return saturated;
}

struct profile *profile_canonical(const struct profile *p)
{
	struct profile_builder *b = profile_builder_new();

	for (size_t i = 0; i < p->n_objects; i++)
		profile_add_object(b, strtab_get(p->strings, p->objects[i].path),
				   strtab_get(p->strings, p->objects[i].build_id));
	add_arcs(b, p);
	add_histograms(b, p);
	bool saturated = add_blocks(b, p);
	for (size_t i = 0; i < p->n_sources; i++)
		profile_add_source(b, strtab_get(p->strings, p->sources[i].path), p->sources[i]);

	struct profile *ret = profile_finish(b);
	ret->saturated |= saturated || p->saturated;
	return ret;
}
