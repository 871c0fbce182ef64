#include "base/num.h"

#include <stdio.h>
#include <string.h>

static size_t count_digits(uint64_t v)
{
	size_t n = 1;
	for (uint64_t power = 10; v >= power; power *= 10)
		if (++n == 20) /* the next power does not fit */
			break;
	return n;
}

struct num num_of_u64(uint64_t v) { return (struct num){ .digits = v, .length = count_digits(v) }; }

/* v = mantissa * 2^-shift. Scaled by a power of ten and cut to an integer, the bits cut off say
 * exactly whether to round up: ties go to even, as in printf. */
bool num_of_fixed(double v, unsigned decimals, struct num *ret)
{
	static const uint32_t powers[] = { 1, 10, 100, 1000 };
	uint64_t bits;
	memcpy(&bits, &v, sizeof(bits));
	uint64_t mantissa = (bits & ((1ull << 52) - 1)) | 1ull << 52;
	int shift = 1075 - (int)(bits >> 52 & 0x7ff);

	/* Whole numbers of 2^53 or more, subnormals, negatives and non-finite ones are rare. The
	 * product must fit 64 bits, too. */
	if (decimals > 3 || (bits && (bits >> 63 || shift <= 0 || bits >> 52 == 0)))
		return false;
	if (bits == 0)
		mantissa = 0;

	uint64_t scaled = mantissa * powers[decimals]; /* < 2^53 * 2^10 */
	uint64_t q = 0;
	if (shift < 64) {
		uint64_t rest = scaled & ((1ull << shift) - 1), half = 1ull << (shift - 1);
		q = scaled >> shift;
		q += rest > half || (rest == half && (q & 1));
	} /* else scaled < 2^63 <= half: rounds to 0 */

	size_t n = count_digits(q);
	n = n > decimals ? n : decimals + (size_t)1; /* "0.07" */
	*ret = (struct num){ .digits = q, .decimals = decimals, .length = n + (decimals > 0) };
	return true;
}

void num_put(char *to, const struct num *n)
{
	char *p = to + n->length;
	uint64_t v = n->digits;

	for (unsigned i = 0; i < n->decimals; i++, v /= 10)
		*--p = (char)('0' + v % 10);
	if (n->decimals)
		*--p = '.';
	while (p > to) {
		*--p = (char)('0' + v % 10);
		v /= 10;
	}
}

static size_t put_text(char *buf, const struct num *n)
{
	num_put(buf, n);
	buf[n->length] = '\0';
	return n->length;
}

size_t num_u64(char *buf, uint64_t v)
{
	struct num n = num_of_u64(v);
	return put_text(buf, &n);
}

size_t num_fixed(char *buf, double v, unsigned decimals)
{
	struct num n;
	if (!num_of_fixed(v, decimals, &n))
		return (size_t)sprintf(buf, "%.*f", (int)decimals, v);
	return put_text(buf, &n);
}
