/* job_ranks.h - the ranks of a parallel job that a profile has data of, by themselves or in a sum,
 * and the gaps: ranks that are missing, and those that did not end by themselves. */
#ifndef PROFILE_JOB_RANKS_H
#define PROFILE_JOB_RANKS_H

#include "profile/profile.h"

uint64_t job_ranks_count(const struct profile *p);
/* "3, 5-7"; to be freed. NULL: none are missing, or the files do not agree on how many there are.
 */
char *job_ranks_missing(const struct profile *p);
/* Calls add() with a line for each kind of gap. Ranks that a filter left out are none. */
void job_ranks_gaps(const struct profile *p, void (*add)(const char *line, void *arg), void *arg);

/* The rank of a file, in digits; NULL: it is of none, or of several. */
const char *job_rank_of_source(const struct profile *p, uint32_t source);

#endif
