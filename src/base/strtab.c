/* strtab.c - a hash table over strings that lie one behind the other. */
#include "base/strtab.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"

struct strtab {
	struct arena arena;
	VEC(const char *) at;
	uint32_t *slots; /* ids, NONE if free; a power of two, at most 3/4 used */
	size_t cap;
};

static uint64_t hash(const char *s, size_t n)
{
	uint64_t h = 0x9e3779b97f4a7c15u ^ n;
	for (; n >= 8; s += 8, n -= 8) {
		uint64_t word;
		memcpy(&word, s, 8);
		h = (h ^ word) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	for (; n; s++, n--)
		h = (h ^ (uint8_t)*s) * 0x100000001b3u;
	return h ^ h >> 29;
}

static void place(struct strtab *t, strid id)
{
	const char *s = t->at.at[id];
	size_t i = hash(s, strlen(s)) & (t->cap - 1);
	while (t->slots[i] != NONE)
		i = (i + 1) & (t->cap - 1);
	t->slots[i] = id;
}

static void grow(struct strtab *t, size_t cap)
{
	/* If memory runs out, the old slots stay: the owner of the table still frees it. */
	strid *slots = xrealloc(NULL, cap, sizeof(*t->slots));
	free(t->slots);
	t->slots = slots;
	t->cap = cap;
	memset(t->slots, 0xff, cap * sizeof(*t->slots));
	for (size_t i = 0; i < t->at.n; i++)
		place(t, (strid)i);
}

struct strtab *strtab_new(void)
{
	struct strtab *t = xalloc(sizeof(*t));
	grow(t, 64);
	strtab_add(t, "");
	return t;
}

strid strtab_addn(struct strtab *t, const char *s, size_t n)
{
	size_t i = hash(s, n) & (t->cap - 1);
	for (; t->slots[i] != NONE; i = (i + 1) & (t->cap - 1)) {
		const char *have = t->at.at[t->slots[i]];
		if (!strncmp(have, s, n) && !have[n])
			return t->slots[i];
	}
	char *copy = arena_alloc_bytes(&t->arena, n + 1);
	memcpy(copy, s, n);
	copy[n] = '\0';

	strid id = (strid)t->at.n;
	vec_push(&t->at, copy);
	t->slots[i] = id;
	if (t->at.n * 4 > t->cap * 3)
		grow(t, t->cap * 2);
	return id;
}

strid strtab_add(struct strtab *t, const char *s) { return strtab_addn(t, s, strlen(s)); }
const char *strtab_get(const struct strtab *t, strid id) { return t->at.at[id]; }
size_t strtab_count(const struct strtab *t) { return t->at.n; }

void strtab_free(struct strtab *t)
{
	if (!t)
		return;
	arena_release(&t->arena);
	vec_free(&t->at);
	free(t->slots);
	free(t);
}
