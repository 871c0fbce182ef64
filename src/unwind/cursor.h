/* cursor.h - bounds-checked reading of little-endian bytes, freestanding (base/bytes.h is not).
 *
 * The first read past the end empties the cursor and sets `bad`; it and all later ones give 0. */
#ifndef UNWIND_CURSOR_H
#define UNWIND_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
	const uint8_t *pos, *end;
	bool bad;
};

static inline size_t cursor_left(const struct cursor *c) { return (size_t)(c->end - c->pos); }

static inline void cursor_fail(struct cursor *c)
{
	c->pos = c->end;
	c->bad = true;
}

static inline void cursor_skip(struct cursor *c, uint64_t n)
{
	if (n > cursor_left(c))
		cursor_fail(c);
	else
		c->pos += n;
}

static inline uint64_t cursor_uint(struct cursor *c, unsigned bytes)
{
	uint64_t v = 0;
	if (cursor_left(c) < bytes) {
		cursor_fail(c);
		return 0;
	}
	for (unsigned i = 0; i < bytes; i++)
		v |= (uint64_t)c->pos[i] << 8 * i;
	c->pos += bytes;
	return v;
}

static inline uint8_t cursor_u8(struct cursor *c) { return (uint8_t)cursor_uint(c, 1); }

static inline int64_t cursor_sint(struct cursor *c, unsigned bytes)
{
	uint64_t v = cursor_uint(c, bytes), sign = (uint64_t)1 << (8 * bytes - 1);
	return (int64_t)((v ^ sign) - sign);
}

/* LEB128. Ten bytes hold 64 bits; bytes after that, and bits that do not fit, are damage. */
static inline uint64_t cursor_leb(struct cursor *c, bool is_signed)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t b = cursor_u8(c);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (b & 0x80)
			continue;
		if (is_signed && b & 0x40 && shift + 7 < 64)
			v |= ~(uint64_t)0 << (shift + 7);
		return v;
	}
	cursor_fail(c);
	return 0;
}

static inline uint64_t cursor_uleb(struct cursor *c) { return cursor_leb(c, false); }
static inline int64_t cursor_sleb(struct cursor *c) { return (int64_t)cursor_leb(c, true); }

#endif
