/* gzip.c - inflates by zlib, with a limit. */
#include "formats/gzip.h"

#include <zlib.h>

bool is_gzip(const struct bytes *b)
{
	return bytes_left(b) >= 2 && b->pos[0] == 0x1f && b->pos[1] == 0x8b;
}

struct gunzipped gunzip(struct bytes packed, size_t most)
{
	enum { PIECE = 1 << 16, GZIP = 16 + MAX_WBITS };
	struct gunzipped u = { 0 };
	z_stream z = { .next_in = UNCONST(uint8_t *, packed.pos) };
	int status = Z_OK;
	if (inflateInit2(&z, GZIP) != Z_OK)
		xout_of_memory();
	z.avail_in = (uInt)bytes_left(&packed);
	while (status == Z_OK && u.at.n < most) {
		vec_reserve(&u.at, PIECE);
		z.next_out = u.at.at + u.at.n;
		z.avail_out = PIECE;
		status = inflate(&z, Z_NO_FLUSH);
		u.at.n += PIECE - z.avail_out;
		if (status == Z_STREAM_END && z.avail_in && inflateReset(&z) == Z_OK)
			status = Z_OK;
		if (status == Z_MEM_ERROR)
			xout_of_memory();
	}
	u.cut = status != Z_STREAM_END;
	inflateEnd(&z);
	return u;
}
