/* uncounted.h - the object files with time from recordings that counted no calls, or with calls
 * from recordings without time.
 *
 * If only some of the summed recordings counted calls, a function's time may come from all of them,
 * but its calls only from some: time per call would be too high. If only some were sampled, or the
 * time of a histogram is left out beside samples, it would be too low. A sum keeps the paths of
 * these files as facts (FACT_UNCOUNTED, FACT_UNTIMED). */
#ifndef PROFILE_UNCOUNTED_H
#define PROFILE_UNCOUNTED_H

#include "profile/profile.h"

/* [n_objects], to be freed. NULL: there are none, or the sources do not tell that a recording
 * counted calls. Object files with the same path are one. */
bool *uncounted_objects(const struct profile *p);
/* The same for calls without time, even if nothing has a time. `histograms_left_out`: the time of
 * histograms is left out beside samples. That is the report's decision, so no fact of a sum says
 * it. */
bool *untimed_objects(const struct profile *p, bool histograms_left_out);

#endif
