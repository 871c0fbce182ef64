/* rt_table.c - tables of slots: a larger one follows a full one, and nothing is ever moved. */
#include "rt.h"

/* Slots stay where they are, so who comes first has the first choice: often what a program does to
 * begin with, and what it then spends its time with has to be looked for further on. So a table
 * that has taken too much patience is followed by a larger one, in which all begin anew. */
enum {
	GROWTH = 4,         /* of one that is full */
	RENEWAL = 2,        /* of one that takes patience */
	RENEWALS = 4,       /* at most */
	LARGE = 1 << 20,    /* bytes: such tables are not renewed */
	PATIENCE = 1 << 15, /* of the first table: what another one costs, at a few ns each */
	DEARER = 4,         /* a shift: so much more each time */
};

static uint64_t slots_of(const struct rt_table *x, const struct rt_own *own)
{
	return own->mask / x->slot + 1;
}

static bool is_full(const struct rt_table *x, const struct rt_own *own)
{
	return own->used >= slots_of(x, own) / 2;
}

/* Of the table that follows. Mask 0: none, that would be no better. */
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

/* Counts stay where they are, and the file's reader adds them up. */
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
