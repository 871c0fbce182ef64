/* num.c - prints integers and fixed-point numbers digit by digit. */
#include "base/num.h"

#include <stdio.h>
#include <string.h>

static size_t count_digits(uint64_t v)
{
	static const uint64_t powers[] = { 0, /* so that 0 has a digit */
					   10,
					   100,
					   1000,
					   10000,
					   100000,
					   1000000,
					   10000000,
					   100000000,
					   1000000000,
					   10000000000,
					   100000000000,
					   1000000000000,
					   10000000000000,
					   100000000000000,
					   1000000000000000,
					   10000000000000000,
					   100000000000000000,
					   1000000000000000000,
					   10000000000000000000u };
	unsigned bits = 64 - (unsigned)__builtin_clzll(v | 1);
	unsigned n = bits * 1233 >> 12; /* the logarithm, or one less; 1233 / 4096 is log10(2) */
	return n + (v >= powers[n]);
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

/* The last n digits of v; returns what is left of it. Two at a time: half the divisions. */
static uint64_t put_digits(char *to, size_t n, uint64_t v)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";

	for (; n >= 2; n -= 2, v /= 100)
		memcpy(to + n - 2, pairs + v % 100 * 2, 2);
	if (n) {
		to[0] = (char)('0' + v % 10);
		v /= 10;
	}
	return v;
}

void num_put(char *to, const struct num *n)
{
	if (!n->decimals) {
		put_digits(to, n->length, n->digits);
		return;
	}
	size_t whole = n->length - n->decimals - 1;
	uint64_t v = put_digits(to + whole + 1, n->decimals, n->digits);
	to[whole] = '.';
	put_digits(to, whole, v);
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

size_t num_hex(char *to, const void *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *b = bytes;

	for (size_t i = 0; i < n; i++) {
		to[2 * i] = digits[b[i] >> 4];
		to[2 * i + 1] = digits[b[i] & 15];
	}
	to[2 * n] = '\0';
	return 2 * n;
}
