/* flow_loops.c - finds loops among edges, and how often each goes round. The rounds of a loop are
 * the count of its least frequent edge. They are subtracted from all its edges before the next loop
 * is sought, as in gcov. */
#include "analysis/flow_loops.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/capped.h"
#include "base/search.h"

enum { MOST_LOOPS = 4096 }; /* limit for the edges of one line */

struct loop_search {
	const struct flow_edge *all;
	const uint32_t *edges; /* indices in all[], by `from` */
	uint32_t n;
	uint64_t *left; /* [n]: count that is not yet part of a loop */
	uint32_t *path; /* [n]: indices in edges[] */
	uint8_t *done;  /* [n]: no loop is reached through this edge */
};

static uint32_t first_from(const struct loop_search *l, uint32_t block)
{
	return COUNT_WHILE(l->n, i, l->all[l->edges[i]].from < block);
}

/* The next edge that starts where edge `k` ends and may be part of a loop, or NONE. */
static uint32_t next_edge(const struct loop_search *l, uint32_t k)
{
	uint32_t block = l->all[l->edges[k]].to;
	for (uint32_t i = first_from(l, block); i < l->n && l->all[l->edges[i]].from == block; i++)
		if (l->left[i] && !l->done[i])
			return i;
	return NONE;
}

/* Finds a loop reached from edge `start`: its edges are path[*from .. *end). False: there is
 * none. */
static bool find_loop(struct loop_search *l, uint32_t start, uint32_t *from, uint32_t *end)
{
	uint32_t depth = 0;

	l->path[depth++] = start;
	while (depth) {
		uint32_t block = l->all[l->edges[l->path[depth - 1]]].to;
		for (uint32_t i = 0; i < depth; i++) {
			if (l->all[l->edges[l->path[i]]].from != block)
				continue;
			*from = i;
			*end = depth;
			return true;
		}
		uint32_t next = next_edge(l, l->path[depth - 1]);
		if (next == NONE)
			l->done[l->path[--depth]] = true;
		else
			l->path[depth++] = next;
	}
	return false;
}

/* Subtracts the loop's rounds from its edges, and returns them. */
static uint64_t take_loop(struct loop_search *l, uint32_t from, uint32_t end)
{
	uint64_t least = UINT64_MAX;
	for (uint32_t i = from; i < end; i++)
		least = l->left[l->path[i]] < least ? l->left[l->path[i]] : least;
	for (uint32_t i = from; i < end; i++)
		l->left[l->path[i]] -= least;
	return least;
}

static uint64_t take_loops(struct loop_search *l, unsigned *found)
{
	uint64_t rounds = 0;
	for (uint32_t i = 0, from, end; i < l->n; i++)
		while (l->left[i] && !l->done[i] && *found < MOST_LOOPS &&
		       find_loop(l, i, &from, &end)) {
			++*found;
			rounds = capped_sum(rounds, take_loop(l, from, end));
		}
	return rounds;
}

bool flow_count_loops(const struct flow_edge *all, const uint32_t *edges, uint32_t n, uint64_t *ret)
{
	struct loop_search l = { .all = all, .edges = edges, .n = n };
	bool is_known = true;
	unsigned found = 0;

	*ret = 0;
	if (!n)
		return true;
	if (n > MOST_LOOPS)
		return false;
	l.left = xalloc(n * sizeof(*l.left));
	l.path = xalloc((n + 1) * sizeof(*l.path));
	l.done = xalloc(n);
	for (uint32_t i = 0; i < n; i++)
		is_known &= all[edges[i]].is_known;
	for (uint32_t i = 0; i < n; i++)
		l.left[i] = is_known ? all[edges[i]].count : 1;
	*ret = take_loops(&l, &found);
	free(l.left);
	free(l.path);
	free(l.done);
	return is_known ? found < MOST_LOOPS : !found;
}
