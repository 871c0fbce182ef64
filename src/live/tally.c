/* tally.c - a hash table of equal samples. */
#include "live/tally.h"

#include <stdint.h>

static void add_up(struct sample *to, const struct sample *s)
{
	if (__builtin_add_overflow(to->weight, s->weight, &to->weight))
		to->weight = UINT64_MAX;
	if (__builtin_add_overflow(to->count, s->count, &to->count))
		to->count = UINT32_MAX;
}

void tally_add(struct tally *t, const struct sample *s)
{
	uint32_t *whose = map64_at(&t->whose, MAP64_PAIR(s->task, s->event));

	if (*whose == NONE)
		*whose = t->n_whose++;
	uint32_t *at = map64_at(&t->ids, MAP64_PAIR(s->stack, *whose));
	if (*at != NONE) {
		add_up(&t->samples.at[*at], s);
		return;
	}
	*at = (uint32_t)t->samples.n;
	vec_push(&t->samples, *s);
}

void tally_move(struct tally *t, struct profile_builder *into)
{
	for (size_t i = 0; i < t->samples.n; i++)
		profile_add_sample(into, t->samples.at[i]);
	tally_done(t);
}

void tally_done(struct tally *t)
{
	vec_free(&t->samples);
	map64_free(&t->whose);
	map64_free(&t->ids);
	*t = (struct tally){ 0 };
}
