/* filter.h - a part of a profile, as a profile of its own.
 *
 * What was measured is divided: each sample belongs to one thread, to one event and to the object
 * of its innermost frame; each counted call to one thread and to the callee's object. So the parts
 * for all threads (the unknown one among them) add up to the whole, and so do those for all
 * objects. What the data does not know by thread - histograms, block counts, latencies, calls
 * beyond those counted by thread - is the unknown thread's.
 *
 * Objects, strings, frames and tasks keep their ids, so that whoever knows the places of the whole
 * profile's frames knows those of its parts; stacks that no sample is left of are gone.
 *
 * To iterate over the full profile and keep its total, use sample_filter.h. */
#ifndef PROFILE_FILTER_H
#define PROFILE_FILTER_H

#include "profile/profile.h"

struct profile_part {           /* which to take: booleans by id; NULL: all */
	const uint8_t *tasks;   /* [n_tasks] */
	const uint8_t *objects; /* [n_objects] */
	const uint8_t *events;  /* [n_events] */
	/* [from_ns, to_ns) on the clock of the samples; 0, 0: any time. Else what has no time is
	 * left out: counts, and samples that were added up. */
	uint64_t from_ns, to_ns;
};

struct profile *profile_filter(const struct profile *p, const struct profile_part *part);

#endif
