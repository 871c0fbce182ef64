/* arcs.c - a set of arcs with a hash table; arcs of files in order are appended without it. */
#include "profile/arcs.h"

#include <string.h>

/* Where two files list different arcs, the difference is seldom longer than this. */
enum { LOOK_AHEAD = 2 };

/* ---- near arcs and any arcs ---- */

struct arc_list arcs_list(const struct arcs *a)
{
	return (struct arc_list){ .near = a->is_far ? NULL : a->near.at,
				  .any = a->any.at,
				  .base = a->base,
				  .object = a->object };
}

static struct arc get(const struct arcs *a, size_t i)
{
	struct arc_list all = arcs_list(a);
	return arc_at(&all, i);
}

static bool are_near(const struct arcs *a, const struct arc *arcs, size_t n)
{
	uint64_t beyond = 0;
	objid other = 0;

	for (size_t i = 0; i < n; i++) {
		beyond |= (arcs[i].from - a->base) | (arcs[i].to - a->base);
		other |= (arcs[i].from_object ^ a->object) | (arcs[i].to_object ^ a->object);
	}
	return beyond <= UINT32_MAX && !other;
}

static void reserve(struct arcs *a, size_t extra)
{
	a->near.n = a->any.n = a->n;
	if (a->is_far)
		vec_reserve(&a->any, extra);
	else
		vec_reserve(&a->near, extra);
}

static void make_far(struct arcs *a)
{
	VEC(struct arc) any = { 0 };

	vec_reserve(&any, a->n + 1);
	for (size_t i = 0; i < a->n; i++)
		any.at[i] = get(a, i);
	a->any.at = any.at;
	a->any.cap = any.cap;
	a->is_far = true;
	vec_free(&a->near);
}

/* Switches to full arcs if the new arcs cannot be stored as near ones. */
static void prepare(struct arcs *a, const struct arc *arcs, size_t n)
{
	const uint64_t half = UINT64_C(1) << 31;

	if (!a->n && n) {
		a->base = arcs->from < half ? 0 : arcs->from - half;
		a->object = arcs->from_object;
	}
	if (!a->is_far && !are_near(a, arcs, n))
		make_far(a);
}

/* Stores an arc at index i, for which there is memory. */
static void put(struct arcs *a, size_t i, const struct arc *arc)
{
	if (a->is_far)
		a->any.at[i] = *arc;
	else
		a->near.at[i] = (struct near_arc){ (uint32_t)(arc->from - a->base),
						   (uint32_t)(arc->to - a->base), arc->count };
}

/* prepare() must have been called for the arc. */
static inline bool is_same(const struct arcs *a, size_t i, const struct arc *arc)
{
	if (!a->is_far)
		return a->near.at[i].from == (uint32_t)(arc->from - a->base) &&
		       a->near.at[i].to == (uint32_t)(arc->to - a->base);
	const struct arc *there = &a->any.at[i];
	return there->from == arc->from && there->to == arc->to &&
	       there->from_object == arc->from_object && there->to_object == arc->to_object;
}

static inline void sum(struct arcs *a, size_t i, uint64_t count)
{
	uint64_t *into = a->is_far ? &a->any.at[i].count : &a->near.at[i].count;

	if (__builtin_add_overflow(*into, count, into)) {
		*into = UINT64_MAX;
		a->saturated = true;
	}
}

/* ---- the hash table ---- */

static size_t hash(const struct arc *arc)
{
	uint64_t h = arc->from * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 32 ^ arc->to) * 0xd6e8feb86659fd93u;
	h ^= h >> 32 ^ ((uint64_t)arc->from_object << 32 | arc->to_object);
	h *= 0xd6e8feb86659fd93u;
	return h ^ h >> 32;
}

/* The slot of an equal settled arc, or the free slot for this one. */
static uint32_t *slot(const struct arcs *a, const struct arc *arc)
{
	size_t i = hash(arc) & (a->cap - 1);

	while (a->slots[i] != NONE && !is_same(a, a->slots[i], arc))
		i = (i + 1) & (a->cap - 1);
	return &a->slots[i];
}

