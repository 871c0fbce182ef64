/* rt_table.c - tables of slots: a larger one follows a full one, and nothing is ever moved. */
#include "rt.h"

/* Slots never move, so early arcs have the best places. But what a program does first is often not
 * what it spends its time with, and later arcs need a longer search. So a table whose patience is
 * used up is replaced by a larger one, which starts empty. */
enum {
	GROWTH = 4,         /* growth of a full table */
	RENEWAL = 2,        /* growth of a table without patience left */
	RENEWALS = 4,       /* the most renewals */
	LARGE = 1 << 20,    /* bytes: such tables are not renewed */
	PATIENCE = 1 << 15, /* of the first table: as many slow look-ups, at a few ns each, cost as
			       much as a new table */
	DEARER = 4,         /* a shift: each further renewal needs so much more patience */
};

static uint64_t slots_of(const struct rt_table *x, const struct rt_own *own)
{
	return own->mask / x->slot + 1;
}

static bool is_full(const struct rt_table *x, const struct rt_own *own)
{
	return own->used >= slots_of(x, own) / 2;
}

/* The table to follow `old`. Mask 0: none, since it would not help. */
static struct rt_own next_own(const struct rt_table *x, const struct rt_own *old)
{
	struct rt_own own = { .renewed = old->renewed };
	uint64_t slots = slots_of(x, old) * GROWTH;

	if (!old->mask)
		slots = x->first;
	else if (!is_full(x, old)) {
		if (old->mask >= LARGE || own.renewed++ == RENEWALS)
			return own;
		slots = slots_of(x, old) * RENEWAL;
	}
	own.mask = (slots - 1) * x->slot;
	own.patience = own.renewed < RENEWALS ? PATIENCE << own.renewed * DEARER : INT32_MAX;
	return own;
}

/* Counts stay in the old table; readers of the file add them up. */
static void *new_table(const struct rt_table *x, struct rt_thread *t, void *old)
{
	struct rt_own own = next_own(x, rt_own(rt_block_of(old)));
	struct kinf_block *b;
	uint64_t mask;

	if (!own.mask || rt.full || !rt_lock(&mask))
		return NULL;
	if (*x->current != old) { /* a signal handler was faster */
		rt_unlock(mask);
		return *x->current;
	}
	b = rt_block(x->type, own.mask + x->slot, t->index);
	if (b) {
		*rt_own(b) = own;
		*(void **)((uint8_t *)t + x->of_thread) = b->payload;
		*x->current = b->payload;
		if (old != rt_none + RT_NONE_BLOCK)
			rt_block_rest(rt_block_of(old));
	}
	rt_unlock(mask);
	return b ? b->payload : NULL;
}

void *rt_table_with_room(const struct rt_table *x)
{
	struct rt_thread *t = rt_thread();
	void *table = *x->current, *next;
	struct rt_own *own = rt_own(rt_block_of(table));

	if (!t)
		return NULL;
	if (!is_full(x, own) && own->patience >= 0)
		return table;
	next = new_table(x, t, table);
	if (next)
		return next;
	if (own->patience < 0)
		own->patience = INT32_MAX;
	return own->used < slots_of(x, own) / 16 * 15 ? table : NULL;
}
