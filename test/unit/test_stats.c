/* Distributions, Holm's correction and numbers of runs, against published values. */
#include "tap.h"

#include <math.h>

#include "analysis/stats.h"

static bool near(double got, double want, double by)
{
	if (fabs(got - want) <= by)
		return true;
	printf("# got %.17g, want %.17g\n", got, want);
	return false;
}

static void test_normal(void)
{
	OK(near(stats_normal(0), 0.5, 1e-15));
	OK(near(stats_normal(1.959963984540054), 0.975, 1e-12));
	OK(near(stats_normal_quantile(0.975), 1.959963984540054, 1e-10));
	OK(near(stats_normal_quantile(0.8), 0.8416212335729143, 1e-10));
	OK(near(stats_normal_quantile(0.0005), -3.290526731491926, 1e-9));
}

/* The table in every textbook. */
static void test_student(void)
{
	static const double table[][3] = {
		{ 0.975, 1, 12.706204736 }, { 0.975, 2, 4.302652730 },  { 0.975, 3, 3.182446305 },
		{ 0.975, 9, 2.262157163 },  { 0.975, 30, 2.042272456 }, { 0.975, 120, 1.979930405 },
		{ 0.95, 5, 2.015048373 },   { 0.995, 10, 3.169272673 }, { 0.9995, 4, 8.610301581 },
	};
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		OK(near(stats_t_quantile(table[i][0], table[i][1]), table[i][2], 1e-8));
		OK(near(stats_t(table[i][2], table[i][1]), table[i][0], 1e-10));
	}
	OK(near(stats_t_quantile(0.025, 9), -2.262157163, 1e-8));
	OK(near(stats_t_quantile(0.975, INFINITY), 1.959963984540054, 1e-10));
	OK(near(stats_t_quantile(0.975, 1e5), 1.95998777, 1e-7));
	/* Where the one way of computing it gives way to the other. */
	OK(near(stats_t(stats_t_quantile(0.975, 2001), 2001), 0.975, 1e-12));
	OK(near(stats_t(stats_t_quantile(0.99999, 2001), 2001), 0.99999, 1e-12));
	/* Cauchy's distribution. */
	OK(near(stats_t(1, 1), 0.75, 1e-12) && near(stats_t(-1, 1), 0.25, 1e-12));
	OK(near(stats_t_two_sided(2.262157163, 9), 0.05, 1e-10));
	OK(stats_t_two_sided(0, 4) == 1 && stats_t_two_sided(INFINITY, 4) == 0);
	/* Of few degrees the tail is long, and has its digits: 1/pi * atan. */
	OK(near(stats_t_two_sided(1e6, 1) * 1e6, 0.6366197723675814, 1e-9));
}

/* R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") */
static void test_holm(void)
{
	double p[] = { 0.01, 0.04, 0.03, 0.005 }, one[] = { 0.2 }, large[] = { 0.9, 0.8 };
	stats_holm(p, ARRAY_LEN(p));
	OK(near(p[0], 0.03, 1e-15) && near(p[1], 0.06, 1e-15));
	OK(near(p[2], 0.06, 1e-15) && near(p[3], 0.02, 1e-15));
	stats_holm(one, 1);
	OK(one[0] == 0.2);
	stats_holm(large, 2);
	OK(large[0] == 1 && large[1] == 1);
	stats_holm(NULL, 0);
}

/* R: power.t.test(delta = 0.5, sd = 1, power = 0.8, type = "one.sample") has n = 33.37, of
 * delta = 1: 9.94, of delta = 0.2: 198.15. */
static void test_needed(void)
{
	OK(stats_needed(0.5, 0.05, 0.8, 1) == 34);
	OK(stats_needed(-0.5, 0.05, 0.8, 1) == 34);
	OK(stats_needed(1, 0.05, 0.8, 1) == 10);
	OK(stats_needed(0.2, 0.05, 0.8, 1) == 199);
	OK(stats_needed(100, 0.05, 0.8, 1) >= 2 && stats_needed(100, 0.05, 0.8, 1) <= 3);
	OK(near(stats_needed(0.0626, 0.05, 0.8, 1), stats_needed(0.0627, 0.05, 0.8, 1), 8));
	/* z^2 / 0.03^2 is 8720.98, and 1.96^2 / 2 more are needed for that s is measured, too. */
	OK(stats_needed(0.03, 0.05, 0.8, 1) == 8723);
	OK(isinf(stats_needed(0, 0.05, 0.8, 1)));
}

int main(void)
{
	test_normal();
	test_student();
	test_holm();
	test_needed();
	return DONE();
}
