#include "base/pairs.h"

#include <stdlib.h>
#include <string.h>

static size_t hash(uint32_t a, uint32_t b)
{
	uint64_t key = ((uint64_t)a << 32 | b) * 0xd6e8feb86659fd93u;
	key ^= key >> 32;
	key *= 0xd6e8feb86659fd93u;
	return key ^ key >> 32;
}

static const uint32_t *record(const void *at, size_t size, uint32_t i)
{
	return (const uint32_t *)(const void *)((const char *)at + i * size);
}

static void grow(struct pairs *x, const void *at, size_t size)
{
	struct pairs old = *x;

	x->cap = old.cap ? 2 * old.cap : 64;
	x->slots = xrealloc(NULL, x->cap, sizeof(*x->slots));
	memset(x->slots, 0xff, x->cap * sizeof(*x->slots));
	for (size_t i = 0; i < old.cap; i++) {
		if (old.slots[i] == NONE)
			continue;
		const uint32_t *r = record(at, size, old.slots[i]);
		size_t to = hash(r[0], r[1]) & (x->cap - 1);
		while (x->slots[to] != NONE)
			to = (to + 1) & (x->cap - 1);
		x->slots[to] = old.slots[i];
	}
	free(old.slots);
}

uint32_t pairs_add(struct pairs *x, const void *at, size_t size, uint32_t a, uint32_t b,
		   uint32_t next)
{
	if (2 * x->n >= x->cap)
		grow(x, at, size);
	size_t i = hash(a, b) & (x->cap - 1);
	for (; x->slots[i] != NONE; i = (i + 1) & (x->cap - 1)) {
		const uint32_t *r = record(at, size, x->slots[i]);
		if (r[0] == a && r[1] == b)
			return x->slots[i];
	}
	x->slots[i] = next;
	x->n++;
	return next;
}

void pairs_free(struct pairs *x)
{
	free(x->slots);
	*x = (struct pairs){ 0 };
}
