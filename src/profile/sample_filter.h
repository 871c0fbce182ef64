/* sample_filter.h - which samples count: those of some commands, processes, threads, processors,
 * times.
 *
 *	struct sample_filter_texts texts = { .comms = "make,cc1", .times = "10%-20%" };
 *	sample_filter_new(p, &texts, &f);
 *	... if (sample_filter_passes(f, &p->samples.at[i])) ...
 *
 * All that is given must hold. Functions and objects are not looked at: those have names only once
 * there is a struct program. */
#ifndef PROFILE_SAMPLE_FILTER_H
#define PROFILE_SAMPLE_FILTER_H

#include "profile/profile.h"

struct sample_filter_texts {            /* as people write them; NULL: all */
	const char *comms;              /* "make,cc1" */
	const char *pids, *tids;        /* "12,345" */
	const char *cpus, *parallelism; /* "0-3,8" */
	const char *times; /* "1.5,2.25 4,": spans in seconds, to either end open; or parts of the
			    * time there are samples of: "10%-20%", "10%/2" (the second tenth),
			    * "10%": see span.h */
};

struct sample_filter;

/* Errors name the option and the word that is wrong. Borrows p. */
MUST_CHECK struct kin_error *sample_filter_new(const struct profile *p,
					       const struct sample_filter_texts *texts,
					       struct sample_filter **ret);
void sample_filter_free(struct sample_filter *f); /* NULL is fine */

/* Whether a sample is in the part of the recording that is looked at: its times and processors.
 * What passes is. */
bool sample_filter_covers(const struct sample_filter *f, const struct sample *s);
bool sample_filter_passes(const struct sample_filter *f, const struct sample *s);

/* The only command that can pass, or NULL if there may be several. Lives as long as f. */
const char *sample_filter_comm(const struct sample_filter *f);

#endif
