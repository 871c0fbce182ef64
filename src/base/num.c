/* num.c - prints integers and fixed-point numbers digit by digit. */
#include "base/num.h"

#include <stdio.h>
#include <string.h>

static const uint64_t powers[] = { 1, /* 10 to the power of the index */
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

static unsigned count_digits(uint64_t v)
{
	unsigned bits = 64 - (unsigned)__builtin_clzll(v | 1);
	unsigned n = bits * 1233 >> 12; /* the logarithm, or one less; 1233 / 4096 is log10(2) */
	return n + (!n || v >= powers[n]);
}

/* Whether v has more than n digits. */
static inline bool has_more_digits(uint64_t v, unsigned n)
{
	return n < ARRAY_LEN(powers) && v >= powers[n];
}

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
			    "25262728293031323334353637383940414243444546474849"
			    "50515253545556575859606162636465666768697071727374"
			    "75767778798081828384858687888990919293949596979899";

/* The digits of v, the last one before `end`: two at a time, half the divisions. */
static inline void put_before(char *end, uint64_t v)
{
	for (; v >= 100; v /= 100)
		memcpy(end -= 2, pairs + v % 100 * 2, 2);
	if (v >= 10)
		memcpy(end - 2, pairs + v * 2, 2);
	else
		end[-1] = (char)('0' + v);
}

/* Most fields are narrow: a vector of known size, of which the next field overwrites what is too
 * much. */
static inline void put_blanks(char *to, unsigned n)
{
	enum { NARROW = 16 };
	if (n <= NARROW)
		memset(to, ' ', NARROW);
	else
		memset(to, ' ', n);
}

char *num_put_u64(char *to, unsigned width, uint64_t v)
{
	char *end = to + (width && !has_more_digits(v, width) ? width : count_digits(v));

	put_blanks(to, width);
	put_before(end, v);
	return end;
}

char *num_put_left(char *to, unsigned width, uint64_t v)
{
	unsigned n = count_digits(v);

	put_blanks(to, width);
	put_before(to + n, v);
	return to + (n > width ? n : width);
}

enum {
	DECIMALS = 9,       /* at most, without printf */
	FEW_DECIMALS = 3,   /* a number times that power of ten fits 64 bits */
	WIDEST_SCALED = 84, /* more bits than any number times 10^DECIMALS has */
};

/* v * 10^decimals as printf rounds it; false if only printf can tell. v = mantissa * 2^-shift.
 * Scaled by a power of ten and cut to an integer, the bits cut off say exactly whether to round up:
 * ties go to even. */
static inline bool round_fixed(double v, unsigned decimals, uint64_t *ret)
{
	uint64_t bits;
	memcpy(&bits, &v, sizeof(bits));
	*ret = 0;
	if (decimals > DECIMALS)
		return false;
	if (!bits)
		return true;

	/* Whole numbers of 2^53 or more, subnormals, negatives and non-finite ones are rare. The
	 * product must fit 64 bits, too. */
	uint64_t mantissa = (bits & ((1ull << 52) - 1)) | 1ull << 52;
	int shift = 1075 - (int)(bits >> 52 & 0x7ff);
	if (bits >> 63 || shift <= 0 || bits >> 52 == 0)
		return false;

	if (decimals <= FEW_DECIMALS) {
		uint64_t scaled = mantissa * powers[decimals]; /* < 2^53 * 2^10 */
		if (shift < 64) {
			uint64_t rest = scaled & ((1ull << shift) - 1), half = 1ull << (shift - 1);
			uint64_t q = scaled >> shift;
			*ret = q + (rest > half || (rest == half && (q & 1)));
		} /* else scaled < 2^63 <= half: rounds to 0 */
		return true;
	}
	unsigned __int128 scaled = (unsigned __int128)mantissa * powers[decimals];
	if (shift >= WIDEST_SCALED)
		return true;
	unsigned __int128 one = 1, half = one << (shift - 1), rest = scaled & ((one << shift) - 1);
	unsigned __int128 q = scaled >> shift;
	*ret = (uint64_t)q + (rest > half || (rest == half && (q & 1)));
	return q < UINT64_MAX;
}

char *num_put_fixed(char *to, unsigned width, double v, unsigned decimals)
{
	uint64_t q;
	if (!round_fixed(v, decimals, &q))
		return to + sprintf(to, "%*.*f", (int)width, (int)decimals, v);
	if (!decimals)
		return num_put_u64(to, width, q);

	enum { SHORT = 4 }; /* "0.07": most are */
	if (q < 1000 && decimals == 2 && width >= SHORT) {
		char *text = to + width - SHORT;
		put_blanks(to, width);
		text[0] = (char)('0' + q / 100);
		text[1] = '.';
		memcpy(text + 2, pairs + q % 100 * 2, 2);
		return to + width;
	}
	unsigned point = 1 + decimals; /* and what is behind it */
	uint64_t whole = q / powers[decimals], rest = q % powers[decimals];
	char *end = num_put_u64(to, width > point ? width - point : 0, whole);
	put_before(end + point,
		   rest + powers[decimals]); /* with its zeros, and one digit where the point is */
	end[0] = '.';
	return end + point;
}

size_t num_u64(char *buf, uint64_t v)
{
	char *end = num_put_u64(buf, 0, v);
	*end = '\0';
	return (size_t)(end - buf);
}

size_t num_fixed(char *buf, double v, unsigned decimals)
{
	char *end = num_put_fixed(buf, 0, v, decimals);
	*end = '\0';
	return (size_t)(end - buf);
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
