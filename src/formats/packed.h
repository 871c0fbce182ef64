/* packed.h - files that are packed by gzip, as some formats usually are, or by zstd. */
#ifndef FORMATS_PACKED_H
#define FORMATS_PACKED_H

#include <stdio.h>

#include "base/bytes.h"
#include "base/vec.h"

struct unpacked_bytes {
	VEC(uint8_t) at;
	bool cut; /* the file ends before its end, is damaged, or has more than that */
};

enum { PACKED_HEAD = 256 << 10 }; /* of a packed file: what holds the first bytes of it */
enum { UNPACKED_MOST = 1 << 30 }; /* for a whole file */

bool is_packed(const struct bytes *b);

/* `b` itself, or what is packed in it: that is in `room`, which is to be freed with
 * vec_free(&room->at) in either case. About `most` bytes, and no more; several streams, one behind
 * the other, are one. */
struct bytes unpacked(struct bytes b, size_t most, struct unpacked_bytes *room);

/* What is written to it goes to `to`, packed by gzip. To be closed by fclose(), which writes the
 * rest and leaves `to` open; of nothing it makes nothing. What `to` cannot take is found by
 * ferror(to). */
FILE *gzip_to(FILE *to);

#endif
