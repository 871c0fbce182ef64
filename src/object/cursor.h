/* cursor.h - reading debugging information: many small fields, fast, from untrusted bytes.
 *
 * Like base/bytes.h, but inline and without places for messages: damaged debugging information is
 * not reported, what can be read of it is used. After the first read past the end everything reads
 * as 0 and `failed` is set. */
#ifndef OBJECT_CURSOR_H
#define OBJECT_CURSOR_H

#include <string.h>

#include "base/base.h"

struct section {
	const uint8_t *data;
	size_t size;
};

struct cursor {
	const uint8_t *pos, *end;
	bool swap, failed;
};

static inline struct cursor cursor_at(struct section s, uint64_t offset, bool swap)
{
	struct cursor c = { .swap = swap, .failed = offset > s.size };
	if (s.data) {
		c.pos = s.data + (c.failed ? s.size : offset);
		c.end = s.data + s.size;
	}
	return c;
}

static inline size_t cursor_left(const struct cursor *c) { return (size_t)(c->end - c->pos); }

static inline void cursor_fail(struct cursor *c)
{
	c->failed = true;
	c->pos = c->end;
}

static inline void cursor_skip(struct cursor *c, uint64_t n)
{
	if (n > cursor_left(c))
		cursor_fail(c);
	else
		c->pos += n;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	if (c->pos == c->end) {
		cursor_fail(c);
		return 0;
	}
	return *c->pos++;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	uint16_t v;
	if (cursor_left(c) < sizeof(v)) {
		cursor_fail(c);
		return 0;
	}
	memcpy(&v, c->pos, sizeof(v));
	c->pos += sizeof(v);
	return c->swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	uint32_t v;
	if (cursor_left(c) < sizeof(v)) {
		cursor_fail(c);
		return 0;
	}
	memcpy(&v, c->pos, sizeof(v));
	c->pos += sizeof(v);
	return c->swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	uint64_t v;
	if (cursor_left(c) < sizeof(v)) {
		cursor_fail(c);
		return 0;
	}
	memcpy(&v, c->pos, sizeof(v));
	c->pos += sizeof(v);
	return c->swap ? __builtin_bswap64(v) : v;
}

static inline uint32_t cursor_u24(struct cursor *c)
{
	uint32_t a = cursor_u8(c), b = cursor_u8(c), d = cursor_u8(c);
	bool little = (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != c->swap;
	return little ? a | b << 8 | d << 16 : a << 16 | b << 8 | d;
}

/* An unsigned number of 1, 2, 4 or 8 bytes. */
static inline uint64_t cursor_word(struct cursor *c, unsigned size)
{
	switch (size) {
	case 8:
		return cursor_u64(c);
	case 4:
		return cursor_u32(c);
	case 2:
		return cursor_u16(c);
	case 1:
		return cursor_u8(c);
	}
	cursor_fail(c);
	return 0;
}

static inline uint64_t cursor_uleb(struct cursor *c)
{
	uint64_t v = 0;
	for (unsigned shift = 0; c->pos != c->end; shift += 7) {
		uint8_t byte = *c->pos++;
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	cursor_fail(c);
	return 0;
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	uint64_t v = 0;
	for (unsigned shift = 0; c->pos != c->end;) {
		uint8_t byte = *c->pos++;
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (shift < 64 && (byte & 0x40))
			v |= ~(uint64_t)0 << shift;
		return (int64_t)v;
	}
	cursor_fail(c);
	return 0;
}

/* A string that ends within the bytes; "" otherwise. */
static inline const char *cursor_str(struct cursor *c)
{
	const uint8_t *start = c->pos;
	const uint8_t *nul = cursor_left(c) ? memchr(start, 0, cursor_left(c)) : NULL;
	if (!nul) {
		cursor_fail(c);
		return "";
	}
	c->pos = nul + 1;
	return (const char *)start;
}

#endif
