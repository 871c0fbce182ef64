#include "base/num.h"

#include <stdio.h>
#include <string.h>

size_t num_u64(char *buf, uint64_t v)
{
	char digits[20];
	size_t n = 0;
	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	for (size_t i = 0; i < n; i++)
		buf[i] = digits[n - 1 - i];
	buf[n] = '\0';
	return n;
}

/* v = mantissa * 2^-shift. Scaled by a power of ten and cut to an integer, the bits cut off say
 * exactly whether to round up: ties go to even, as in printf. */
size_t num_fixed(char *buf, double v, unsigned decimals)
{
	static const uint32_t powers[] = { 1, 10, 100, 1000, 10000, 100000, 1000000 };
	uint64_t bits;
	memcpy(&bits, &v, sizeof(bits));
	uint64_t mantissa = (bits & ((1ull << 52) - 1)) | 1ull << 52;
	int shift = 1075 - (int)(bits >> 52 & 0x7ff);

	/* Whole numbers of 2^53 or more, subnormals, negatives and non-finite ones are rare. The
	 * product must fit 64 bits, too. */
	if (bits == 0)
		mantissa = 0;
	else if (bits >> 63 || shift <= 0 || bits >> 52 == 0 || decimals > 3)
		return (size_t)sprintf(buf, "%.*f", (int)decimals, v);

	uint64_t scaled = mantissa * powers[decimals]; /* < 2^53 * 2^10 */
	uint64_t q = 0;
	if (shift < 64) {
		uint64_t rest = scaled & ((1ull << shift) - 1), half = 1ull << (shift - 1);
		q = scaled >> shift;
		q += rest > half || (rest == half && (q & 1));
	} /* else scaled < 2^63 <= half: rounds to 0 */

	size_t n = num_u64(buf, q / powers[decimals]);
	if (!decimals)
		return n;
	buf[n++] = '.';
	uint64_t fraction = q % powers[decimals];
	for (unsigned i = decimals; i-- > 0; fraction /= 10)
		buf[n + i] = (char)('0' + fraction % 10);
	n += decimals;
	buf[n] = '\0';
	return n;
}
