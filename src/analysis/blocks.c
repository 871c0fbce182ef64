#include "analysis/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { GNU_BLOCKS_PER_PLACE = 10 };

/* Records by place, those of one place in the order they were read: a counting sort. */
static void group(struct blocks *b, const struct profile *p, const struct symbols *s)
{
	symid *place = xrealloc(NULL, p->n_blocks, sizeof(*place));
	uint32_t *next = xalloc((s->n + 2) * sizeof(*next));

	for (size_t i = 0; i < p->n_blocks; i++) {
		place[i] = symbols_find(s, p->blocks[i].addr);
		if (place[i] == NONE)
			b->n_outside++;
		else
			next[place[i] + 2]++;
	}
	for (size_t i = 0; i <= s->n; i++)
		next[i + 1] += next[i];
	b->n = next[s->n + 1];
	b->at = xrealloc(NULL, b->n, sizeof(*b->at));
	for (size_t i = 0; i < p->n_blocks; i++)
		if (place[i] != NONE)
			b->at[next[place[i] + 1]++] =
				(struct block_count){ p->blocks[i].addr, p->blocks[i].count };
	b->first = next; /* every start has moved up to the end, which is the next one's start */
	free(place);
}

static int by_addr(const void *l, const void *r)
{
	const struct block_count *left = l, *right = r;
	return (left->addr > right->addr) - (left->addr < right->addr);
}

/* Sorts and sums n records in place; returns how many are left. */
static size_t sum(struct blocks *b, struct block_count *at, size_t n)
{
	size_t kept = 0;

	qsort(at, n, sizeof(*at), by_addr);
	for (size_t i = 0; i < n; i++) {
		if (!kept || at[kept - 1].addr != at[i].addr) {
			at[kept++] = at[i];
		} else if (__builtin_add_overflow(at[kept - 1].count, at[i].count,
						  &at[kept - 1].count)) {
			at[kept - 1].count = UINT64_MAX;
			b->has_saturated = true;
		}
	}
	return kept;
}

/* To GNU a slot with address 0 is free: a block there leaves its count to the next one of the
 * place, and is not shown. */
static size_t sum_gnu(struct block_count *at, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;
		while (k < kept && at[k].addr && at[k].addr != at[i].addr)
			k++;
		if (k < kept)
			at[k] = (struct block_count){ at[i].addr, at[k].count + at[i].count };
		else if (kept < GNU_BLOCKS_PER_PLACE)
			at[kept++] = at[i];
	}
	return kept && !at[kept - 1].addr ? kept - 1 : kept;
}

struct blocks *blocks_new(const struct profile *p, const struct symbols *s, bool gnu)
{
	struct blocks *b = xalloc(sizeof(*b));
	if (!p->n_blocks || (gnu && !s->opts.lines)) {
		b->first = xalloc((s->n + 1) * sizeof(*b->first));
		return b;
	}

	group(b, p, s);
	size_t kept = 0, start = 0;
	for (size_t i = 0; i < s->n; i++) {
		struct block_count *at = b->at + start;
		size_t n = b->first[i + 1] - start;
		start = b->first[i + 1];
		b->first[i] = (uint32_t)kept;
		n = gnu ? sum_gnu(at, n) : sum(b, at, n);
		if (n)
			memmove(b->at + kept, at, n * sizeof(*at));
		kept += n;
	}
	b->first[s->n] = (uint32_t)kept;
	b->n = kept;
	return b;
}

void blocks_free(struct blocks *b)
{
	if (!b)
		return;
	free(b->at);
	free(b->first);
	free(b);
}
