/* repeats.h - what two sets of repeated measurements say of a difference.
 *
 * What is repeated is the recording, not the sample: two samples of one run have the machine's
 *state of that moment in common, two runs next to each other less of it, and runs of different
 *minutes least. So the spread between runs decides how well a difference is known. What sampling
 *alone makes of it is known beforehand, and is the least that it can be.
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
	/* Value i of both sides is of neighbours in time: only their difference counts, so that
	 * what lasts longer than a pair is in both. n is the same for both then. */
	bool paired;
	const bool *first; /* paired: in pair i the side before was measured first */
	/* All values of the side are of one stretch of time, and another one may be worse by what
	 * one of them may be. Not if paired, and not of a single value. */
	bool together[REPEATS_SIDES];
};

struct contrast {
	double value;   /* mean after - factor * mean before */
	double error;   /* its standard error */
	double degrees; /* of freedom; INFINITY: chance is that of sampling alone */
	double single;  /* standard deviation that a pair (one run of each) adds */
};

/* `values`: r->n[side] of each side. `noise[side]`: the variance of one value by sampling. */
struct contrast repeats_contrast(const struct repeats *r, const double *const values[REPEATS_SIDES],
				 const double noise[REPEATS_SIDES], double factor);

/* Half the width of the interval that has the truth in it with that confidence (0..1). */
double contrast_margin(const struct contrast *c, double confidence);

/* How often chance makes as much of equal sides: either way; or, of sides whose contrast is no
 * more than 0, to this side. */
double contrast_p(const struct contrast *c);
double contrast_p_above(const struct contrast *c);

/* How many runs of each side it takes to find a change of that size four times in five, at a level
 * of 5 %; INFINITY: no number is enough. */
double contrast_runs(const struct contrast *c, const struct repeats *r, double change);

#endif
