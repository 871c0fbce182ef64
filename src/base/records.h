/* records.h - a hash index of distinct records in the owner's array.
 *
 * For records whose keys are wider than map64's; for pairs of ids there is pairs.h. It takes 8 to
 * 16 bytes per record. Inline, so that hashing and comparing need no calls. */
#ifndef BASE_RECORDS_H
#define BASE_RECORDS_H

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

struct records {
	uint32_t *slots; /* index of a record, or NONE; open addressing */
	size_t n, cap;
};

struct records_kind { /* the owner's type of record */
	size_t size;  /* bytes of one */
	uint64_t (*hash)(const void *record);
	bool (*same)(const void *a, const void *b);
};

/* A step of a hash over several fields. */
static inline uint64_t records_mix(uint64_t hash, uint64_t field)
{
	hash = (hash ^ field) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

static inline const void *records_get(const struct records_kind *kind, const void *at, uint32_t i)
{
	return (const char *)at + i * kind->size;
}

static inline void records_put(struct records *x, uint64_t hash, uint32_t id)
{
	size_t i = (size_t)hash & (x->cap - 1);
	while (x->slots[i] != NONE)
		i = (i + 1) & (x->cap - 1);
	x->slots[i] = id;
}

/* Makes room for `more` records. */
static inline void records_reserve(struct records *x, const struct records_kind *kind,
				   const void *at, size_t more)
{
	if (2 * (x->n + more) <= x->cap)
		return;
	uint32_t *old = x->slots;
	size_t n = x->cap, cap = n ? n : 64;
	while (cap < 2 * (x->n + more))
		cap *= 2;
	x->slots = (uint32_t *)xrealloc(NULL, cap, sizeof(*x->slots));
	x->cap = cap; /* if there is memory */
	memset(x->slots, 0xff, x->cap * sizeof(*x->slots));
	for (size_t i = 0; i < n; i++)
		if (old[i] != NONE)
			records_put(x, kind->hash(records_get(kind, at, old[i])), old[i]);
	free(old);
}

/* The index of the record in at[] that equals `key`. If there is none, `next` becomes its index and
 * is returned: the caller must put the record there before the next call. */
static inline uint32_t records_add(struct records *x, const struct records_kind *kind,
				   const void *at, const void *key, uint32_t next)
{
	records_reserve(x, kind, at, 1);
	for (size_t i = (size_t)kind->hash(key) & (x->cap - 1);; i = (i + 1) & (x->cap - 1)) {
		if (x->slots[i] == NONE) {
			x->slots[i] = next;
			x->n++;
			return next;
		}
		if (kind->same(records_get(kind, at, x->slots[i]), key))
			return x->slots[i];
	}
}

static inline void records_free(struct records *x) /* leaves it empty and usable */
{
	free(x->slots);
	*x = (struct records){ 0 };
}

#endif
