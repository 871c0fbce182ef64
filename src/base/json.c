/* json.c - writes strings as JSON, with escapes where they must be. */
#include "base/json.h"

#include "base/utf8.h"

static void unit16(struct sink *s, uint32_t u)
{
	static const char digits[] = "0123456789abcdef";
	char *to = sink_room(s, 6);
	to[0] = '\\';
	to[1] = 'u';
	for (int i = 0; i < 4; i++)
		to[2 + i] = digits[u >> (12 - 4 * i) & 15];
	s->n += 6;
}

static void escaped(struct sink *s, uint32_t c)
{
	if (c >= 0x10000) {
		unit16(s, 0xd800 + ((c - 0x10000) >> 10));
		unit16(s, 0xdc00 + ((c - 0x10000) & 0x3ff));
	} else {
		unit16(s, c);
	}
}

void json_string(struct sink *s, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	sink_char(s, '"');
	while (*p) {
		size_t run = 0;
		while (p[run] >= 0x20 && p[run] < 0x7f && p[run] != '"' && p[run] != '\\')
			run++;
		sink_bytes(s, (const char *)p, run);
		p += run;
		if (!*p)
			break;

		uint32_t c = 0xfffd;
		size_t n = utf8_decode(p, &c);
		if (c == '"' || c == '\\') {
			sink_char(s, '\\');
			sink_char(s, (char)c);
		} else if (!n || utf8_is_formatting(c)) {
			escaped(s, n ? c : 0xfffd);
		} else {
			sink_bytes(s, (const char *)p, n);
		}
		p += n ? n : 1;
	}
	sink_char(s, '"');
}

void json_member(struct sink *s, const char *key, const char *text)
{
	json_string(s, key);
	sink_char(s, ':');
	if (text)
		json_string(s, text);
	else
		sink_str(s, "null");
}
