/* rt_twice.c - functions compiled with both -pg and -finstrument-functions. Both hooks count each
 * of their calls, along two arcs that differ in the address within the function:
 * -finstrument-functions passes the function's entry, mcount has the address it was called from.
 * The arc of mcount is ignored, since mcount does not count calls of inlined functions.
 *
 * Such a pair of arcs is recognised when it is made: no other call comes between the first calls of
 * both hooks. If a signal handler makes a call in between, the pair goes unrecognised in that
 * thread. */
#include "rt.h"

enum { FIRST_SLOTS = 512, GROWTH = 4, PROLOGUE = 256 /* bytes, at most */ };

static struct kinf_call *slot_at(struct kinf_block *b, uint64_t i)
{
	return (struct kinf_call *)b->payload + (i & rt_own(b)->mask);
}

/* The slot of the arc, or the unused slot where it belongs. */
static struct kinf_call *find(struct kinf_block *b, uint64_t from, uint64_t to)
{
	uint64_t key = kinf_call_key(from, to);

	for (uint64_t i = rt_hash(from, to) >> 5;; i++) {
		struct kinf_call *s = slot_at(b, i);

		if (!s->key || (s->key == key && s->to_high == (uint32_t)(to >> 16)))
			return s;
	}
}

static void put(struct kinf_block *b, uint64_t from, uint64_t to)
{
	struct kinf_call *s = find(b, from, to);

	if (s->key)
		return;
	s->to_high = (uint32_t)(to >> 16);
	s->count = 1;
	__atomic_store_n(&s->key, kinf_call_key(from, to), __ATOMIC_RELEASE);
	rt_own(b)->used++;
}

/* A larger table has all arcs of the one before. */
static struct kinf_block *with_room(void)
{
	struct kinf_block *old = rt.twice, *b;
	uint64_t slots = old ? rt_own(old)->mask + 1 : 0;

	if (old && rt_own(old)->used < slots / 2)
		return old;
	b = rt_block(KINF_TWICE, (old ? slots * GROWTH : FIRST_SLOTS) * sizeof(struct kinf_call),
		     0);
	if (!b)
		return NULL;
	rt_own(b)->mask = b->used / sizeof(struct kinf_call) - 1;
	for (uint64_t i = 0; i < slots; i++) {
		struct kinf_arc a = rt_call_at(slot_at(old, i));

		if (a.to)
			put(b, a.from, a.to);
	}
	rt.twice = b;
	return b;
}

static void note(uint64_t from, uint64_t to)
{
	struct kinf_block *b;
	uint64_t mask;

	if (!rt_lock(&mask))
		return;
	if (!rt.twice)
		rt_info("twice=functions compiled with both -pg and -finstrument-functions: "
			"each call of them counts once\n");
	b = with_room();
	if (b)
		put(b, from, to);
	rt_unlock(mask);
}

void rt_twice_enter(uint64_t from, uint64_t to)
{
	uint64_t other = rt_tls.to;

	if (other <= to || other - to > PROLOGUE)
		return;
	rt_tls.to = 0;
	if (rt.state == RT_STARTED && from > KINF_CALL_TAKEN && !(from >> KINF_CALL_BITS))
		note(from, other);
}

bool rt_twice_has(uint64_t from, uint64_t to) { return find(rt.twice, from, to)->key; }

/* Other functions may be mapped at the same addresses. */
void rt_twice_retire(const struct rt_module *m)
{
	struct kinf_block *b = NULL;

	while (rt.twice && (b = rt_next_block(b))) {
		struct kinf_call *s = (struct kinf_call *)b->payload;

		for (uint64_t n = b->type == KINF_TWICE ? b->used / sizeof(*s) : 0; n--; s++) {
			struct kinf_arc a = rt_call_at(s);

			if (a.to && ((a.from >= m->start && a.from < m->end) ||
				     (a.to >= m->start && a.to < m->end)))
				__atomic_store_n(&s->key, KINF_CALL_GONE, __ATOMIC_RELEASE);
		}
	}
}
