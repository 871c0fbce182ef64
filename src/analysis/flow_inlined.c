/* flow_inlined.c - finds inlined functions: all functions that are inlined at the outer address are
 * also inlined around the inner one. */
#include "analysis/flow_inlined.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"

struct inlined_at { /* addresses in one object, and the functions inlined there */
	uint64_t base;
	uint64_t *addrs; /* ascending */
	size_t n_addrs;
	struct object_inline *list; /* by address, innermost first */
	size_t n;
};

struct inlined_run { /* range in list[] */
	const struct object_inline *at;
	size_t n;
};

static bool is_of(const struct symbols_part *part, const struct inlined_pair *pair)
{
	return pair->inner >= part->low && pair->inner < part->high && pair->outer >= part->low &&
	       pair->outer < part->high;
}

static struct inlined_run run_at(const struct inlined_at *x, uint64_t flat)
{
	size_t address = COUNT_WHILE(x->n_addrs, i, x->addrs[i] < flat - x->base);
	size_t from = COUNT_WHILE(x->n, i, x->list[i].address < address), end = from;
	while (end < x->n && x->list[end].address == address)
		end++;
	return (struct inlined_run){ x->list + from, end - from };
}

static const char *inlined_into(struct inlined_run inner, struct inlined_run outer)
{
	if (inner.n <= outer.n)
		return NULL;
	const struct object_inline *rest = inner.at + (inner.n - outer.n);
	for (size_t i = 0; i < outer.n; i++)
		if (rest[i].depth != outer.at[i].depth || strcmp(rest[i].name, outer.at[i].name))
			return NULL;
	return rest[-1].name;
}

static void find_in_part(const struct symbols_part *part, struct inlined_pair *pairs, size_t n)
{
	struct inlined_at x = { .base = part->base,
				.addrs = xrealloc(NULL, 2 * n + 1, sizeof(*x.addrs)) };

	for (size_t i = 0; i < n; i++) {
		if (!is_of(part, &pairs[i]))
			continue;
		x.addrs[x.n_addrs++] = pairs[i].inner - part->base;
		x.addrs[x.n_addrs++] = pairs[i].outer - part->base;
	}
	x.n_addrs = sort_unique(x.addrs, x.n_addrs);
	if (x.n_addrs)
		x.list = object_inlines(part->object, x.addrs, x.n_addrs, &x.n);
	for (size_t i = 0; i < n; i++)
		if (is_of(part, &pairs[i]))
			pairs[i].function = inlined_into(run_at(&x, pairs[i].inner),
							 run_at(&x, pairs[i].outer));
	free(x.list);
	free(x.addrs);
}

void flow_find_inlined(const struct symbols *s, struct inlined_pair *pairs, size_t n)
{
	for (size_t i = 0; n && i < s->n_parts; i++)
		if (s->parts[i].object)
			find_in_part(&s->parts[i], pairs, n);
}
