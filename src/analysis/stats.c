/* stats.c - normal and Student's distribution, Holm's correction, numbers of observations. */
#include "analysis/stats.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"

enum { MANY = 2000 }; /* degrees of freedom, or number of values */

double stats_normal(double z) { return erfc(-z / sqrt(2)) / 2; }

/* The continued fraction of the incomplete beta function (Abramowitz and Stegun, 26.5.8), by Lentz'
 * method. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);
	d = 1 / (fabs(d) < tiny ? tiny : d);
	double h = d;
	for (int m = 1; m <= 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step = 1;
		for (int i = 0; i < 2; i++) {
			double k = i ? odd : even;
			d = 1 + k * d;
			c = 1 + k / c;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = fabs(c) < tiny ? tiny : c;
			step = c * d;
			h *= step;
		}
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return h;
}

/* The regularised incomplete beta function I_x(a, b). */
static double beta(double a, double b, double x)
{
	if (x <= 0 || x >= 1)
		return x > 0;
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* From so many degrees of freedom on the difference is negligible, and the sums above lose
 * digits. */
static bool is_normal(double degrees) { return degrees > 1e6; }

double stats_t_two_sided(double t, double degrees)
{
	if (is_normal(degrees))
		return erfc(fabs(t) / sqrt(2));
	return isinf(t) ? 0 : beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double stats_t(double t, double degrees)
{
	double tail = stats_t_two_sided(t, degrees) / 2;
	return t > 0 ? 1 - tail : tail;
}

/* Fisher's expansion of the quantile (Abramowitz and Stegun, 26.7.5), exact to ten digits from MANY
 * degrees on. */
static double nearly_normal(double z, double degrees)
{
	double z2 = z * z, first = z * (z2 + 1) / 4;
	double second = z * ((5 * z2 + 16) * z2 + 3) / 96;
	double third = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
	return z + (first + (second + third / degrees) / degrees) / degrees;
}

/* Both distributions are symmetric. The search is in the tail of the upper half, whose probability
 * keeps all its digits however small it is. */
double stats_t_quantile(double p, double degrees)
{
	if (degrees > MANY && isfinite(degrees))
		return nearly_normal(stats_normal_quantile(p), degrees);
	double tail = 2 * (p < 0.5 ? p : 1 - p), low = 0, high = 1;
	while (stats_t_two_sided(high, degrees) > tail && high < 1e200)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-14 * high; i++) {
		double middle = low + (high - low) / 2;
		*(stats_t_two_sided(middle, degrees) > tail ? &low : &high) = middle;
	}
	double t = low + (high - low) / 2;
	return p < 0.5 ? -t : t;
}

double stats_normal_quantile(double p) { return stats_t_quantile(p, INFINITY); }

struct test {
	double p;
	size_t index;
};

static int compare(const void *pa, const void *pb)
{
	const struct test *a = pa, *b = pb;
	if (a->p != b->p)
		return a->p < b->p ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

void stats_holm(double *p, size_t n)
{
	struct test *order = xrealloc(NULL, n, sizeof(*order));
	double least = 0;
	for (size_t i = 0; i < n; i++)
		order[i] = (struct test){ p[i], i };
	if (n)
		qsort(order, n, sizeof(*order), compare);
	for (size_t i = 0; i < n; i++) {
		double adjusted = order[i].p * (double)(n - i);
		least = adjusted > least ? adjusted : least;
		p[order[i].index] = least < 1 ? least : 1;
	}
	free(order);
}

/* The usual approximation of the noncentral t: the sum of both quantiles of Student's t. */
double stats_needed(double effect, double level, double power, double lost)
{
	effect = fabs(effect);
	double z = stats_normal_quantile(1 - level / 2) + stats_normal_quantile(power);
	double n = z * z / (effect * effect);
	if (!(n < 1e12))
		return INFINITY;
	if (n > MANY) /* Student's t then adds the same amount for all numbers */
		return ceil(n + stats_normal_quantile(1 - level / 2) *
					stats_normal_quantile(1 - level / 2) / 2);
	for (int i = 0; i < 50; i++) {
		double degrees = n - lost > 1 ? n - lost : 1;
		double t =
			stats_t_quantile(1 - level / 2, degrees) + stats_t_quantile(power, degrees);
		double next = t * t / (effect * effect);
		next = next > lost + 1 ? next : lost + 1;
		bool settled = fabs(next - n) < 1e-3 * n;
		n = settled ? next : (n + next) / 2;
		if (settled)
			break;
	}
	return ceil(n);
}
