/* repeats.c - differences of repeated measurements: by pairs, or by Welch's t test.
 *
 * A variance is the larger of two: the one measured from the values (with few degrees of freedom),
 * and the least that sampling causes (which is known, so it has infinitely many). The degrees of
 * freedom of the result are Satterthwaite's: a part that is known loses none. The 95 % intervals
 * cover between 93 and 98 % for any ratio of the two, from 2 degrees of freedom on.
 *
 * The interval of a ratio is E. C. Fieller's (Some Problems in Interval Estimation, J. R. Stat.
 * Soc. B 16, 1954): its ends are the ratios at which the result of a test changes. */
#include "analysis/repeats.h"

#include <math.h>

#include "analysis/stats.h"

/* From this number of pairs on, their order is part of the model. */
enum { PAIRS_WITH_ORDER = 6 };
/* Fewer degrees of freedom say little. */
enum { FEW = 3 };

static double mean(const double *x, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

/* The variance of one value, not of the mean; NAN if there is but one. */
static double variance(const double *x, size_t n)
{
	double m = mean(x, n), squares = 0;
	for (size_t i = 0; i < n; i++)
		squares += (x[i] - m) * (x[i] - m);
	return n > 1 ? squares / (double)(n - 1) : NAN;
}

/* The larger variance: `least` is known; `measured` is an estimate with *degrees of freedom. If the
 * known variance explains all, it is used, with infinitely many degrees. An estimate from very few
 * values says little against a larger variance, so its degrees of freedom remain limited. */
static double larger(double measured, double least, double *degrees)
{
	if (!(measured < least))
		return measured;
	double ratio = measured > 0 ? least / measured : INFINITY;
	*degrees = *degrees < FEW ? *degrees * ratio * ratio : INFINITY;
	return least;
}

/* ---- by pairs ---- */

/* Degrees of freedom that pairs lose: one for the mean. If there are enough pairs, another one for
 * the effect of being measured first, or of a steady drift. */
static size_t lost_by_pairs(const struct repeats *r)
{
	size_t n = r->n[REPEATS_BEFORE], first = 0;
	for (size_t i = 0; i < n; i++)
		first += r->first[i];
	return n >= PAIRS_WITH_ORDER && first && first < n ? 2 : 1;
}

/* The variance of the differences around their mean; around one mean per order, if order is in the
 * model. */
static double variance_of_pairs(const struct repeats *r, const double *const values[REPEATS_SIDES],
				double factor, size_t lost)
{
	const double *before = values[REPEATS_BEFORE], *after = values[REPEATS_AFTER];
	size_t n = r->n[REPEATS_BEFORE], of[2] = { 0 };
	double sum[2] = { 0 }, squares = 0;
	for (size_t i = 0; i < n; i++) {
		bool group = lost > 1 && r->first[i];
		sum[group] += after[i] - factor * before[i];
		of[group]++;
	}
	for (size_t i = 0; i < n; i++) {
		bool group = lost > 1 && r->first[i];
		double d = after[i] - factor * before[i] - sum[group] / (double)of[group];
		squares += d * d;
	}
	return squares / (double)(n - lost);
}

static struct contrast by_pairs(const struct repeats *r, const double *const values[REPEATS_SIDES],
				const double noise[REPEATS_SIDES], double factor)
{
	size_t n = r->n[REPEATS_BEFORE], lost = lost_by_pairs(r);
	struct contrast c = { .degrees = (double)(n - lost) };
	double least = noise[REPEATS_AFTER] + factor * factor * noise[REPEATS_BEFORE];
	double single = larger(variance_of_pairs(r, values, factor, lost), least, &c.degrees);
	c.error = sqrt(single / (double)n);
	c.single = sqrt(single);
	return c;
}

/* ---- by two sets ---- */

/* Adds one side's mean, times its factor, to the sums of Welch and Satterthwaite. */
static void add_side(const struct repeats *r, int side, double spread, size_t spread_of,
		     double noise, double factor, struct contrast *c, double *lost)
{
	double n = (double)r->n[side], degrees = (double)spread_of - 1;
	double single = larger(spread, noise, &degrees);
	/* Another stretch of time differs as runs do, apart from their sampling error. */
	double between = r->together[side] ? single - noise : 0;
	double share = factor * factor * (single / n + between);
	c->error += share;
	c->single += factor * factor * single;
	*lost += isfinite(degrees) ? share * share / degrees : 0;
}

static struct contrast by_sets(const struct repeats *r, const double *const values[REPEATS_SIDES],
			       const double noise[REPEATS_SIDES], double factor)
{
	struct contrast c = { .degrees = INFINITY };
	double spread[REPEATS_SIDES], lost = 0;
	for (int i = 0; i < REPEATS_SIDES; i++)
		spread[i] = variance(values[i], r->n[i]);
	for (int i = 0; i < REPEATS_SIDES; i++) {
		/* A side with one run is taken to vary like the other one. */
		int of = isnan(spread[i]) ? !i : i;
		bool any = !isnan(spread[of]);
		add_side(r, i, any ? spread[of] : 0, any ? r->n[of] : 2, noise[i],
			 i == REPEATS_BEFORE ? factor : 1, &c, &lost);
	}
	if (lost > 0)
		c.degrees = c.error * c.error / lost;
	c.error = sqrt(c.error);
	c.single = sqrt(c.single);
	return c;
}

struct contrast repeats_contrast(const struct repeats *r, const double *const values[REPEATS_SIDES],
				 const double noise[REPEATS_SIDES], double factor)
{
	bool paired = r->paired && r->n[REPEATS_BEFORE] > 1;
	struct contrast c =
		paired ? by_pairs(r, values, noise, factor) : by_sets(r, values, noise, factor);
	c.value = mean(values[REPEATS_AFTER], r->n[REPEATS_AFTER]) -
		  factor * mean(values[REPEATS_BEFORE], r->n[REPEATS_BEFORE]);
	return c;
}

/* ---- derived values ---- */

double contrast_margin(const struct contrast *c, double confidence)
{
	return c->error > 0 ? stats_t_quantile((1 + confidence) / 2, c->degrees) * c->error : 0;
}

static double deviations(const struct contrast *c)
{
	if (c->error > 0)
		return c->value / c->error;
	return c->value > 0 ? INFINITY : c->value < 0 ? -INFINITY : 0;
}

double contrast_p(const struct contrast *c) { return stats_t_two_sided(deviations(c), c->degrees); }

double contrast_p_above(const struct contrast *c)
{
	double t = deviations(c), both = stats_t_two_sided(t, c->degrees);
	return t > 0 ? both / 2 : 1 - both / 2;
}

/* ---- the interval of a ratio ---- */

struct ratio_test {
	const struct repeats *r;
	const double *const *values;
	const double *noise;
	double level;
};

static bool may_be(const struct ratio_test *t, double ratio)
{
	struct contrast c = repeats_contrast(t->r, t->values, t->noise, ratio);
	return contrast_p(&c) > t->level;
}

/* The end of the interval between a ratio that may be and one that may not. */
static double end_between(const struct ratio_test *t, double may, double may_not)
{
	for (int i = 0; i < 60 && fabs(may - may_not) > 1e-9 * (may + may_not); i++) {
		double middle = may + (may_not - may) / 2;
		*(may_be(t, middle) ? &may : &may_not) = middle;
	}
	return may;
}

/* The search does not cross 1 if the ratio 1 may not be: if `before` may be 0, possible ratios can
 * lie on both sides of impossible ones. */
struct ratio_interval repeats_ratio(const struct repeats *r,
				    const double *const values[REPEATS_SIDES],
				    const double noise[REPEATS_SIDES], double confidence)
{
	const double beyond = 1e9;
	struct ratio_test t = { r, values, noise, 1 - confidence };
	double best = mean(values[REPEATS_AFTER], r->n[REPEATS_AFTER]) /
		      mean(values[REPEATS_BEFORE], r->n[REPEATS_BEFORE]);
	bool one = may_be(&t, 1);
	double low = best > 1 && !one ? 1 : 0;
	double high = best < 1 && !one ? 1 : 2 * (best > 1 ? best : 1);
	while (high < beyond && may_be(&t, high))
		high *= 2;
	return (struct ratio_interval){
		.low = low > 0 || !may_be(&t, 0) ? end_between(&t, best, low) : 0,
		.high = high < beyond ? end_between(&t, best, high) : INFINITY,
	};
}

double repeats_needed(const struct repeats *r, double single, double change)
{
	double lost = r->paired ? (double)lost_by_pairs(r) : 1;
	return single > 0 ? stats_needed(change / single, 0.05, 0.8, lost) : 2;
}
