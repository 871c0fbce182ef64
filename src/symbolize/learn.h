/* learn.h - what the files of a profile say of it, learnt of one file after the other.
 *
 * Reports keep all files open that they take names from, with their debug information. What one has
 * answered is kept (object/answered.h): after this they need no debug information, and that of only
 * one file was in memory at a time. */
#ifndef SYMBOLIZE_LEARN_H
#define SYMBOLIZE_LEARN_H

#include "symbolize/recorded.h"

/* Without effect where nothing is kept (KIN_CACHE=off). Files that cannot be read are left out:
 * reports say so of each. */
void names_learn(const struct profile *p, const struct recorded_opts *how);

#endif
