/* kin_encode.c - fields of records, as kin/format.h has them. */
#include <string.h>

#include "input/kin_private.h"

void kin_put_u8(struct kin_plain *to, uint8_t v) { vec_push(&to->bytes, v); }

void kin_put(struct kin_plain *to, uint64_t v)
{
	vec_reserve(&to->bytes, 10);
	uint8_t *p = to->bytes.at + to->bytes.n;
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	to->bytes.n = (size_t)(p - to->bytes.at);
}

void kin_put_signed(struct kin_plain *to, uint64_t v)
{
	kin_put(to, v << 1 ^ (v >> 63 ? UINT64_MAX : 0));
}

void kin_put_time(struct kin_plain *to, uint64_t time_ns)
{
	kin_put_signed(to, time_ns - to->time_ns);
	to->time_ns = time_ns;
}

void kin_put_text(struct kin_plain *to, const void *s, size_t n)
{
	if (n > KIN_MAX_TEXT)
		n = KIN_MAX_TEXT;
	kin_put(to, n);
	vec_reserve(&to->bytes, n);
	if (n)
		memcpy(to->bytes.at + to->bytes.n, s, n);
	to->bytes.n += n;
}
