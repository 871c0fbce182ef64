/* blocks.c - assigns block counts to places, in address order. */
#include "analysis/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/sort.h"

/* Groups blocks by place, keeping reading order within a place (a counting sort). */
static void group(struct blocks *b, const struct profile *p, const struct symbols *s)
{
	size_t n = p->n_blocks;
	symid *place = xrealloc(NULL, n + 1, sizeof(*place));
	uint32_t *next = xalloc((s->n + 2) * sizeof(*next));

	for (size_t i = 0; i < n; i++) {
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
	for (size_t i = 0; i < n; i++)
		if (place[i] != NONE)
			b->at[next[place[i] + 1]++] =
				(struct block_count){ p->blocks[i].addr, p->blocks[i].count };
	b->first = next; /* each start has moved to the end of its group, which is the next group's
			    start */
	free(place);
}

static int by_addr(const void *l, const void *r)
{
	const struct block_count *left = l, *right = r;
	return ORDER(left->addr, right->addr);
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

static const struct block_rules ours = { .sum = sum };

struct blocks *blocks_new(const struct profile *p, const struct symbols *s,
			  const struct block_rules *rules)
{
	struct blocks *b = xalloc(sizeof(*b));
	rules = rules ? rules : &ours;
	if (!p->n_blocks || (rules->of_lines && !s->opts.lines)) {
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
		n = rules->sum(b, at, n);
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
