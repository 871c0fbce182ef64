/* kin_modules.c - finds the file that a run-time address belonged to. */
#include <stdlib.h>

#include "base/search.h"
#include "formats/kin/kin_read.h"

/* Limit of modules that are passed by, because they do not hold the address, before the search
 * ends. In real programs they are few: libraries of different times that overlap. */
enum { MAX_STEPS = 512 };

static int by_start(const void *a, const void *b)
{
	const struct kinfile_module *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->mapped_at != y->mapped_at)
		return x->mapped_at < y->mapped_at ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void sort(struct kinfile_modules *m)
{
	if (!m->sorted && m->at.n)
		qsort(m->at.at, m->at.n, sizeof(*m->at.at), by_start);
	m->sorted = true;
}

static bool is_up_to(const struct kinfile_module *m, uint64_t start, uint32_t mapped_at)
{
	return m->start < start || (m->start == start && m->mapped_at <= mapped_at);
}

/* The number of leading modules, of n, with a key that is not above (start, mapped_at). */
static size_t count_up_to(const struct kinfile_modules *m, size_t n, uint64_t start,
			  uint32_t mapped_at)
{
	return COUNT_WHILE(n, i, is_up_to(&m->at.at[i], start, mapped_at));
}

/* The module that was mapped at addr, or NULL. */
static const struct kinfile_module *find(struct kinfile_modules *m, uint64_t addr, uint32_t epoch)
{
	const struct kinfile_module *last = NULL;

	sort(m);
	size_t n = count_up_to(m, m->at.n, addr, UINT32_MAX);
	for (int steps = 0; n && steps < MAX_STEPS; steps++) {
		uint64_t start = m->at.at[n - 1].start;
		n = count_up_to(m, n, start, epoch);
		if (!n)
			break;
		const struct kinfile_module *x = &m->at.at[n - 1];
		if (x->start != start)
			continue; /* all modules that start there were mapped later */
		if (addr < x->end) {
			if (epoch < x->unmapped_at || x->unmapped_at == UINT32_MAX)
				return x;
			if (!last || x->mapped_at > last->mapped_at)
				last = x;
		}
		n--;
	}
	return epoch == (uint32_t)KIN_NOW ? last : NULL;
}

objid kinfile_module_place(struct kinfile_modules *m, uint64_t *addr, uint32_t epoch)
{
	const struct kinfile_module *x = find(m, *addr, epoch);

	if (!x)
		return 0;
	*addr -= x->bias;
	return x->object;
}
