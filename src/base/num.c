/* num.c - prints integers and fixed-point numbers, eight digits at a time. */
#include "base/num.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

static const uint64_t powers[] = { 1, /* 10 to the power of the index */
				   10,      100,      1000,      10000,     100000,
				   1000000, 10000000, 100000000, 1000000000 };

enum { WORD = 8, WORD_LIMIT = 100000000, BYTE = 8 }; /* digits; 10^digits; bits of one */

/* The last eight digits of a number, one in each byte, the first one lowest: two halves of four
 * digits, each divided by 100, and the results by 10, all at once. q | (x - q * d) << n, which puts
 * a quotient before its remainder, is (x << n) - q * ((d << n) - 1). */
static inline uint64_t digits_of(uint32_t v)
{
	uint64_t fours = ((uint64_t)v << 32) - v / 10000 * ((10000ull << 32) - 1);
	uint64_t twos =
		(fours << 16) - (fours * 10486 >> 20 & 0x0000007f0000007f) * ((100 << 16) - 1);
	return (twos << 8) - (twos * 103 >> 10 & 0x000f000f000f000f) * ((10 << 8) - 1);
}

/* The bits of the leading zeros among eight digits: of seven less `shown` at most. */
static inline unsigned zeros_of(uint64_t digits, unsigned shown)
{
	return (unsigned)__builtin_ctzll(digits | (uint64_t)1 << (WORD - 1 - shown) * BYTE) &
	       ~(BYTE - 1u);
}

static inline void put_digits(char *to, uint64_t digits)
{
	uint64_t text = htole64(digits | 0x3030303030303030);
	memcpy(to, &text, WORD);
}

/* Writes blanks in pieces of known size: the next field overwrites the excess. */
static inline void put_blanks(char *to, unsigned n)
{
	enum { PIECE = 16 };
	memset(to, ' ', PIECE);
	for (unsigned i = PIECE; i < n; i += PIECE)
		memset(to + i, ' ', PIECE);
}

static inline unsigned less(unsigned a, unsigned b) { return a > b ? a - b : 0; }

/* Pieces of eight digits; the first one has no zeros in front. */
static __attribute__((noinline)) char *put_many(char *to, unsigned width, uint64_t v)
{
	to = num_put_u64(to, less(width, WORD), v / WORD_LIMIT);
	put_digits(to, digits_of((uint32_t)(v % WORD_LIMIT)));
	return to + WORD;
}

char *num_put_u64(char *to, unsigned width, uint64_t v)
{
	if (v >= WORD_LIMIT)
		return put_many(to, width, v);

	uint64_t digits = digits_of((uint32_t)v);
	unsigned zeros = zeros_of(digits, 0), n = WORD - zeros / BYTE, blanks = less(width, n);
	put_blanks(to, width);
	put_digits(to + blanks, digits >> zeros);
	return to + blanks + n;
}

char *num_put_left(char *to, unsigned width, uint64_t v)
{
	char *end = num_put_u64(to, 0, v);
	unsigned n = (unsigned)(end - to);

	put_blanks(end, less(width, n));
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

	unsigned point = 1 + decimals; /* characters: the point and the decimals */
	if (q >= WORD_LIMIT || decimals >= WORD) {
		char *end = num_put_u64(to, less(width, point), q / powers[decimals]);
		/* with leading zeros, and one digit in the place of the point */
		num_put_u64(end, 0, q % powers[decimals] + powers[decimals]);
		*end = '.';
		return end + point;
	}
	uint64_t digits = digits_of((uint32_t)q);
	unsigned zeros = zeros_of(digits, decimals), n = WORD - zeros / BYTE - decimals;
	unsigned blanks = less(width, n + point);
	put_blanks(to, width);
	to += blanks;
	put_digits(to, digits >> zeros);
	to[n] = '.';
	put_digits(to + n + 1, digits >> (zeros + n * BYTE));
	return to + n + point;
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
