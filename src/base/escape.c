#include "base/escape.h"

#include <stdio.h>
#include <string.h>

/* Length of the well-formed UTF-8 sequence at s (RFC 3629, section 4), its code point in *ret; 0 if
 * it is not one. */
static size_t decode(const unsigned char *s, uint32_t *ret)
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

/* Characters that show nothing and change how others are shown. */
static bool is_formatting(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
	       (c >= 0xe0000 && c <= 0xe007f);
}

bool escape_is_plain(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	while (*p) {
		if (*p >= 0x20 && *p < 0x7f) {
			p++;
			continue;
		}
		uint32_t c;
		size_t n = decode(p, &c);
		if (!n || is_formatting(c))
			return false;
		p += n;
	}
	return true;
}

size_t escape_text(char *buf, size_t cap, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t need = 0, used = 0;
	bool full = false;

	while (*p) {
		uint32_t c = 0;
		size_t n = decode(p, &c);
		bool plain = n && !is_formatting(c);
		if (!n)
			n = 1;
		char piece[20];
		size_t len = 0;
		for (size_t i = 0; i < n; i++)
			len += plain ? (piece[len] = (char)p[i], 1u)
				     : (size_t)snprintf(piece + len, sizeof(piece) - len, "\\x%02x", p[i]);
		need += len;
		full = full || used + len + 1 > cap;
		if (!full) {
			memcpy(buf + used, piece, len);
			used += len;
		}
		p += n;
	}
	if (cap)
		buf[used] = '\0';
	return need;
}

size_t escape_width(const char *s)
{
	/* East Asian wide and fullwidth blocks, coarse (Unicode UAX #11). */
	static const uint32_t wide[][2] = { { 0x1100, 0x115f }, { 0x2e80, 0xa4cf }, { 0xac00, 0xd7a3 },
					    { 0xf900, 0xfaff }, { 0xfe30, 0xfe6f }, { 0xff00, 0xff60 },
					    { 0xffe0, 0xffe6 }, { 0x1f300, 0x1faff }, { 0x20000, 0x3fffd } };
	const unsigned char *p = (const unsigned char *)s;
	size_t width = 0;
	while (*p) {
		uint32_t c = 0;
		size_t n = decode(p, &c);
		bool combining = c >= 0x300 && c <= 0x36f;
		width += !n || !combining;
		for (size_t i = 0; c >= 0x1100 && i < ARRAY_LEN(wide); i++)
			width += c >= wide[i][0] && c <= wide[i][1];
		p += n ? n : 1;
	}
	return width;
}
