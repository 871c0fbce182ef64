/* unpacked.h - a cache of unpacked debug sections: unpacking those of the C library takes most of
 * the time at the end of a short recording.
 *
 * One file per section in $XDG_CACHE_HOME/kin/sections, else ~/.cache/kin/sections, for their user
 * alone, replaced atomically; beyond 64 MiB in all, the least recently used are removed. A cache
 * file is used only if it is undamaged and was made from that section of the same file (build id,
 * size and times). Not kept are sections of files without a build id, small ones, and those of more
 * than 16 MiB, which would push out all others. */
#ifndef OBJECT_UNPACKED_H
#define OBJECT_UNPACKED_H

#include "base/base.h"

/* Stands in a cache file behind the section's bytes. In this machine's byte order; only it reads
 * the file again. Without holes. */
struct unpacked_mark {
	char magic[8];
	uint64_t order;
	uint64_t file_size, modified_ns; /* of the ELF file */
	uint64_t changed_ns;             /* of the ELF file, too (st_ctim): nobody can set it */
	uint64_t index, packed_size;     /* of the section */
	uint64_t checksum;               /* of the whole cache file, with 0 here */
};

struct unpacked {   /* a section's place in the cache */
	char *path; /* NULL: it is not kept; owned */
	struct unpacked_mark mark;
};

/* `id`: the file's build id, of `n` bytes; `of`: the mark without magic, order and checksum. To be
 * called before the section is read: if the file changes meanwhile, the kept bytes then do not
 * count for the changed file. */
void unpacked_init(struct unpacked *u, const uint8_t *id, size_t n, const struct unpacked_mark *of);
void unpacked_done(struct unpacked *u);

/* The bytes, *size of them and a NUL, to be freed; NULL: they are not in the cache. */
uint8_t *unpacked_read(const struct unpacked *u, uint64_t *size);
/* Keeps the unpacked bytes, if they are neither too few nor too many. `data` has room for a mark
 * behind them, which is written there. */
void unpacked_write(const struct unpacked *u, uint8_t *data, uint64_t size);

#endif
