/* rt_retire.c - counts of unloaded libraries. Other libraries may take their addresses, so the
 * counts move to KINF_RETIRED_ARCS and its siblings, by module and link-time address. If the same
 * file is mapped again, its counts are added to the same slots. */
#include "rt.h"

enum {
	FIRST_SLOTS = 128,
	GROWTH = 4,
	STRIDE = 2533 /* slots from one to try to the next: neighbours fill up */
};

/* A table of that type with room for one more slot of `size` bytes. *last is the newest one of the
 * type; it is replaced if full. */
static struct kinf_block *with_room(struct kinf_block **last, enum kinf_type type, uint64_t size)
{
	struct kinf_block *b = *last;
	uint64_t slots = b ? rt_own(b)->mask + 1 : 0;

	if (b && rt_own(b)->used < slots / 2)
		return b;
	slots = b ? slots * GROWTH : FIRST_SLOTS;
	b = rt_block(type, slots * size, 0);
	if (b) {
		rt_own(b)->mask = slots - 1;
		*last = b;
	}
	return b;
}

/* Makes an address outlive its mapping: returns the module's id, and turns *addr into a link-time
 * address. 0: no module. */
static uint32_t place(uint64_t *addr)
{
	const struct rt_module *m = rt_module_at(*addr);

	if (!m || !m->first_id)
		return 0;
	*addr -= m->bias;
	return m->first_id;
}

static bool add_arc(const struct kinf_arc *s)
{
	struct kinf_retired_arc a = { .from = s->from, .to = s->to, .count = s->count };
	struct kinf_block *b = with_room(&rt.retired, KINF_RETIRED_ARCS, sizeof(a));
	struct kinf_retired_arc *r;

	if (!b)
		return false;
	a.from_module = place(&a.from);
	a.to_module = place(&a.to);
	for (uint64_t at = rt_hash(a.from + a.from_module, a.to + a.to_module) >> 5;;
	     at += STRIDE) {
		r = &((struct kinf_retired_arc *)b->payload)[at & rt_own(b)->mask];
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
	rt_own(b)->used++;
	return true;
}

/* ---- latencies ---- */

static void merge(struct kinf_latency *to, const struct kinf_latency *l)
{
	to->probes_ns += l->probes_ns;
	to->sum_ns += l->sum_ns;
	if (!to->count || l->min_ns < to->min_ns)
		to->min_ns = l->min_ns;
	if (l->max_ns > to->max_ns)
		to->max_ns = l->max_ns;
	for (uint32_t i = 0; i < KINF_LATENCY_BUCKETS; i++)
		to->bucket[i] = l->bucket[i] < UINT32_MAX - to->bucket[i]
					? to->bucket[i] + l->bucket[i]
					: UINT32_MAX;
	__atomic_store_n(&to->count, to->count + l->count, __ATOMIC_RELEASE);
}

static struct kinf_retired_latency *find_latency(const struct kinf_retired_latency *key)
{
	struct kinf_block *b = rt.retired_latencies;
	struct kinf_retired_latency *r = NULL;

	for (uint64_t i = 0; b && i < b->used / sizeof(*r); i++) {
		r = &((struct kinf_retired_latency *)b->payload)[i];
		if (r->of.from == key->of.from && r->of.to == key->of.to &&
		    r->from_module == key->from_module && r->to_module == key->to_module)
			return r;
	}
	if (!b || b->used + sizeof(*r) > b->size - sizeof(*b)) {
		b = rt_block(KINF_RETIRED_LATENCIES, FIRST_SLOTS * sizeof(*r), 0);
		if (!b)
			return NULL;
		b->used = 0;
		rt.retired_latencies = b;
	}
	r = (struct kinf_retired_latency *)(b->payload + b->used);
	r->from_module = key->from_module;
	r->to_module = key->to_module;
	r->of.from = key->of.from;
	r->of.to = key->of.to;
	b->used += sizeof(*r);
	return r;
}

static void retire_latency(struct kinf_latency *l, uint32_t thread)
{
	struct kinf_retired_latency key, *r;

	key.of.from = l->from;
	key.of.to = l->to;
	key.from_module = place(&key.of.from);
	key.to_module = place(&key.of.to);
	r = l->count ? find_latency(&key) : NULL;
	if (r)
		merge(&r->of, l);
	for (struct rt_thread *t = rt.threads; t; t = t->next)
		if (t->index == thread)
			rt_latency_forget(t, l);
}

/* ---- counts inside a module ---- */

static bool within(const struct rt_module *m, uint64_t addr)
{
	return addr >= m->start && addr < m->end;
}

/* Whether the arc begins or ends in the module; then its calls are moved away. */
static bool move_arc(const struct rt_module *m, const struct kinf_arc *a)
{
	if (!a->to || (!within(m, a->from) && !within(m, a->to)))
		return false;
	if (a->count && !rt_is_twice(a->from, a->to) && !add_arc(a))
		rt_lose(KINF_LOST_ARCS, a->count);
	return true;
}

static void retire_arcs(const struct rt_module *m, struct kinf_block *b)
{
	struct kinf_arc *s = (struct kinf_arc *)b->payload;

	for (uint64_t n = b->used / sizeof(*s); n--; s++) {
		struct kinf_arc a = rt_arc_at(s);

		if (move_arc(m, &a)) {
			__atomic_store_n(&s->count, 0, __ATOMIC_RELEASE);
			__atomic_store_n(&s->to, 0, __ATOMIC_RELEASE);
		}
	}
}

static void retire_calls(const struct rt_module *m, struct kinf_block *b)
{
	struct kinf_call *s = (struct kinf_call *)b->payload;

	for (uint64_t n = b->used / sizeof(*s); n--; s++) {
		struct kinf_arc a = rt_call_at(s);

		if (move_arc(m, &a)) {
			__atomic_store_n(&s->count, 0, __ATOMIC_RELEASE);
			__atomic_store_n(&s->key, KINF_CALL_GONE, __ATOMIC_RELEASE);
		}
	}
}

static void retire_latencies(const struct rt_module *m, struct kinf_block *b)
{
	struct kinf_latency *l = (struct kinf_latency *)b->payload;

	for (uint64_t n = b->used / sizeof(*l); n--; l++)
		if (l->to && (within(m, l->from) || within(m, l->to)))
			retire_latency(l, b->thread);
}

/* No thread is in a function of `m`, so no thread is using these slots, whichever thread owns
 * them. */
void rt_retire(const struct rt_module *m)
{
	struct kinf_block *b = NULL;

	while ((b = rt_next_block(b))) {
		if (b->type == KINF_LATENCIES)
			retire_latencies(m, b);
		if (!rt_own(b)->transient)
			continue;
		if (b->type == KINF_ARCS)
			retire_arcs(m, b);
		if (b->type == KINF_CALLS)
			retire_calls(m, b);
	}
	rt_twice_retire(m);
}
