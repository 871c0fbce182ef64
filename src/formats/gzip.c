/* gzip.c - inflates by zlib, with a limit, and deflates. */
#include "formats/gzip.h"

#include <stdlib.h>
#include <zlib.h>

enum { GZIP = 16 + MAX_WBITS };

bool is_gzip(const struct bytes *b)
{
	return bytes_left(b) >= 2 && b->pos[0] == 0x1f && b->pos[1] == 0x8b;
}

struct gunzipped gunzip(struct bytes packed, size_t most)
{
	enum { PIECE = 1 << 16 };
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

struct bytes unpacked(struct bytes b, size_t most, struct gunzipped *room)
{
	*room = (struct gunzipped){ 0 };
	if (!is_gzip(&b))
		return b;
	*room = gunzip(b, most);
	return bytes_of(b.name, room->at.at, room->at.n);
}

/* ---- packing ---- */

struct gzip_sink {
	z_stream z;
	FILE *to;
	bool begun;
};

static bool squeeze(struct gzip_sink *g, int flush)
{
	uint8_t buf[1 << 16];
	do {
		g->z.next_out = buf;
		g->z.avail_out = sizeof(buf);
		deflate(&g->z, flush);
		size_t n = sizeof(buf) - g->z.avail_out;
		if (fwrite(buf, 1, n, g->to) != n)
			return false;
	} while (!g->z.avail_out);
	return true;
}

static ssize_t take(void *cookie, const char *bytes, size_t n)
{
	enum { MOST = 1 << 30 };
	struct gzip_sink *g = cookie;
	size_t part = n < MOST ? n : MOST;
	g->begun = true;
	g->z.next_in = UNCONST(uint8_t *, bytes);
	g->z.avail_in = (uInt)part;
	return squeeze(g, Z_NO_FLUSH) ? (ssize_t)part : 0;
}

static int finish(void *cookie)
{
	struct gzip_sink *g = cookie;
	g->z.avail_in = 0;
	bool all = !g->begun || squeeze(g, Z_FINISH);
	deflateEnd(&g->z);
	free(g);
	return all ? 0 : EOF;
}

FILE *gzip_to(FILE *to)
{
	enum { MEMORY = 8 };
	struct gzip_sink *g = xalloc(sizeof(*g));
	g->to = to;
	if (deflateInit2(&g->z, Z_BEST_SPEED, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
		xout_of_memory();
	FILE *f = fopencookie(g, "w", (cookie_io_functions_t){ .write = take, .close = finish });
	if (!f)
		xout_of_memory();
	return f;
}
