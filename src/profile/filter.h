/* filter.h - a part of a profile, as a profile of its own.
 *
 * Each sample belongs to one thread, to one event and to the object of its innermost frame; each
 * counted call to one thread and to the callee's object. So the parts of all threads (including the
 * unknown one) add up to the whole, and so do those of all objects. Data without a thread -
 * histograms, block counts, latencies, calls beyond those counted by thread - belongs to the
 * unknown thread.
 *
 * Sums over ranks keep their differences by event; a part by thread, object or time has none.
 *
 * Objects, strings, frames and tasks keep their ids, so the symbols of the whole profile's frames
 * serve its parts, too. Stacks without samples are dropped.
 *
 * To iterate over the full profile and keep its total, use sample_filter.h. */
#ifndef PROFILE_FILTER_H
#define PROFILE_FILTER_H

#include "profile/profile.h"

struct profile_part {           /* what to take: booleans by id; NULL: all */
	const uint8_t *tasks;   /* [n_tasks] */
	const uint8_t *objects; /* [n_objects] */
	const uint8_t *events;  /* [n_events] */
	const uint8_t *ranks;   /* [n_ranks]: that tasks of others are no part is for `tasks` */
	/* [from_ns, to_ns) on the clock of the samples; 0, 0: any time. With a time, data without
	 * times is left out: counts, and samples that were summed. */
	uint64_t from_ns, to_ns;
};

struct profile *profile_filter(const struct profile *p, const struct profile_part *part);

/* Parts by task, of_task[n_tasks] < n, one after the other: what profile_filter() makes of the same
 * tasks, at the cost of what is in the part. To that end a part borrows what all have in common,
 * and its tasks are those of the whole, with their times. It may outlive the parts, but not p. */
struct profile_parts *profile_parts_new(const struct profile *p, const uint32_t *of_task, size_t n);
struct profile *profile_parts_make(struct profile_parts *parts, size_t i); /* profile_free() */
void profile_parts_free(struct profile_parts *parts);

#endif
