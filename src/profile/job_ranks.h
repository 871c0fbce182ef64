/* job_ranks.h - which ranks of a parallel job a profile has, single or in a sum. Also its gaps:
 * ranks that are missing, and ranks that did not end by themselves. */
#ifndef PROFILE_JOB_RANKS_H
#define PROFILE_JOB_RANKS_H

#include "base/remarks.h"
#include "profile/profile.h"

uint64_t job_ranks_count(const struct profile *p);
/* "3, 5-7"; to be freed. NULL: none are missing, or the files disagree about the number of
 * ranks. */
char *job_ranks_missing(const struct profile *p);
/* Adds a remark for each kind of gap. Ranks that a filter left out are not missing. */
void job_ranks_gaps(const struct profile *p, struct remarks *to);

/* The rank of a file, in digits; NULL: it has no rank, or several. */
const char *job_rank_of_source(const struct profile *p, uint32_t source);

#endif
