/* pairs.c - a hash table with linear probing. */
#include "base/pairs.h"

#include <stdlib.h>

struct pairs_slot {
	uint32_t a, b;
	uint32_t id; /* + 1; 0: empty */
};

static uint64_t hash(uint32_t a, uint32_t b)
{
	uint64_t key = ((uint64_t)a << 32 | b) * 0xd6e8feb86659fd93u;
	key ^= key >> 32;
	key *= 0xd6e8feb86659fd93u;
	return key ^ key >> 32;
}

/* The slot of a pair, of up to 2^32, in the order of the hash: so a larger table is filled from its
 * begin to its end. */
static size_t place(const struct pairs *x, uint32_t a, uint32_t b)
{
	return (size_t)(((hash(a, b) & UINT32_MAX) * x->cap) >> 32);
}

static size_t following(const struct pairs *x, size_t i) { return i + 1 < x->cap ? i + 1 : 0; }

/* Small tables double, which costs the least; large ones grow by half, which takes less memory. */
static void grow(struct pairs *x)
{
	enum { LARGE = 1 << 20 };
	struct pairs old = *x;
	size_t cap = !old.cap ? 64 : old.cap < LARGE ? 2 * old.cap : old.cap + old.cap / 2;

	x->slots = xalloc(cap * sizeof(*x->slots)); /* if this fails, the table stays as it was */
	x->cap = cap;
	for (size_t i = 0; i < old.cap; i++) {
		if (!old.slots[i].id)
			continue;
		size_t to = place(x, old.slots[i].a, old.slots[i].b);
		while (x->slots[to].id)
			to = following(x, to);
		x->slots[to] = old.slots[i];
	}
	free(old.slots);
}

uint32_t pairs_add(struct pairs *x, uint32_t a, uint32_t b, uint32_t next)
{
	if (4 * x->n >= 3 * x->cap)
		grow(x);
	size_t i = place(x, a, b);
	for (; x->slots[i].id; i = following(x, i))
		if (x->slots[i].a == a && x->slots[i].b == b)
			return x->slots[i].id - 1;
	x->slots[i] = (struct pairs_slot){ a, b, next + 1 };
	x->n++;
	return next;
}

void pairs_prefetch(const struct pairs *x, uint32_t a, uint32_t b)
{
	if (x->cap)
		__builtin_prefetch(&x->slots[place(x, a, b)], 1);
}

void pairs_free(struct pairs *x)
{
	free(x->slots);
	*x = (struct pairs){ 0 };
}
