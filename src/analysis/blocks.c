/* blocks.c - assigns block counts to places, in address order. */
#include "analysis/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/sort.h"

/* ---- hooks ---- */

/* The size of a call to the hook that -fsanitize-coverage=trace-pc puts at the start of each block;
 * 0: there is no such call. */
static size_t hook_at(const struct symbols *s, symid id, uint64_t addr)
{
	const struct symbols_part *part = &s->parts[s->at[id].part];
	uint64_t target;
	size_t size = part->object ? object_call_at(part->object, addr - part->base, &target) : 0;
	symid called = size ? symbols_find_start(s, target + part->base) : NONE;
	return called != NONE && !strncmp(s->at[called].name, "__sanitizer_cov_trace_pc", 24) ? size
											      : 0;
}

/* The place of a block. A hook without a line of its own is part of the place before it. If that
 * place ends with the hook, the block belongs to the next place. */
static symid place_of(const struct symbols *s, uint64_t *addr, const struct block_rules *rules)
{
	symid id = symbols_find(s, *addr);
	if (rules->recorded || id == NONE || s->at[id].addr == *addr || s->at[id].end - *addr > 5)
		return id;
	size_t size = hook_at(s, id, *addr);
	if (!size || *addr + size != s->at[id].end)
		return id;
	symid next = symbols_find_start(s, *addr + size);
	if (next == NONE || s->at[next].is_function)
		return id;
	*addr += size;
	return next;
}

/* Counted blocks, and the blocks without a count, which were executed 0 times. */
static struct block_count *list_blocks(const struct profile *p, const struct flow *f, size_t *n)
{
	struct block_count *at =
		xrealloc(NULL, p->n_blocks + (f ? f->n_pieces : 0) + 1, sizeof(*at));

	*n = 0;
	for (size_t i = 0; i < p->n_blocks; i++)
		at[(*n)++] = (struct block_count){ p->blocks[i].addr, p->blocks[i].count };
	for (size_t i = 0; f && i < f->n_pieces; i++)
		if (f->pieces[i].hook && !f->pieces[i].count)
			at[(*n)++] = (struct block_count){ f->pieces[i].hook, 0 };
	return at;
}

/* Groups blocks by place, keeping reading order within a place (a counting sort). */
static void group(struct blocks *b, const struct profile *p, const struct symbols *s,
		  const struct block_rules *rules)
{
	size_t n;
	struct block_count *all = list_blocks(p, b->flow, &n);
	symid *place = xrealloc(NULL, n + 1, sizeof(*place));
	uint32_t *next = xalloc((s->n + 2) * sizeof(*next));

	for (size_t i = 0; i < n; i++) {
		place[i] = place_of(s, &all[i].addr, rules);
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
			b->at[next[place[i] + 1]++] = all[i];
	b->first = next; /* each start has moved to the end of its group, which is the next group's
			    start */
	free(place);
	free(all);
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

	if (!rules->recorded)
		b->flow = flow_new(p, s);
	group(b, p, s, rules);
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
	flow_free(b->flow);
	free(b->at);
	free(b->first);
	free(b);
}
