/* gzip_pack.h - bytes packed as by gzip, for tests of readers of packed files. */
#ifndef TEST_GZIP_PACK_H
#define TEST_GZIP_PACK_H

#include <stdint.h>
#include <zlib.h>

#include "base/base.h"

/* Packs n bytes into `to`, which has room for all; the size that they have there. */
static inline size_t gzip_pack(uint8_t *to, size_t room, const void *from, size_t n)
{
	z_stream z = { 0 };
	deflateInit2(&z, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
	z.next_in = UNCONST(Bytef *, (const Bytef *)from);
	z.avail_in = (uInt)n;
	z.next_out = to;
	z.avail_out = (uInt)room;
	deflate(&z, Z_FINISH);
	size_t size = room - z.avail_out;
	deflateEnd(&z);
	return size;
}

#endif
