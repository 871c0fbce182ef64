/* uncounted.h - the object files with time from recordings that counted no calls.
 *
 * In a sum of recordings of which only some counted calls, the time of a function may be that of
 * all of them, its calls are those of some: time per call would be too much. A sum keeps the paths
 * of these files as facts (FACT_UNCOUNTED). */
#ifndef PROFILE_UNCOUNTED_H
#define PROFILE_UNCOUNTED_H

#include "profile/profile.h"

/* [n_objects], to be freed; NULL: none, or no recording counted calls as far as sources tell.
 * Object files of one path are one. */
bool *uncounted_objects(const struct profile *p);

#endif
