/* repeats.h - the difference between two sets of repeated measurements, and its error.
 *
 * Repetitions are recordings, not samples: two samples of one run share the machine's state of that
 * moment, two consecutive runs share less of it, and runs of different minutes least. So the spread
 * between runs determines the error of a difference. The error by sampling alone is known in
 * advance, and is its lower bound.
 *
 *	struct repeats r = { .n = { 10, 10 }, .paired = true, .first = first };
 *	struct contrast c = repeats_contrast(&r, values, noise, 1);
 *	... c.value, within contrast_margin(&c, 0.95) of the truth 95 times in 100 ... */
#ifndef ANALYSIS_REPEATS_H
#define ANALYSIS_REPEATS_H

#include "base/base.h"

enum { REPEATS_BEFORE, REPEATS_AFTER, REPEATS_SIDES };

struct repeats {                 /* what was measured, and when */
	size_t n[REPEATS_SIDES]; /* values of each side, >= 1 */
	/* Value i of both sides was measured at neighbouring times. Only the difference counts
	 * then, so that slow drift cancels out. n is the same for both sides. */
	bool paired;
	const bool *first; /* paired: in pair i the side `before` was measured first */
	/* All values of the side were measured in one interval of time; another interval may differ
	 * by as much as one value. Not set if values are paired, and not for a single value. */
	bool together[REPEATS_SIDES];
};

struct contrast {
	double value;   /* mean after - factor * mean before */
	double error;   /* its standard error */
	double degrees; /* degrees of freedom; INFINITY: the error is that of sampling alone */
	double single;  /* standard deviation that a pair (one run of each) adds */
};

/* `values`: r->n[side] values of each side. `noise[side]`: the variance of one value by sampling.
 */
struct contrast repeats_contrast(const struct repeats *r, const double *const values[REPEATS_SIDES],
				 const double noise[REPEATS_SIDES], double factor);

/* Half the width of the confidence interval (confidence 0..1). */
double contrast_margin(const struct contrast *c, double confidence);

/* The confidence interval of the ratio of the sides, after / before: all factors for which the
 * contrast may be 0. So it excludes 1 if, and only if, the interval of the contrast with factor 1
 * excludes 0. The mean of `before` must be above 0, that of `after` at least 0. */
struct ratio_interval {
	double low, high; /* high: INFINITY if the true mean of `before` may be 0 */
};
struct ratio_interval repeats_ratio(const struct repeats *r,
				    const double *const values[REPEATS_SIDES],
				    const double noise[REPEATS_SIDES], double confidence);

/* The probability that equal sides differ this much by chance: contrast_p() in either direction;
 * contrast_p_above() in this direction, if the true contrast is at most 0. */
double contrast_p(const struct contrast *c);
double contrast_p_above(const struct contrast *c);

/* The number of runs of each side that detects a change of that size four times in five, at a level
 * of 5 %; INFINITY: no number does. `single`: as in struct contrast. */
double repeats_needed(const struct repeats *r, double single, double change);

#endif
