/* packed.c - unpacks gzip and zstd, with a limit, and packs gzip. */
#include "formats/packed.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { GZIP = 16 + MAX_WBITS };

static bool is_gzip(const struct bytes *b)
{
	return bytes_left(b) >= 2 && b->pos[0] == 0x1f && b->pos[1] == 0x8b;
}

static struct unpacked_bytes gunzip(struct bytes packed, size_t most)
{
	enum { PIECE = 1 << 16 };
	struct unpacked_bytes u = { 0 };
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

/* ---- zstd ---- */

static bool is_zstd(const struct bytes *b)
{
	static const uint8_t magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
	return bytes_left(b) >= sizeof(magic) && !memcmp(b->pos, magic, sizeof(magic));
}

static struct unpacked_bytes unzstd(struct bytes packed, size_t most)
{
	enum { PIECE = 1 << 17 };
	struct unpacked_bytes u = { 0 };
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer in = { packed.pos, bytes_left(&packed), 0 };
	size_t left = 1; /* 0: at the end of a stream */
	if (!z)
		xout_of_memory();
	while (u.at.n < most && !ZSTD_isError(left)) {
		vec_reserve(&u.at, PIECE);
		ZSTD_outBuffer out = { u.at.at + u.at.n, PIECE, 0 };
		size_t before = in.pos;
		left = ZSTD_decompressStream(z, &out, &in);
		u.at.n += out.pos;
		if (in.pos == in.size && (!left || (in.pos == before && !out.pos)))
			break;
	}
	bool no_memory =
		ZSTD_isError(left) && ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation;
	ZSTD_freeDStream(z);
	if (no_memory)
		xout_of_memory();
	u.cut = left != 0;
	return u;
}

/* ---- both formats ---- */

bool is_packed(const struct bytes *b) { return is_gzip(b) || is_zstd(b); }

struct bytes unpacked(struct bytes b, size_t most, struct unpacked_bytes *room)
{
	*room = (struct unpacked_bytes){ 0 };
	if (!is_packed(&b))
		return b;
	*room = is_gzip(&b) ? gunzip(b, most) : unzstd(b, most);
	return bytes_of(b.name, room->at.at, room->at.n);
}

struct bytes without_mark(struct bytes b)
{
	static const uint8_t mark[] = { 0xef, 0xbb, 0xbf };
	size_t n = bytes_left(&b);
	return n >= sizeof(mark) && !memcmp(b.pos, mark, sizeof(mark))
		       ? bytes_of(b.name, b.pos + sizeof(mark), n - sizeof(mark))
		       : b;
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
