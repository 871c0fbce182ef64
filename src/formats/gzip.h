/* gzip.h - files that are packed with gzip, as some formats usually are. */
#ifndef FORMATS_GZIP_H
#define FORMATS_GZIP_H

#include <stdio.h>

#include "base/bytes.h"
#include "base/vec.h"

struct gunzipped {
	VEC(uint8_t) at;
	bool cut; /* the file ends before its end, is damaged, or has more than that */
};

bool is_gzip(const struct bytes *b);
/* About so many bytes of what is packed, and no more; several streams, one behind the other, are
 * one. To be freed with vec_free(&at). */
struct gunzipped gunzip(struct bytes packed, size_t most);

enum { GUNZIP_MOST = 1 << 30 }; /* for a whole file */

/* `b` itself, or what is packed in it: that is in `room`, which is to be freed with
 * vec_free(&room->at) in either case. */
struct bytes unpacked(struct bytes b, size_t most, struct gunzipped *room);

/* What is written to it goes to `to`, packed. To be closed by fclose(), which writes the rest and
 * leaves `to` open; of nothing it makes nothing. What `to` cannot take is found by ferror(to). */
FILE *gzip_to(FILE *to);

#endif
