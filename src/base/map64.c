/* map64.c - open addressing with linear probing; the table doubles when it fills. */
#include "base/map64.h"

#include <stdlib.h>
#include <string.h>

struct map64_slot {
	uint64_t key;
	uint32_t value;
	bool used;
};

static size_t hash(uint64_t key)
{
	key ^= key >> 32;
	key *= 0xd6e8feb86659fd93u;
	key ^= key >> 32;
	key *= 0xd6e8feb86659fd93u;
	return key ^ key >> 32;
}

/* The slot that holds key, or the free one where it belongs. cap is not 0. */
static struct map64_slot *slot(const struct map64 *m, uint64_t key)
{
	size_t i = hash(key) & (m->cap - 1);
	while (m->slots[i].used && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

static void grow_to(struct map64 *m, size_t cap)
{
	struct map64 old = *m;

	m->slots = xalloc(cap * sizeof(*m->slots)); /* if this fails, the map stays as it was */
	m->cap = cap;
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].used)
			*slot(m, old.slots[i].key) = old.slots[i];
	free(old.slots);
}

static bool is_full(size_t n, size_t cap) { return n * 4 >= cap * 3; }

static void grow(struct map64 *m) { grow_to(m, m->cap ? m->cap * 2 : 64); }

void map64_reserve(struct map64 *m, size_t n)
{
	size_t cap = m->cap ? m->cap : 64;

	while (is_full(m->n + n, cap))
		cap *= 2;
	if (cap > m->cap)
		grow_to(m, cap);
}

void map64_prefetch(const struct map64 *m, uint64_t key)
{
	if (m->cap)
		prefetch_line(&m->slots[hash(key) & (m->cap - 1)]);
}

uint32_t map64_get(const struct map64 *m, uint64_t key)
{
	if (!m->cap)
		return NONE;
	const struct map64_slot *s = slot(m, key);
	return s->used ? s->value : NONE;
}

uint32_t *map64_at(struct map64 *m, uint64_t key)
{
	if (is_full(m->n, m->cap))
		grow(m);
	struct map64_slot *s = slot(m, key);
	if (!s->used) {
		*s = (struct map64_slot){ .key = key, .value = NONE, .used = true };
		m->n++;
	}
	return &s->value;
}

/* Entries that follow without a gap move up to where a search finds them. */
void map64_remove(struct map64 *m, uint64_t key)
{
	if (!m->cap || !slot(m, key)->used)
		return;
	size_t mask = m->cap - 1, gap = (size_t)(slot(m, key) - m->slots);
	for (size_t i = (gap + 1) & mask; m->slots[i].used; i = (i + 1) & mask) {
		size_t home = hash(m->slots[i].key) & mask;
		if (((i - home) & mask) < ((i - gap) & mask))
			continue; /* it belongs behind the gap */
		m->slots[gap] = m->slots[i];
		gap = i;
	}
	m->slots[gap].used = false;
	m->n--;
}

void map64_free(struct map64 *m)
{
	free(m->slots);
	*m = (struct map64){ 0 };
}
