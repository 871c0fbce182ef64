/* builder.h - functions of the profile builder for other files of this folder. */
#ifndef PROFILE_BUILDER_H
#define PROFILE_BUILDER_H

#include "profile/profile.h"

/* profile_begin_histogram() without the checks, for histograms that have passed them. */
size_t builder_put_histogram(struct profile_builder *b, struct histogram h);

/* Adds the bins of h to those of a histogram of the same shape. */
void builder_add_hits(struct profile_builder *b, size_t histogram, const struct histogram *h);

/* Adds a sample that keeps its source, whichever file is being read. */
void builder_keep_sample(struct profile_builder *b, struct sample s, detailid detail);

/* Notes a rank. Ranks of tasks are noted anyway; this one may be marked as left out. */
void builder_add_rank(struct profile_builder *b, struct job_rank r);

#endif
