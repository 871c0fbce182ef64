/* stats.h - distributions and tests: what chance explains, and what it does not.
 *
 * Nothing here knows what was measured. repeats.h asks these questions of runs. */
#ifndef ANALYSIS_STATS_H
#define ANALYSIS_STATS_H

#include "base/base.h"

/* The share of a standard normal distribution below z, and the z below which the share p (0..1,
 * both excluded) is. */
double stats_normal(double z);
double stats_normal_quantile(double p);

/* The same of Student's t. `degrees` of freedom need not be whole; INFINITY is the normal
 * distribution. > 0. */
double stats_t(double t, double degrees);
double stats_t_quantile(double p, double degrees);

/* How often chance alone makes |t| as large as that: both tails. */
double stats_t_two_sided(double t, double degrees);

/* Holm's step-down correction (S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure",
 * Scand. J. Statist. 6, 1979): p[i] becomes the smallest level at which test i of these n rejects
 * when all n together are to be wrong no more often than that level. */
void stats_holm(double *p, size_t n);

/* How many observations a t test with the two-sided `level` needs to find a difference of `effect`
 * standard deviations of one of them with probability `power`. `lost`: degrees of freedom that the
 * model takes, 1 for a mean. Infinite for an effect of 0. */
double stats_needed(double effect, double level, double power, double lost);

#endif
