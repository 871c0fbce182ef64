/* escape.c - which bytes of a name may be shown, and how the others are written. */
#include "base/escape.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

bool escape_is_plain(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	while (*p) {
		if (*p >= 0x20 && *p < 0x7f) {
			p++;
			continue;
		}
		uint32_t c;
		size_t n = utf8_decode(p, &c);
		if (!n || utf8_is_formatting(c))
			return false;
		p += n;
	}
	return true;
}

static size_t ascii_run(const unsigned char *p)
{
	size_t n = 0;
	while (p[n] >= 0x20 && p[n] < 0x7f)
		n++;
	return n;
}

size_t escape_text(char *buf, size_t cap, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t need = 0, used = 0;
	bool full = false;

	while (*p) {
		size_t easy = ascii_run(p);
		if (easy) { /* nearly all of nearly all names */
			size_t room = full || cap < used + 1 ? 0 : cap - used - 1;
			size_t fits = easy < room ? easy : room;
			if (fits)
				memcpy(buf + used, p, fits);
			used += fits;
			full = full || fits < easy;
			need += easy;
			p += easy;
			continue;
		}
		uint32_t c = 0;
		size_t n = utf8_decode(p, &c);
		bool plain = n && !utf8_is_formatting(c);
		if (!n)
			n = 1;
		char piece[20];
		size_t len = 0;
		for (size_t i = 0; i < n; i++)
			len += plain ? (piece[len] = (char)p[i], 1u)
				     : (size_t)snprintf(piece + len, sizeof(piece) - len, "\\x%02x",
							p[i]);
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

char *escape_copy(const char *s)
{
	size_t easy = ascii_run((const unsigned char *)s);
	size_t need = easy + escape_text(NULL, 0, s + easy) + 1;
	char *safe = xrealloc(NULL, need, 1);
	memcpy(safe, s, easy);
	escape_text(safe + easy, need - easy, s + easy);
	return safe;
}

size_t escape_width(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t width = 0;
	while (*p) {
		uint32_t c = 0;
		size_t n = utf8_decode(p, &c);
		width += n ? utf8_width(c) : 1;
		p += n ? n : 1;
	}
	return width;
}
