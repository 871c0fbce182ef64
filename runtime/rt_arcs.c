/* rt_arcs.c - counts calls by caller and callee, in slots of the mapped file that hooks find by
 * hash. A slot is a quarter of a cache line: with a million arcs nearly every call waits for a
 * cache line. */
#include "rt.h"

enum { FIRST_SLOTS = 512 };

enum { CARRIES = 64 }; /* slots in a block of carries */

static struct kinf_call *slot_at(void *table, uint64_t offset)
{
	return (struct kinf_call *)((uint8_t *)table + offset);
}

/* ---- counts beyond 32 bits ---- */

/* With the lock: the thread's slot for the part of an arc's count beyond 32 bits, made if there is
 * none; NULL: no room. */
static struct kinf_arc *carry_slot(struct rt_thread *t, uint64_t from, uint64_t to)
{
	struct kinf_block *b = t->carries;
	struct kinf_arc *s = b ? (struct kinf_arc *)b->payload : NULL;

	for (uint64_t n = b ? rt_own(b)->used : 0; n--; s++)
		if (s->from == from && s->to == to)
			return s;
	if (!b || rt_own(b)->used == CARRIES) {
		b = rt_block(KINF_ARCS, CARRIES * sizeof(*s), t->index);
		if (!b)
			return NULL;
		rt_own(b)->transient = true; /* may hold arcs of modules that can be unloaded; not
						checked */
		t->carries = b;
		s = (struct kinf_arc *)b->payload;
	}
	s->from = from;
	__atomic_store_n(&s->to, to, __ATOMIC_RELEASE);
	rt_own(b)->used++;
	return s;
}

void rt_carry(uint64_t from, uint64_t to)
{
	enum { BITS = 32 };
	struct rt_thread *t = rt_thread();
	struct kinf_arc *s = NULL;
	uint64_t mask;

	if (t && rt_lock(&mask)) {
		s = carry_slot(t, from, to);
		if (s)
			add_to(&s->count, (uint64_t)1 << BITS);
		rt_unlock(mask);
	}
	if (!s)
		rt_lose(KINF_LOST_ARCS, (uint64_t)1 << BITS);
}

void rt_carry_enter(uint64_t from, uint64_t to, uint64_t sp)
{
	rt_carry(from, to);
	if (rt_gate.latency)
		rt_latency_begin(to, from, sp);
}

/* ---- slots ---- */

/* Takes an unused slot, or one whose calls were moved away, against signal handlers of this thread;
 * the key is published last. A handler that interrupts this does not recognise the slot as its own
 * arc's and takes another one. The reader adds both counts. */
static bool take(struct kinf_call *s, uint64_t expected, uint64_t key, uint32_t to_high)
{
	if (!__atomic_compare_exchange_n(&s->key, &expected, KINF_CALL_TAKEN, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&s->to_high, to_high, __ATOMIC_RELAXED);
	__atomic_store_n(&s->count, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&s->key, key, __ATOMIC_RELEASE);
	return true;
}

/* Adds one to the arc, in its slot or in a new one. */
static void count(void *table, uint64_t from, uint64_t to, bool transient)
{
	struct rt_own *own = rt_own(rt_block_of(table));
	uint64_t at = rt_hash(from, to) & own->mask, key = kinf_call_key(from, to);
	uint32_t to_high = (uint32_t)(to >> 16);
	struct kinf_call *gone = NULL;

	if (transient)
		own->transient = true;
	for (;; at = (at + sizeof(struct kinf_call)) & own->mask) {
		struct kinf_call *s = slot_at(table, at);

		if (s->key == key && s->to_high == to_high) {
			if (!__atomic_add_fetch(&s->count, 1, __ATOMIC_RELAXED))
				rt_carry(from, to);
			return;
		}
		if (s->key == KINF_CALL_GONE && !gone)
			gone = s;
		if (s->key == 0) {
			if (gone && take(gone, KINF_CALL_GONE, key, to_high))
				return;
			if (take(s, 0, key, to_high)) {
				count_one(&own->used);
				return;
			}
		}
	}
}

void rt_arc(uint64_t from, uint64_t to)
{
	const uint64_t no_caller = ((uint64_t)1 << KINF_CALL_BITS) - 1;
	const struct rt_module *caller, *callee;
	void *table;

	if (!rt.options.arcs && rt.state != RT_NEW)
		return;
	if (!rt_ready())
		return;
	if (from <= KINF_CALL_TAKEN || from > no_caller)
		from = no_caller; /* an address must not look like a slot's mark */
	callee = rt_module_learn(to);
	caller = rt_module_learn(from);
	table = to <= no_caller ? rt_table_with_room(&(struct rt_table){
					  KINF_CALLS, sizeof(struct kinf_call), FIRST_SLOTS,
					  &rt_tls.arcs, offsetof(struct rt_thread, arcs) })
				: NULL;
	if (table)
		count(table, from, to,
		      (callee && callee->transient) || (caller && caller->transient));
	else
		rt_lose(KINF_LOST_ARCS, 1);
}

void rt_enter(uint64_t from, uint64_t to, uint64_t sp)
{
	if (!rt_has_tls())
		return;
	rt_arc(from, to);
	if (rt_tls.from == from)
		rt_twice_enter(from, to);
	if (rt_gate.latency)
		rt_latency_begin(to, from, sp);
}

void rt_mcount(uint64_t from, uint64_t to)
{
	if (!rt_has_tls())
		return;
	if (!rt.profiled)
		rt.profiled = true;
	rt_arc(from, to);
	rt_tls.from = from;
	rt_tls.to = to;
	rt_cost_start();
}
