/* span.h - stretches of a recording's time, as people write them.
 *
 *	10%-20%      a part of the time in which there are samples
 *	10%          its first tenth
 *	10%/2        its second tenth
 *	12.5,13      seconds on the clock of the samples, as in perf; either may be left out
 *	+0.5,+2      seconds from the first sample on
 */
#ifndef PROFILE_SPAN_H
#define PROFILE_SPAN_H

#include "profile/profile.h"

struct time_range {
	uint64_t from_ns, to_ns; /* [from, to] on the clock of the samples */
};

/* The times of the first and the last sample that have one; from > to if none has. */
struct time_range span_of(const struct profile *p);

/* False if the text is none of the above. `whole` is what percentages and "+" are of. */
bool span_parse(const char *text, struct time_range whole, struct time_range *ret);

#endif
