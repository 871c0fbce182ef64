/* raw.h - integers of any size and byte order, for the loops that read and write millions.
 *
 * Nothing is checked here: whoever calls has compared with the bytes that are there. */
#ifndef INPUT_RAW_H
#define INPUT_RAW_H

#include <byteswap.h>
#include <string.h>

#include "base/base.h"

static inline bool raw_other_order(bool big_endian)
{
	return big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* size: 1, 2, 4 or 8 bytes, best a constant. */
static inline uint64_t raw_uint(const uint8_t *p, size_t size, bool swap)
{
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (size) {
	case 1:
		return *p;
	case 2:
		memcpy(&v16, p, 2);
		return swap ? bswap_16(v16) : v16;
	case 4:
		memcpy(&v32, p, 4);
		return swap ? bswap_32(v32) : v32;
	default:
		memcpy(&v64, p, 8);
		return swap ? bswap_64(v64) : v64;
	}
}

/* Writes the low `size` bytes of v. */
static inline void raw_put(uint8_t *p, uint64_t v, size_t size, bool big_endian)
{
	for (size_t i = 0; i < size; i++)
		p[big_endian ? size - 1 - i : i] = (uint8_t)(v >> 8 * i);
}

/* n unsigned integers of `size` bytes each. */
static inline void raw_widen(uint64_t *to, const uint8_t *from, size_t size, size_t n, bool swap)
{
	if (size == 2 && !swap) { /* a loop of its own, which compilers turn into vectors */
		for (size_t i = 0; i < n; i++)
			to[i] = raw_uint(from + i * 2, 2, false);
		return;
	}
	for (size_t i = 0; i < n; i++)
		to[i] = raw_uint(from + i * size, size, swap);
}

#endif
