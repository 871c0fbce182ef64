/* pairs.c - a hash table of indices: the pairs stay in their own array. */
#include "base/pairs.h"

#include <stdlib.h>

struct pairs_slot {
	uint32_t tag;   /* its hash: says where the slot is, or should be */
	uint32_t index; /* of the record, + 1; 0: empty */
};

static uint64_t hash(uint32_t a, uint32_t b)
{
	uint64_t key = ((uint64_t)a << 32 | b) * 0xd6e8feb86659fd93u;
	key ^= key >> 32;
	key *= 0xd6e8feb86659fd93u;
	return key ^ key >> 32;
}

/* Of up to 2^32 slots, which the tag alone tells: so records need not be looked at to grow. */
static size_t place(const struct pairs *x, uint32_t tag)
{
	return (size_t)(((uint64_t)tag * x->cap) >> 32);
}

static size_t following(const struct pairs *x, size_t i) { return i + 1 < x->cap ? i + 1 : 0; }

static void grow(struct pairs *x)
{
	struct pairs old = *x;

	x->cap = old.cap ? 2 * old.cap : 64;
	x->slots = xalloc(x->cap * sizeof(*x->slots));
	for (size_t i = 0; i < old.cap; i++) {
		if (!old.slots[i].index)
			continue;
		size_t to = place(x, old.slots[i].tag);
		while (x->slots[to].index)
			to = following(x, to);
		x->slots[to] = old.slots[i];
	}
	free(old.slots);
}

uint32_t pairs_add(struct pairs *x, const void *at, size_t size, uint32_t a, uint32_t b,
		   uint32_t next)
{
	if (4 * x->n >= 3 * x->cap)
		grow(x);
	uint32_t tag = (uint32_t)hash(a, b);
	size_t i = place(x, tag);
	for (; x->slots[i].index; i = following(x, i)) {
		if (x->slots[i].tag != tag)
			continue;
		uint32_t known = x->slots[i].index - 1;
		const uint32_t *r =
			(const uint32_t *)(const void *)((const char *)at + known * size);
		if (r[0] == a && r[1] == b)
			return known;
	}
	x->slots[i] = (struct pairs_slot){ tag, next + 1 };
	x->n++;
	return next;
}

void pairs_free(struct pairs *x)
{
	free(x->slots);
	*x = (struct pairs){ 0 };
}
