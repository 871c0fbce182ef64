#include "tap.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/num.h"

/* Every double must come out as printf writes it: that is the whole promise. */
static int field_differs(double v, unsigned decimals, unsigned width)
{
	char got[NUM_MAX + 32], want[NUM_MAX + 32];
	*num_put_fixed(got, width, v, decimals) = '\0';
	snprintf(want, sizeof(want), "%*.*f", (int)width, (int)decimals, v);
	if (!strcmp(got, want))
		return 0;
	printf("# %a with %u decimals, %u wide: got '%s', want '%s'\n", v, decimals, width, got,
	       want);
	return 1;
}

static int differs(double v, unsigned decimals)
{
	for (unsigned width = 0; width <= 20; width += 5)
		if (field_differs(v, decimals, width))
			return 1;

	char got[NUM_MAX], want[NUM_MAX];
	size_t n = num_fixed(got, v, decimals);
	snprintf(want, sizeof(want), "%.*f", (int)decimals, v);
	if (!strcmp(got, want) && n == strlen(want))
		return 0;
	printf("# %a with %u decimals: got %s, want %s\n", v, decimals, got, want);
	return 1;
}

int main(void)
{
	static const double special[] = { 0,
					  -0.0,
					  0.005,
					  0.015,
					  0.125,
					  0.375,
					  0.5,
					  1.5,
					  2.5,
					  99.995,
					  1e15,
					  18446744073.709550,
					  18446744073.709554,
					  18446744073.8,
					  1.0000000005,
					  0.0009765625,
					  4503599627370495.5,
					  9007199254740993.0,
					  1e22,
					  1e300,
					  DBL_MAX,
					  DBL_MIN,
					  5e-324,
					  -1.005,
					  INFINITY,
					  -INFINITY,
					  NAN };
	int bad = 0;
	for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++)
		for (unsigned d = 0; d <= 9; d++)
			bad += differs(special[i], d);
	OK(bad == 0);

	srand(1);
	for (int i = 0; i < 300000; i++) {
		double v = ldexp(rand() + rand() / 2147483648.0, rand() % 100 - 80);
		bad += differs(v, (unsigned)(i % 10));
		bad += differs((rand() % 100000) / 200.0, 2); /* ties, and near misses */
	}
	OK(bad == 0);

	char buf[NUM_MAX];
	OK(num_u64(buf, UINT64_MAX) == 20);
	OK_STR(buf, "18446744073709551615");

	for (uint64_t power = 1; power <= UINT64_MAX / 10; power *= 10) {
		const uint64_t near[] = { power - 1, power, power + 1 };
		for (size_t i = 0; i < sizeof(near) / sizeof(*near); i++) {
			char want[NUM_MAX];
			int n = snprintf(want, sizeof(want), "%" PRIu64, near[i]);
			bad += num_u64(buf, near[i]) != (size_t)n || strcmp(buf, want);
			for (int width = 0; width < 24; width++) {
				*num_put_u64(buf, (unsigned)width, near[i]) = '\0';
				snprintf(want, sizeof(want), "%*" PRIu64, width, near[i]);
				bad += strcmp(buf, want) != 0;
				*num_put_left(buf, (unsigned)width, near[i]) = '\0';
				snprintf(want, sizeof(want), "%-*" PRIu64, width, near[i]);
				bad += strcmp(buf, want) != 0;
			}
		}
	}
	OK(bad == 0);
	return DONE();
}