/* Makes a table with room for n settled arcs, and adds those there are now. */
static void build_index(struct arcs *a, size_t n)
{
	size_t cap = 64;

	while (cap < n * 2)
		cap *= 2;
	free(TAKE(a->slots));
	a->slots = xrealloc(NULL, cap, sizeof(*a->slots));
	memset(a->slots, 0xff, cap * sizeof(*a->slots));
	a->cap = cap;
	for (size_t i = 0; i < a->settled; i++) {
		struct arc arc = get(a, i);
		*slot(a, &arc) = (uint32_t)i;
	}
}

/* ---- the first file ---- */

enum { SHORT_RUN = 64 };

/* Searches the arcs of the last call site for a callee. Returns its index; a->n: there is none. */
static inline size_t find_callee(const struct arcs *a, const struct arc *arc)
{
	const struct near_arc *near = a->near.at;
	const struct arc *any = a->any.at;
	uint32_t to = (uint32_t)(arc->to - a->base);
	size_t i = a->run, n = a->n;

	if (a->is_far)
		while (i < n && (any[i].to != arc->to || any[i].to_object != arc->to_object))
			i++;
	else
		while (i < n && near[i].to != to)
			i++;
	return i;
}

/* As long as call sites ascend, equal arcs can only be among the arcs of one site, which follow
 * each other. So each arc is compared only with the earlier arcs of its site: these are few and
 * still in the CPU's cache. `last` is the previous arc. */
static inline void append_in_order(struct arcs *a, const struct arc *last, const struct arc *arc)
{
	if (a->n && last->from == arc->from && last->from_object == arc->from_object) {
		size_t i = find_callee(a, arc);
		if (i < a->n) {
			sum(a, i, arc->count);
			return;
		}
		a->unordered = a->n - a->run >= SHORT_RUN;
	} else {
		a->unordered =
			a->n && (arc->from_object != last->from_object || arc->from < last->from);
		a->run = a->n;
	}
	put(a, a->n++, arc);
}

static void append(struct arcs *a, const struct arc *arcs, size_t n)
{
	struct arc before = a->n ? get(a, a->n - 1) : (struct arc){ 0 };
	const struct arc *last = &before;
	size_t i = 0;

	reserve(a, n);
	for (; i < n && !a->unordered; last = &arcs[i++]) /* runtimes write arcs in this order */
		append_in_order(a, last, &arcs[i]);
	while (i < n)
		put(a, a->n++, &arcs[i++]);
}

static void settle(struct arcs *a)
{
	size_t n = a->n;

	if (a->settled == n)
		return;
	a->ascend = !a->unordered;
	if (a->ascend) {
		a->settled = n;
		return;
	}
	build_index(a, n);
	for (size_t i = 0; i < n; i++) {
		struct arc arc = get(a, i);
		uint32_t *s = slot(a, &arc);
		if (*s != NONE) {
			sum(a, *s, arc.count);
			continue;
		}
		*s = (uint32_t)a->settled;
		put(a, a->settled++, &arc);
	}
	a->n = a->settled;
}

/* ---- later files ---- */

static void add_new(struct arcs *a, uint32_t *s, const struct arc *arc)
{
	reserve(a, 1);
	put(a, a->n++, arc);
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
	sum(a, *s, arc->count);
	a->other = a->cursor;
	a->cursor = *s + 1;
}

/* Adds to an equal arc if there is one shortly after *cursor, and moves *cursor behind it. False:
 * there is none. */
static inline bool add_near(struct arcs *a, const struct arc *arc, size_t *cursor)
{
	size_t end = min_u64(*cursor + LOOK_AHEAD, a->settled);

	for (size_t i = *cursor; i < end; i++) {
		if (is_same(a, i, arc)) {
			sum(a, i, arc->count);
			*cursor = i + 1;
			return true;
		}
	}
	return false;
}

void arcs_expect(struct arcs *a, size_t n)
{
	enum { MOST = 1 << 26 }; /* 1 GB that may never be used */
	if (!a->n && n <= MOST)
		reserve(a, n);
}

void arcs_add(struct arcs *a, const struct arc *arcs, size_t n)
{
	prepare(a, arcs, n);
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

void *arcs_take(struct arcs *a)
{
	void *memory = a->is_far ? (void *)TAKE(a->any.at) : TAKE(a->near.at);

	arcs_free(a);
	return memory;
}

void arcs_free(struct arcs *a)
{
	vec_free(&a->near);
	vec_free(&a->any);
	arcs_drop_index(a);
	*a = (struct arcs){ 0 };
}
