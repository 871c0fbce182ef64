/* Differences of repeated measurements: published examples, and the coverage of intervals. */
#include "tap.h"

#include <math.h>

#include "analysis/repeats.h"

enum { MAX_RUNS = 20 };

static bool near(double got, double want, double by)
{
	if (fabs(got - want) <= by)
		return true;
	printf("# got %.17g, want %.17g\n", got, want);
	return false;
}

/* Student's own example (The Probable Error of a Mean, Biometrika 6, 1908): hours of sleep gained
 * by ten patients with either of two drugs. R: t.test(extra ~ group, sleep). */
static const double drug1[] = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0 };
static const double drug2[] = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4 };
static const double *const sleep_hours[] = { drug1, drug2 };
static const double none[] = { 0, 0 };

static void test_welch(void)
{
	struct repeats r = { .n = { 10, 10 } };
	struct contrast c = repeats_contrast(&r, sleep_hours, none, 1);
	OK(near(c.value, 1.58, 1e-12));
	OK(near(c.value / c.error, 1.8608, 1e-4));
	OK(near(c.degrees, 17.776, 1e-3));
	OK(near(contrast_p(&c), 0.07939, 1e-5));
	OK(near(c.value - contrast_margin(&c, 0.95), -0.2054832, 1e-6));
}

static void test_pairs(void)
{
	static const bool first[10] = { 0 };
	struct repeats r = { .n = { 10, 10 }, .paired = true, .first = first };
	struct contrast c = repeats_contrast(&r, sleep_hours, none, 1);
	OK(near(c.value / c.error, 4.0621, 1e-4));
	OK(c.degrees == 9);
	OK(near(contrast_p(&c), 0.002833, 1e-6));
	OK(near(contrast_p_above(&c), 0.002833 / 2, 1e-6));
	OK(near(contrast_margin(&c, 0.95), 0.8798862, 1e-6));
	OK(repeats_needed(&r, c.single, 1.58) == 7); /* R: power.t.test(): 6.9 */
}

/* A steady drift makes no difference in A B B A A B ..., and does not widen the interval. */
static void test_steady_drift(void)
{
	static const bool first[] = { 1, 0, 1, 0, 1, 0, 1, 0 };
	double before[8], after[8];
	for (int i = 0; i < 8; i++) {
		before[i] = 100 + 2 * i + (first[i] ? 0 : 1);
		after[i] = 100 + 2 * i + (first[i] ? 1 : 0);
	}
	struct repeats r = { .n = { 8, 8 }, .paired = true, .first = first };
	struct contrast c = repeats_contrast(&r, (const double *const[]){ before, after }, none, 1);
	OK(near(c.value, 0, 1e-12) && near(c.error, 0, 1e-12));
	OK(c.degrees == 6);
}

/* Runs that agree better than sampling lets them did so by chance. */
static void test_least(void)
{
	static const double same[] = { 5, 5, 5 }, more[] = { 6, 6, 6 };
	const double noise[] = { 3, 3 };
	struct repeats r = { .n = { 3, 3 } };
	struct contrast c = repeats_contrast(&r, (const double *const[]){ same, more }, noise, 1);
	OK(near(c.error, sqrt(2), 1e-12) && isinf(c.degrees));
	r.n[0] = r.n[1] = 1;
	c = repeats_contrast(&r, (const double *const[]){ same, more }, noise, 1);
	OK(near(c.error, sqrt(6), 1e-12) && isinf(c.degrees));
	OK(near(contrast_margin(&c, 0.95), 1.959963984 * sqrt(6), 1e-6));
	OK(contrast_p(&(struct contrast){ .degrees = 1 }) == 1);
	OK(contrast_p(&(struct contrast){ .value = 1, .degrees = 1 }) == 0);
}

/* A single run is as uncertain as the runs of the other side. */
static void test_single(void)
{
	static const double one[] = { 10 }, many[] = { 9, 10, 11, 12, 13 };
	struct repeats r = { .n = { 1, 5 } };
	struct contrast c = repeats_contrast(&r, (const double *const[]){ one, many }, none, 1);
	OK(near(c.error * c.error, 2.5 + 2.5 / 5, 1e-12));
	OK(c.degrees > 3.9 && c.degrees < 8);
}

/* E. C. Fieller's interval, in closed form where variances are known: the roots of
 * (24 - 10 x)^2 = z^2 (24 + 10 x^2). */
