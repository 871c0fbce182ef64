/* tally.h - samples, equal ones added up: of one stack, task and event.
 *
 * What it takes grows with the number of different ones, not with time; and it ends at TALLY_MAX.
 */
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

/* Of equal ones the first stays, with the sums of weights and counts. */
void tally_add(struct tally *t, const struct sample *s);

/* Gives all to the builder that its ids are of; it is empty then. */
void tally_move(struct tally *t, struct profile_builder *into);

void tally_done(struct tally *t);

#endif
