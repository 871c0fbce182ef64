/* comparison_slots.c - the functions of a comparison, each with one slot per name and object; and
 * joining two of them. */
#include "report/comparison.h"

uint32_t comparison_slot(struct comparison *c, strid name, strid object)
{
	struct compared_function f = { .name = name, .object = object };
	uint32_t *slot = map64_at(&c->index, MAP64_PAIR(name, object));
	if (*slot == NONE) {
		*slot = (uint32_t)c->at.n;
		f.of[REPEATS_BEFORE].slot = f.of[REPEATS_AFTER].slot = NONE;
		vec_push(&c->at, f);
	}
	return *slot;
}

void comparison_join(struct comparison *c, uint32_t before, uint32_t after, enum function_fate fate)
{
	struct compared_function *b = &c->at.at[before], *a = &c->at.at[after];
	a->of[REPEATS_BEFORE] = b->of[REPEATS_BEFORE];
	a->fate = fate;
	a->other = b->name;
	a->added_up |= b->added_up;
	b->of[REPEATS_BEFORE].slot = NONE;
}
