/* span.h - intervals of a recording's time, in the users' syntax.
 *
 *	10%-20%      a part of the time in which there are samples
 *	10%          its first tenth
 *	10%/2        its second tenth
 *	12.5,13      seconds on the clock of the samples, as in perf; either may be left out
 *	+0.5,+2      seconds from the first sample on
 *	load,query   from one marker to another, the next of that name; either may be a time, or
 * left out load/2       from the second marker of that name to the next marker, whatever its name
 */
#ifndef PROFILE_SPAN_H
#define PROFILE_SPAN_H

#include "profile/profile.h"

struct kin_error;

struct time_range {
	uint64_t from_ns, to_ns; /* [from, to] on the clock of the samples */
};

/* The times of the first and the last sample that have one, of the whole if this is a part of a
 * profile; from > to if none has. */
struct time_range span_of(const struct profile *p);

/* Percentages and "+" relate to `whole`, which is span_of(p). KIN_ERROR_USAGE: the text is none of
 * the above, or ends before it starts, or no sample has a time. */
MUST_CHECK struct kin_error *span_parse(const char *text, const struct profile *p,
					struct time_range whole, struct time_range *ret);
/* Whether they have a time in common. */
static inline bool span_overlaps(struct time_range a, struct time_range b)
{
	return a.from_ns <= b.to_ns && b.from_ns <= a.to_ns;
}

/* Whether the text begins with the name of a marker, which may contain blanks and commas. */
bool span_is_marked(const char *text, const struct profile *p);

#endif
