/* stats.h - distributions and statistical tests.
 *
 * Independent of what was measured; repeats.h applies them to runs. */
#ifndef ANALYSIS_STATS_H
#define ANALYSIS_STATS_H

#include "base/base.h"

/* The probability of a standard normal distribution below z; and the z for a probability p (0..1,
 * both excluded). */
double stats_normal(double z);
double stats_normal_quantile(double p);

/* The same for Student's t. `degrees` of freedom, > 0, need not be whole; INFINITY is the normal
 * distribution. */
double stats_t(double t, double degrees);
double stats_t_quantile(double p, double degrees);

/* The probability of |t| or more by chance: both tails. */
double stats_t_two_sided(double t, double degrees);

/* Holm's step-down correction (S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure",
 * Scand. J. Statist. 6, 1979). p[i] becomes the smallest level at which test i rejects, if all n
 * tests together may be wrong no more often than that level. */
void stats_holm(double *p, size_t n);

/* The number of observations with which a t test at the two-sided `level` finds a difference of
 * `effect` standard deviations of one observation with probability `power`. `lost`: degrees of
 * freedom used by the model, 1 for a mean. Infinite for an effect of 0. */
double stats_needed(double effect, double level, double power, double lost);

#endif
