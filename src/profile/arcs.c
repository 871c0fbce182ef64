/* arcs.c - a hash table of arcs; files in order are appended without it. */
#include "profile/arcs.h"

#include <string.h>

/* Arcs that a file has and the ones before had not, or the reverse, seldom come in longer series.
 */
enum { LOOK_AHEAD = 2 };

static bool same(const struct arc *a, const struct arc *b)
{
	return a->from == b->from && a->to == b->to && a->from_object == b->from_object &&
	       a->to_object == b->to_object;
}

static void sum(struct arcs *a, struct arc *into, uint64_t count)
{
	if (__builtin_add_overflow(into->count, count, &into->count)) {
		into->count = UINT64_MAX;
		a->saturated = true;
	}
}

static size_t hash(const struct arc *arc)
{
	uint64_t h = arc->from * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 32 ^ arc->to) * 0xd6e8feb86659fd93u;
	h ^= h >> 32 ^ ((uint64_t)arc->from_object << 32 | arc->to_object);
	h *= 0xd6e8feb86659fd93u;
	return h ^ h >> 32;
}

/* The slot of an equal settled arc, or the free one where it would be noted. */
static uint32_t *slot(const struct arcs *a, const struct arc *arc)
{
	size_t i = hash(arc) & (a->cap - 1);

	while (a->slots[i] != NONE && !same(&a->at.at[a->slots[i]], arc))
		i = (i + 1) & (a->cap - 1);
	return &a->slots[i];
}

/* Room for n settled arcs, with those there are now. */
static void build_index(struct arcs *a, size_t n)
{
	size_t cap = 64;

	while (cap < n * 2)
		cap *= 2;
	free(TAKE(a->slots));
	a->slots = xrealloc(NULL, cap, sizeof(*a->slots));
	memset(a->slots, 0xff, cap * sizeof(*a->slots));
	a->cap = cap;
	for (size_t i = 0; i < a->settled; i++)
		*slot(a, &a->at.at[i]) = (uint32_t)i;
}

static bool same_site(const struct arc *a, const struct arc *b)
{
	return a->from == b->from && a->from_object == b->from_object;
}

/* ---- the first file ---- */

enum { SHORT_RUN = 64 };

/* As long as call sites ascend, equal arcs can only be of one site: each is compared with those of
 * its site before it, while these are still in a core's cache. */
static void append_in_order(struct arcs *a, const struct arc *arc)
{
	struct arc *all = a->at.at;
	size_t n = a->at.n;

	if (n && same_site(&all[n - 1], arc)) {
		for (size_t i = a->run; i < n; i++)
			if (same(&all[i], arc)) {
				sum(a, &all[i], arc->count);
				return;
			}
		a->unordered = n - a->run >= SHORT_RUN;
	} else {
		a->unordered = n && (arc->from_object != all[n - 1].from_object ||
				     arc->from < all[n - 1].from);
		a->run = n;
	}
	all[a->at.n++] = *arc;
}

static void append(struct arcs *a, const struct arc *arcs, size_t n)
{
	size_t i = 0;

	vec_reserve(&a->at, n);
	while (i < n && !a->unordered) /* few arcs share a site: so do runtimes write them */
		append_in_order(a, &arcs[i++]);
	if (i < n)
		memcpy(a->at.at + a->at.n, arcs + i, (n - i) * sizeof(*arcs));
	a->at.n += n - i;
}

static void settle(struct arcs *a)
{
	struct arc *all = a->at.at;
	size_t n = a->at.n;

	if (a->settled == n)
		return;
	a->ascend = !a->unordered;
	if (a->ascend) {
		a->settled = n;
		return;
	}
	build_index(a, n);
	for (size_t i = 0; i < n; i++) {
		uint32_t *s = slot(a, &all[i]);
		if (*s != NONE) {
			sum(a, &all[*s], all[i].count);
			continue;
		}
		*s = (uint32_t)a->settled;
		all[a->settled++] = all[i];
	}
	a->at.n = a->settled;
}

static void add_new(struct arcs *a, uint32_t *s, const struct arc *arc)
{
	vec_push(&a->at, *arc);
	a->ascend = false;
	*s = (uint32_t)a->settled++;
	if (a->settled * 2 > a->cap)
		build_index(a, a->settled);
}

static void find_and_add(struct arcs *a, const struct arc *arc)
{
	if (!a->slots)
		build_index(a, a->settled);

	uint32_t *s = slot(a, arc);
	if (*s == NONE) {
		add_new(a, s, arc);
		return;
	}
	sum(a, &a->at.at[*s], arc->count);
	a->other = a->cursor;
	a->cursor = *s + 1;
}

/* Whether it is one of those that follow `cursor`, which is then moved behind it. */
static inline bool add_near(struct arcs *a, const struct arc *arc, size_t *cursor)
{
	size_t end = min_u64(*cursor + LOOK_AHEAD, a->settled);

	for (size_t i = *cursor; i < end; i++) {
		if (same(&a->at.at[i], arc)) {
			sum(a, &a->at.at[i], arc->count);
			*cursor = i + 1;
			return true;
		}
	}
	return false;
}

void arcs_expect(struct arcs *a, size_t n)
{
	enum { MOST = 1 << 25 }; /* 1 GB that may never be used */
	if (!a->at.n && n <= MOST)
		vec_reserve(&a->at, n);
}

void arcs_add(struct arcs *a, const struct arc *arcs, size_t n)
{
	if (!a->settled) { /* the first file */
		append(a, arcs, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (!add_near(a, &arcs[i], &a->cursor) && !add_near(a, &arcs[i], &a->other))
			find_and_add(a, &arcs[i]);
}

void arcs_end_file(struct arcs *a)
{
	settle(a);
	a->cursor = a->other = 0;
}

void arcs_drop_index(struct arcs *a) { free(TAKE(a->slots)); }

void arcs_free(struct arcs *a)
{
	vec_free(&a->at);
	arcs_drop_index(a);
	*a = (struct arcs){ 0 };
}
