/* section_packing.h - the compression of an ELF section's contents (SHF_COMPRESSED, .zdebug_*). Not
 * trusted. */
#ifndef OBJECT_SECTION_PACKING_H
#define OBJECT_SECTION_PACKING_H

#include "base/base.h"

struct section_packing {
	enum { PACKED_ZLIB, PACKED_ZSTD } by;
	uint64_t size; /* unpacked */
	const uint8_t *data;
	size_t n;
};

/* The packing of a section with SHF_COMPRESSED, and of one whose name begins with ".zdebug" (old).
 * False if it is of another kind, or would unpack to an absurd size. */
bool section_packing_of(const uint8_t *data, size_t n, bool is_64bit, bool is_big,
			struct section_packing *ret);
bool section_packing_old(const uint8_t *data, size_t n, struct section_packing *ret);
/* Unpacks to p->size bytes at `to`. False if the data is damaged or of another size, or if memory
 * is lacking: *no_memory. */
bool section_unpack(const struct section_packing *p, uint8_t *to, bool *no_memory);

/* Whether `packed` bytes may unpack to that many: limits what a small file can make us allocate. */
bool elf_may_unfold(uint64_t packed, uint64_t unpacked);

#endif
