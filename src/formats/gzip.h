/* gzip.h - reads and writes data packed with gzip, as usual for some formats. */
#ifndef FORMATS_GZIP_H
#define FORMATS_GZIP_H

#include <stdio.h>

#include "base/bytes.h"
#include "base/vec.h"

struct gunzipped {
	VEC(uint8_t) at;
	bool cut; /* the data ends too early, is damaged, or has more bytes than that */
};

bool is_gzip(const struct bytes *b);
/* Unpacks about `most` bytes and no more; several concatenated streams are one. To be freed with
 * vec_free(&at). */
struct gunzipped gunzip(struct bytes packed, size_t most);

enum { GUNZIP_MOST = 1 << 30 }; /* for a whole file */

/* `b` itself, or its unpacked contents in `room`, which is to be freed with vec_free(&room->at) in
 * either case. */
struct bytes unpacked(struct bytes b, size_t most, struct gunzipped *room);

/* A stream that packs what is written to it and writes it to `to`. fclose() writes the rest and
 * leaves `to` open; without data nothing is written. Write errors are found by ferror(to). */
FILE *gzip_to(FILE *to);

#endif
