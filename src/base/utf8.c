/* utf8.c - decodes a character, and says how wide it is on a terminal. */
#include "base/utf8.h"

size_t utf8_decode(const unsigned char *s, uint32_t *ret)
{
	if (s[0] < 0x80) {
		*ret = s[0];
		return 1;
	}
	size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	if (!n || s[0] > 0xf4)
		return 0;
	uint32_t c = s[0] & (0xff >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret = c;
	return n;
}

bool utf8_is_formatting(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
	       (c >= 0xe0000 && c <= 0xe007f) || (c & 0xfffe) == 0xfffe;
}

unsigned utf8_width(uint32_t c)
{
	/* East Asian wide and fullwidth blocks, coarse (Unicode UAX #11). */
	static const uint32_t wide[][2] = { { 0x1100, 0x115f },  { 0x2e80, 0xa4cf },
					    { 0xac00, 0xd7a3 },  { 0xf900, 0xfaff },
					    { 0xfe30, 0xfe6f },  { 0xff00, 0xff60 },
					    { 0xffe0, 0xffe6 },  { 0x1f300, 0x1faff },
					    { 0x20000, 0x3fffd } };
	if (c >= 0x300 && c <= 0x36f)
		return 0; /* combining marks */
	for (size_t i = 0; c >= wide[0][0] && i < ARRAY_LEN(wide); i++)
		if (c >= wide[i][0] && c <= wide[i][1])
			return 2;
	return 1;
}
