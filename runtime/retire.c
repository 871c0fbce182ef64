/* Libraries come and go, and others take their place. What was counted in one that is gone moves to
 * KINF_RETIRED_ARCS, by module and link-time address; the same file mapped again adds to the same.
 */
#include "rt.h"

enum { FIRST_SLOTS = 128, GROWTH = 4 };

static struct kinf_retired_arc *slots_of(struct kinf_block *b)
{
	return (struct kinf_retired_arc *)b->payload;
}

static struct kinf_block *with_room(void)
{
	struct kinf_block *b = rt.retired;
	uint64_t slots = b ? b->own[RT_MASK] + 1 : 0;

	if (b && b->own[RT_USED] < slots / 2)
		return b;
	slots = b ? slots * GROWTH : FIRST_SLOTS;
	b = rt_block(KINF_RETIRED_ARCS, slots * sizeof(struct kinf_retired_arc), 0);
	if (b) {
		b->own[RT_MASK] = slots - 1;
		rt.retired = b;
	}
	return b;
}

/* The place of an address that outlives its mapping. */
static uint32_t place(uint64_t *addr)
{
	const struct rt_module *m = rt_module_at(*addr);

	if (!m || !m->first_id)
		return 0;
	*addr -= m->bias;
	return m->first_id;
}

static bool add(const struct kinf_arc *s)
{
	struct kinf_retired_arc a = { .from = s->from, .to = s->to, .count = s->count };
	struct kinf_block *b = with_room();
	struct kinf_retired_arc *r;

	if (!b)
		return false;
	a.from_module = place(&a.from);
	a.to_module = place(&a.to);
	for (uint64_t at = rt_hash(a.from + a.from_module, a.to + a.to_module) >> 5;; at++) {
		r = &slots_of(b)[at & b->own[RT_MASK]];
		if (!r->count)
			break;
		if (r->from == a.from && r->to == a.to && r->from_module == a.from_module &&
		    r->to_module == a.to_module) {
			r->count += a.count;
			return true;
		}
	}
	r->from = a.from;
	r->to = a.to;
	r->from_module = a.from_module;
	r->to_module = a.to_module;
	__atomic_store_n(&r->count, a.count, __ATOMIC_RELEASE);
	b->own[RT_USED]++;
	return true;
}

static void retire_slot(struct kinf_arc *s)
{
	if (s->count && !add(s))
		rt_lose(KINF_LOST_ARCS, s->count);
	__atomic_store_n(&s->count, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&s->from, RT_GONE, __ATOMIC_RELEASE);
}

static bool within(const struct rt_module *m, uint64_t addr)
{
	return addr >= m->start && addr < m->end;
}

/* Nobody is in a function of `m`, so nobody is at these slots, whichever thread's they are. */
void rt_arcs_retire(const struct rt_module *m)
{
	struct kinf_block *b = NULL;

	while ((b = rt_next_block(b))) {
		struct kinf_arc *s = (struct kinf_arc *)b->payload;

		if (b->type != KINF_ARCS || !(b->own[RT_FLAGS] & RT_TRANSIENT))
			continue;
		for (uint64_t n = b->used / sizeof(*s); n--; s++)
			if (s->to && s->from > RT_TAKEN && (within(m, s->from) || within(m, s->to)))
				retire_slot(s);
	}
}
