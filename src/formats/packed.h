/* packed.h - prepares file contents for readers: unpacks gzip and zstd, and removes the encoding
 * mark of texts. Also writes gzip, which is usual for some formats. */
#ifndef FORMATS_PACKED_H
#define FORMATS_PACKED_H

#include <stdio.h>

#include "base/bytes.h"
#include "base/vec.h"

struct unpacked_bytes {
	VEC(uint8_t) at;
	bool cut; /* the data ends too early, is damaged, or has more bytes than the limit */
};

enum { PACKED_HEAD = 256 << 10 }; /* bytes of a packed file that contain the start of its data */
enum { UNPACKED_MOST = 1 << 30 }; /* for a whole file */

bool is_packed(const struct bytes *b);

/* `b` itself, or its unpacked contents in `room`, which is to be freed with vec_free(&room->at) in
 * either case. Unpacks no more than about `most` bytes; several concatenated streams are one. */
struct bytes unpacked(struct bytes b, size_t most, struct unpacked_bytes *room);

/* Without the UTF-8 mark that some editors and shells put before a text: it is part of no
 * format. */
struct bytes without_mark(struct bytes b);

/* A stream that packs what is written to it with gzip and writes it to `to`. fclose() writes the
 * rest and leaves `to` open; without data nothing is written. Write errors are found by ferror(to).
 */
FILE *gzip_to(FILE *to);

#endif
