/* learn.h - fills the cache of names from the files of a profile, one file after the other.
 *
 * Reports keep all files open that they take names from, with their debug information. Lookups are
 * cached (object/answered.h): after this reports need no debug information, and only one file's was
 * in memory at a time. */
#ifndef SYMBOLIZE_LEARN_H
#define SYMBOLIZE_LEARN_H

#include "symbolize/recorded.h"

/* No effect if nothing is cached (KIN_CACHE=off). Files that cannot be read are skipped: reports
 * mention them. */
void names_learn(const struct profile *p, const struct recorded_opts *how);

#endif
