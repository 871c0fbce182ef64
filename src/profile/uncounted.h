/* uncounted.h - the object files with time from recordings that counted no calls, or with calls
 * from recordings without time.
 *
 * In a sum of recordings of which only some counted calls, the time of a function may be that of
 * all of them, its calls are those of some: time per call would be too much. If only some were
 * sampled, or the time of a histogram is left out beside samples, it would be too little. A sum
 * keeps the paths of these files as facts (FACT_UNCOUNTED, FACT_UNTIMED). */
#ifndef PROFILE_UNCOUNTED_H
#define PROFILE_UNCOUNTED_H

#include "profile/profile.h"

/* [n_objects], to be freed; NULL: none, or no recording counted calls as far as sources tell.
 * Object files of one path are one. */
bool *uncounted_objects(const struct profile *p);
/* The same of calls without time, also if nothing has a time. Whether the time of histograms is
 * left out, beside samples, is the report's decision, and no fact of a sum. */
bool *untimed_objects(const struct profile *p, bool histograms_left_out);

#endif
