#include "rt.h"

enum { GROWTH = 4 };

static uint64_t slots_of(const struct rt_table *x, const void *table)
{
	return rt_block_of(table)->own[RT_MASK] / x->slot + 1;
}

/* A larger table; what was counted stays where it is, and the file's reader adds it up. */
static void *new_table(const struct rt_table *x, struct rt_thread *t, void **of_thread,
		       const void *old)
{
	uint64_t slots = old ? slots_of(x, old) * GROWTH : x->first;
	struct kinf_block *b;
	uint64_t mask;

	if (rt.full || !rt_lock(&mask))
		return NULL;
	if (*x->current != old) { /* a signal handler was faster */
		rt_unlock(mask);
		return *x->current;
	}
	b = rt_block(x->type, slots * x->slot, t->index);
	if (b) {
		b->own[RT_MASK] = (slots - 1) * x->slot;
		*of_thread = b->payload;
		*x->current = b->payload;
	}
	rt_unlock(mask);
	return b ? b->payload : NULL;
}

void *rt_table_with_room(const struct rt_table *x)
{
	struct rt_thread *t = rt_thread();
	void *table = *x->current, **of_thread;
	struct kinf_block *b;
	uint64_t slots;

	if (!t)
		return NULL;
	of_thread = (void **)((uint8_t *)t + x->of_thread);
	if (!table)
		return new_table(x, t, of_thread, NULL);
	b = rt_block_of(table);
	slots = slots_of(x, table);
	if (b->own[RT_USED] < slots / 2)
		return table;
	table = new_table(x, t, of_thread, table);
	if (table)
		return table;
	return b->own[RT_USED] < slots - slots / 16 ? b->payload : NULL;
}
