/* tally.h - sums of equal samples: of the same stack, task and event.
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
	struct map64 whose; /* MAP64_PAIR(task, event): number */
	struct map64 ids;   /* MAP64_PAIR(stack, that number): index of a sample */
	uint32_t n_whose;
};

/* Adds a sample. Of equal ones the first stays, with the sums of weights and counts. */
void tally_add(struct tally *t, const struct sample *s);

/* Moves all samples to the builder that its ids belong to; leaves it empty. */
void tally_move(struct tally *t, struct profile_builder *into);

void tally_done(struct tally *t);

#endif
