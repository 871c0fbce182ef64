/* filter.h - a part of a profile, as a profile of its own.
 *
 * Each sample belongs to one thread, to one event and to the object of its innermost frame. Each
 * counted call belongs to one thread and to the callee's object. So the parts of all threads
 * (including the unknown one) add up to the whole, and so do the parts of all objects. Data without
 * a thread - histograms, block counts, latencies, calls beyond those counted by thread - belongs to
 * the unknown thread.
 *
 * Sums over ranks keep the differences between ranks if the part is chosen by event. A part by
 * thread, object or time has no such differences.
 *
 * Objects, strings, frames and tasks keep their ids, so symbols that were found for the whole
 * profile's frames serve its parts, too. Stacks without samples are dropped.
 *
 * To loop over a whole profile and keep its total, use sample_filter.h. */
#ifndef PROFILE_FILTER_H
#define PROFILE_FILTER_H

#include "profile/profile.h"

struct profile_part {           /* what to take: booleans by id; NULL: all */
	const uint8_t *tasks;   /* [n_tasks] */
	const uint8_t *objects; /* [n_objects] */
	const uint8_t *events;  /* [n_events] */
	const uint8_t *ranks; /* [n_ranks]: marks ranks as left out; their tasks are to be left out
				 by `tasks` */
	/* [from_ns, to_ns) on the clock of the samples; 0, 0: any time. With a time, data without
	 * times is left out: counts, and samples that were summed. */
	uint64_t from_ns, to_ns;
};

struct profile *profile_filter(const struct profile *p, const struct profile_part *part);

/* Splits a profile into n parts by task: of_task[n_tasks] < n. A part equals the result of
 * profile_filter() with the same tasks, but the cost depends only on the size of the part: it
 * borrows what all parts have in common. Therefore it lists the tasks of the whole, with their
 * times. A part may outlive the profile_parts, but not p. */
struct profile_parts *profile_parts_new(const struct profile *p, const uint32_t *of_task, size_t n);
struct profile *profile_parts_make(struct profile_parts *parts, size_t i); /* profile_free() */
void profile_parts_free(struct profile_parts *parts);

#endif
