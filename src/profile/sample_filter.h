/* sample_filter.h - selects samples by command, process, thread, processor and time.
 *
 *	struct sample_filter_texts texts = { .comms = "make,cc1", .times = "10%-20%" };
 *	sample_filter_new(p, &texts, &f);
 *	... if (sample_filter_passes(f, &p->samples.at[i])) ...
 *
 * A sample passes if it meets all conditions. There are no conditions on functions and objects:
 * their names are known only once there is a struct program. */
#ifndef PROFILE_SAMPLE_FILTER_H
#define PROFILE_SAMPLE_FILTER_H

#include "profile/profile.h"
#include "profile/span.h"

struct sample_filter_texts {            /* in the users' syntax; NULL: all */
	const char *comms;              /* "make,cc1" */
	bool splits_names;              /* also at commas within brackets */
	const char *pids, *tids;        /* "12,345" */
	const char *cpus, *parallelism; /* "0-3,8" */
	const char
		*times; /* "1.5,2.25 4,": spans in seconds, open at either end; or parts of the time
			   with samples: "10%-20%", "10%/2" (the second tenth), "10%": see span.h */
};

struct sample_filter;

/* Errors name the option and the wrong word. Borrows p. */
MUST_CHECK struct kin_error *sample_filter_new(const struct profile *p,
					       const struct sample_filter_texts *texts,
					       struct sample_filter **ret);
void sample_filter_free(struct sample_filter *f); /* NULL is fine */

/* Whether a sample is within the selected times and processors. Every sample that passes is. */
bool sample_filter_covers(const struct sample_filter *f, const struct sample *s);
bool sample_filter_passes(const struct sample_filter *f, const struct sample *s);

/* Whether the interval overlaps one of the selected times; true if none are selected. */
bool sample_filter_overlaps(const struct sample_filter *f, struct time_range whole);

/* The only command that can pass; NULL if there may be several. Lives as long as f. */
const char *sample_filter_comm(const struct sample_filter *f);

#endif
