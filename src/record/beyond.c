/* beyond.c - hashes of the outer end of stack copies, each with the callers seen there. */
#include "record/beyond.h"

#include <stdlib.h>

#include "base/map64.h"
#include "base/vec.h"

enum { PLACES_MAX = 1 << 16, APART_NS = 1000000 };

struct beyond_place {
	uint64_t callers; /* a hash of the usual callers */
	uint64_t read_ns; /* the last reading that was counted */
	uint32_t usual, others;
};

struct beyond {
	struct map64 ids; /* place and pc -> index */
	VEC(struct beyond_place) places;
};

struct beyond *beyond_new(void) { return xalloc(sizeof(struct beyond)); }

void beyond_free(struct beyond *b)
{
	if (!b)
		return;
	map64_free(&b->ids);
	vec_free(&b->places);
	free(b);
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

static uint64_t hash(const uint64_t *at, size_t n)
{
	uint64_t h = n;
	for (size_t i = 0; i < n; i++)
		h = mix(h, at[i]);
	return h;
}

bool beyond_seen(struct beyond *b, uint64_t place, uint64_t pc, const uint64_t *callers, size_t n,
		 uint64_t now_ns)
{
	uint64_t seen = hash(callers, n);
	if (b->places.n == PLACES_MAX)
		return false;
	uint32_t *id = map64_at(&b->ids, mix(place, pc));
	if (*id == NONE) {
		*id = (uint32_t)b->places.n;
		vec_push(&b->places, ((struct beyond_place){ .callers = seen }));
	}
	struct beyond_place *p = &b->places.at[*id];
	if (now_ns - p->read_ns >= APART_NS) {
		*(p->callers == seen ? &p->usual : &p->others) += 1;
		p->read_ns = now_ns;
	}
	if (p->others > p->usual)
		*p = (struct beyond_place){ .callers = seen, .read_ns = now_ns };
	return p->callers == seen && p->usual >= BEYOND_READINGS &&
	       p->others < p->usual / BEYOND_USUAL;
}
