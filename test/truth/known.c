/* Fifteen functions of known cost, 1 : 2 : 3 ... : 15; the last one takes PERCENT more.
 *
 *	known [PERCENT [MILLISECONDS]] */
#include <stdint.h>
#include <stdlib.h>

static void spin(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		__asm__ volatile("");
}

#define FUNCTION(n)                                                                                \
	__attribute__((noinline)) static void f##n(uint64_t unit)                                  \
	{                                                                                          \
		spin(unit *(n));                                                                   \
		__asm__ volatile("");                                                              \
	}
/* clang-format off */
FUNCTION(1) FUNCTION(2) FUNCTION(3) FUNCTION(4) FUNCTION(5) FUNCTION(6) FUNCTION(7) FUNCTION(8)
FUNCTION(9) FUNCTION(10) FUNCTION(11) FUNCTION(12) FUNCTION(13) FUNCTION(14) FUNCTION(15)
	/* clang-format on */

	int main(int argc, char **argv)
{
	double more = argc > 1 ? 1 + atof(argv[1]) / 100 : 1;
	double ms = argc > 2 ? atof(argv[2]) : 200;
	uint64_t rounds = 10, unit = (uint64_t)(ms * 2e6 / 120 / (double)rounds);
	for (uint64_t i = 0; i < rounds; i++) {
		f1(unit), f2(unit), f3(unit), f4(unit), f5(unit);
		f6(unit), f7(unit), f8(unit), f9(unit), f10(unit);
		f11(unit), f12(unit), f13(unit), f14(unit);
		f15((uint64_t)((double)unit * more));
	}
	return 0;
}
