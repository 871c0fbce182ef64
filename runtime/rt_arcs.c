/* rt_arcs.c - counts calls by caller and callee, in slots of the mapped file that hooks find by
 * hash.
 * */
#include "rt.h"

enum { FIRST_SLOTS = 512 };

static struct kinf_arc *slot_at(void *table, uint64_t offset)
{
	return (struct kinf_arc *)((uint8_t *)table + offset);
}

/* Takes an unused slot, or one whose calls were moved away, against signal handlers of this thread;
 * `to` is published last. A handler in the midst of it does not know the slot as its own and takes
 * another one: the two add up. */
static bool take(struct kinf_arc *s, uint64_t expected, uint64_t from, uint64_t to)
{
	if (!__atomic_compare_exchange_n(&s->from, &expected, RT_TAKEN, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&s->to, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&s->count, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&s->cost, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&s->from, from, __ATOMIC_RELEASE);
	__atomic_store_n(&s->to, to, __ATOMIC_RELEASE);
	return true;
}

/* Counts, in a slot that is there or in a new one. */
static struct kinf_arc *count(void *table, uint64_t from, uint64_t to, bool transient)
{
	struct rt_own *own = rt_own(rt_block_of(table));
	uint64_t at = rt_hash(from, to) & own->mask;
	struct kinf_arc *gone = NULL;

	if (transient)
		own->transient = true;
	for (;; at = (at + RT_STRIDE * sizeof(struct kinf_arc)) & own->mask) {
		struct kinf_arc *s = slot_at(table, at);

		if (s->from == from && s->to == to) {
			count_one(&s->count);
			return s;
		}
		if (s->from == RT_GONE && !gone)
			gone = s;
		if (s->from == 0) {
			if (gone && take(gone, RT_GONE, from, to))
				return gone;
			if (take(s, 0, from, to)) {
				count_one(&own->used);
				return s;
			}
		}
	}
}

static struct kinf_arc *count_call(uint64_t from, uint64_t to)
{
	const struct rt_module *caller, *callee;
	void *table;

	if (!rt.options.arcs && rt.state != RT_NEW)
		return NULL;
	if (!rt_ready())
		return NULL;
	if (from <= RT_TAKEN)
		from = UINT64_MAX; /* no caller: a slot's mark must not be mistaken for it */
	callee = rt_module_learn(to);
	caller = rt_module_learn(from);
	table = rt_table_with_room(&(struct rt_table){ KINF_ARCS, sizeof(struct kinf_arc),
						       FIRST_SLOTS, &rt_tls.arcs,
						       offsetof(struct rt_thread, arcs) });
	if (table)
		return count(table, from, to,
			     (callee && callee->transient) || (caller && caller->transient));
	rt_lose(KINF_LOST_ARCS, 1);
	return NULL;
}

void rt_arc(uint64_t from, uint64_t to) { count_call(from, to); }

void rt_enter(uint64_t from, uint64_t to, uint64_t sp)
{
	struct kinf_arc *slot = count_call(from, to);

	if (slot && rt_gate.latency)
		rt_latency_begin(slot, sp);
}

void rt_mcount(uint64_t from, uint64_t to)
{
	if (!rt.profiled)
		rt.profiled = true;
	rt_arc(from, to);
}
