/* span.h - intervals of a recording's time, in the users' syntax.
 *
 *	10%-20%      a part of the time from the first to the last sample; 0% and 100% include what
 *		     lies before and after: derived samples, of time off the CPU
 *	10%          its first tenth
 *	10%/2        its second tenth
 *	12.5,13      seconds on the clock of the samples, as in perf; either may be left out
 *	+0.5,+2      seconds from the first sample on
 *	load,query   from one marker to the next marker "query"; one of them may be a time,
 *		     the second one may be left out
 *	load         from a marker to the next marker, whatever its name
 *	load/2       the same from the second marker of that name on */
#ifndef PROFILE_SPAN_H
#define PROFILE_SPAN_H

#include "profile/profile.h"

struct kin_error;

struct time_range {
	uint64_t from_ns, to_ns; /* [from, to] on the clock of the samples */
};

/* The times of the first and the last sample that have a time; of those that were derived from
 * switches only if there are no others. In a part of a profile they are those of the whole. from >
 * to: no sample has a time. */
struct time_range span_of(const struct profile *p);

/* Percentages and "+" are relative to `whole`, which is span_of(p). KIN_ERROR_USAGE: the text has
 * none of the above forms, or ends before it starts, or no sample has a time. */
MUST_CHECK struct kin_error *span_parse(const char *text, const struct profile *p,
					struct time_range whole, struct time_range *ret);
/* Whether two intervals have a time in common. */
static inline bool span_overlaps(struct time_range a, struct time_range b)
{
	return a.from_ns <= b.to_ns && b.from_ns <= a.to_ns;
}

/* Whether the text begins with the name of a marker, which may contain blanks and commas. */
bool span_is_marked(const char *text, const struct profile *p);

#endif