static void test_ratio(void)
{
	static const double ten[] = { 10 }, more[] = { 24 }, nothing[] = { 0 }, one[] = { 1 };
	const double *const values[] = { ten, more };
	struct repeats r = { .n = { 1, 1 } };
	struct ratio_interval x = repeats_ratio(&r, values, (const double[]){ 10, 24 }, 0.95);
	OK(near(x.low, 1.1894485, 1e-6) && near(x.high, 6.6046051, 1e-6));
	x = repeats_ratio(&r, values, none, 0.95);
	OK(near(x.low, 2.4, 1e-6) && near(x.high, 2.4, 1e-6));
	x = repeats_ratio(&r, (const double *const[]){ one, more }, (const double[]){ 1, 24 },
			  0.95);
	OK(x.low > 1 && isinf(x.high));
	x = repeats_ratio(&r, (const double *const[]){ ten, nothing }, (const double[]){ 10, 1 },
			  0.95);
	OK(x.low == 0 && near(x.high, 1.96 / sqrt(100 - 1.96 * 1.96 * 10), 1e-2));
}

/* ---- coverage: how often the truth is in the interval ---- */

static uint64_t state = 1;

static double uniform(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double gauss(void) { return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform()); }

struct machine { /* the machine's effect on a run of 100 units */
	double sampling, runs, walk, slope;
};

/* A B B A ...: the share of 4000 comparisons whose 95 % interval contains the truth. */
static double coverage(const struct machine *m, size_t n, double truth)
{
	size_t held = 0, all = 4000;
	for (size_t k = 0; k < all; k++) {
		double x[2][MAX_RUNS], drift = 0;
		bool first[MAX_RUNS];
		for (size_t i = 0; i < n; i++) {
			first[i] = i % 2 == 0;
			for (int turn = 0; turn < 2; turn++) {
				int side = turn ^ !first[i];
				drift += m->walk * gauss() + m->slope;
				x[side][i] = 100 + side * truth + drift + m->runs * gauss() +
					     m->sampling * gauss();
			}
		}
		double noise[] = { m->sampling * m->sampling, m->sampling * m->sampling };
		struct repeats r = { .n = { n, n }, .paired = true, .first = first };
		struct contrast c =
			repeats_contrast(&r, (const double *const[]){ x[0], x[1] }, noise, 1);
		held += fabs(c.value - truth) <= contrast_margin(&c, 0.95);
	}
	return (double)held / (double)all;
}

static void test_coverage(void)
{
	static const struct machine machines[] = {
		{ .sampling = 1 },
		{ .sampling = 1, .runs = 1 },
		{ .sampling = 0.2, .runs = 1 },
		{ .sampling = 0.5, .runs = 1, .walk = 2 },
		{ .sampling = 0.1, .runs = 0.5, .walk = 1, .slope = 3 },
	};
	static const size_t runs[] = { 3, 6, 10, 20 };
	for (size_t i = 0; i < ARRAY_LEN(machines); i++)
		for (size_t j = 0; j < ARRAY_LEN(runs); j++) {
			bool steep = runs[j] < 6 && machines[i].slope > 0;
			double c = coverage(&machines[i], runs[j], 5);
			printf("# machine %zu, %zu runs: %.1f %%\n", i, runs[j], 100 * c);
			OK(c > 0.93 && (steep || c < 0.985));
		}
}

/* The interval of the ratio agrees with the interval of the difference on whether there is a
 * change, also where the value before is small beside its spread. */
static void test_ratio_agrees(void)
{
	size_t held = 0, agree = 0, all = 4000;
	for (size_t k = 0; k < all; k++) {
		double x[2][6], truth = 0.5 + 2 * uniform(), spread = 1 + 4 * uniform();
		bool first[6], paired = k % 2;
		for (size_t i = 0; i < 6; i++) {
			double both = 2 * gauss();
			first[i] = i % 2 == 0;
			x[0][i] = fabs(10 + both + spread * gauss());
			x[1][i] = fabs(10 * truth + truth * both + spread * gauss());
		}
		struct repeats r = { .n = { 6, 6 }, .paired = paired, .first = first };
		const double *const values[] = { x[0], x[1] };
		struct contrast c = repeats_contrast(&r, values, none, 1);
		struct ratio_interval i = repeats_ratio(&r, values, none, 0.95);
		bool differs = fabs(c.value) > contrast_margin(&c, 0.95);
		agree += differs == (i.low > 1 || i.high < 1);
		held += i.low <= truth && truth <= i.high;
	}
	printf("# ratios: %.1f %%\n", 100 * (double)held / (double)all);
	OK(agree == all);
	OK(held > 0.93 * (double)all && held < 0.985 * (double)all);
}

int main(void)
{
	test_welch();
	test_pairs();
	test_steady_drift();
	test_least();
	test_single();
	test_ratio();
	test_coverage();
	test_ratio_agrees();
	return DONE();
}
