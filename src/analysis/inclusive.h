/* inclusive.h - time of the samples that have something on their stack, each sample once. */
#ifndef ANALYSIS_INCLUSIVE_H
#define ANALYSIS_INCLUSIVE_H

#include "profile/profile.h"
#include "symbolize/symbols.h"

/* The event that times are of: the first that counts time on a CPU, or the first. */
uint16_t samples_event(const struct samples *s);

/* `group_of`: [n_symbols], what each place belongs to - a line, say - or NONE; below n_groups.
 * Returns [n_groups] ticks, to be freed: of samples with a place of the group on their stack,
 * however often. O(frames of all distinct stacks). */
double *inclusive_times(const struct samples *s, const symid *places, const uint32_t *group_of,
			size_t n_groups);

#endif
