/* roots.c - collects the outermost return addresses of each process. */
#include "record/roots.h"

#include <stdlib.h>

#include "base/map64.h"

enum {
	OUTERMOST = 3, /* _start, __libc_start_main and the caller of main; clone3, start_thread and
			  the caller of the thread's function */
	TRIES = 16,    /* a thread's first tries, which are never skipped */
	THREADS_MAX = 1 << 14, /* with counted tries; beyond it counts restart */
};

struct roots {
	struct map64 pcs;   /* the set of return addresses */
	struct map64 tries; /* number of tries by thread */
};

struct roots *roots_new(void) { return xalloc(sizeof(struct roots)); }

void roots_free(struct roots *r)
{
	if (!r)
		return;
	map64_free(&r->pcs);
	map64_free(&r->tries);
	free(r);
}

bool roots_want(struct roots *r, uint32_t tid)
{
	if (r->tries.n >= THREADS_MAX)
		map64_free(&r->tries);
	uint32_t *n = map64_at(&r->tries, tid);
	*n = *n == NONE ? 0 : *n;
	(*n)++;
	return *n <= TRIES || !(*n & (*n - 1));
}

void roots_learn(struct roots *r, const uint64_t *pcs, size_t n)
{
	for (size_t i = n > OUTERMOST ? n - OUTERMOST : 1; i < n; i++)
		*map64_at(&r->pcs, pcs[i]) = 1;
}

bool roots_has(const struct roots *r, uint64_t pc) { return map64_get(&r->pcs, pc) != NONE; }
