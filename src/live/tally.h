/* tally.h - sums of samples with equal stack, task and event.
 *
 * Its memory grows with the number of different samples, not with time, and is limited by
 * TALLY_MAX. */
#ifndef LIVE_TALLY_H
#define LIVE_TALLY_H

#include "base/map64.h"
#include "base/vec.h"
#include "profile/profile.h"

enum { TALLY_MAX = 1 << 18 };

struct tally { /* all zero: empty */
	VEC(struct sample) samples;
	struct map64 whose; /* MAP64_PAIR(task, event) -> number of the pair */
	struct map64 ids;   /* MAP64_PAIR(stack, number of the pair) -> index of a sample */
	uint32_t n_whose;
};

/* Adds a sample. Of equal samples the first is kept, with the sums of their weights and counts. */
void tally_add(struct tally *t, const struct sample *s);

/* Moves all samples to the builder that their ids belong to. The tally is then empty. */
void tally_move(struct tally *t, struct profile_builder *into);

void tally_done(struct tally *t);

#endif
