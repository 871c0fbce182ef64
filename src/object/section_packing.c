/* section_packing.c - sections packed by zlib, with or without an Elf_Chdr, and by zstd. */
#include "object/section_packing.h"

#include <libdeflate.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/bytes.h"

/* Debug information and symbols shrink to a fifth or a tenth; zeroes shrink to a thousandth, and
 * would have us fill the memory. */
bool elf_may_unfold(uint64_t packed, uint64_t unpacked)
{
	enum { FREE = 16 << 20, RATIO = 32 };
	return unpacked <= FREE || (unpacked - FREE) / RATIO <= packed;
}

/* The format before there were flags: "ZLIB", and the size with the highest byte first. */
bool section_packing_old(const uint8_t *data, size_t n, struct section_packing *ret)
{
	if (n < 12 || memcmp(data, "ZLIB", 4))
		return false;
	*ret = (struct section_packing){ .by = PACKED_ZLIB, .data = data + 12, .n = n - 12 };
	for (size_t i = 4; i < 12; i++)
		ret->size = ret->size << 8 | data[i];
	return ret->size && elf_may_unfold(ret->n, ret->size);
}

/* Elf32_Chdr, Elf64_Chdr. */
bool section_packing_of(const uint8_t *data, size_t n, bool is_64bit, bool is_big,
			struct section_packing *ret)
{
	enum { ZLIB = 1, ZSTD = 2 }; /* ELFCOMPRESS_ */
	struct bytes b = bytes_of("", data, n);
	b.swap = is_big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	uint32_t type = bytes_u32(&b);
	if (is_64bit)
		bytes_u32(&b);
	uint64_t size = bytes_word(&b, is_64bit ? 8 : 4);
	bytes_word(&b, is_64bit ? 8 : 4); /* its alignment */
	if (b.failed || (type != ZLIB && type != ZSTD))
		return false;
	*ret = (struct section_packing){ .by = type == ZLIB ? PACKED_ZLIB : PACKED_ZSTD,
					 .size = size,
					 .data = b.pos,
					 .n = bytes_left(&b) };
	return size && elf_may_unfold(ret->n, size);
}

/* Unpacks zlib's format by libdeflate: half of zlib's time if all input is in memory. */
static bool inflate_all(const struct section_packing *p, uint8_t *to, bool *no_memory)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	*no_memory = !d;
	if (!d)
		return false;
	enum libdeflate_result result =
		libdeflate_zlib_decompress(d, p->data, p->n, to, p->size, NULL);
	libdeflate_free_decompressor(d);
	return result == LIBDEFLATE_SUCCESS;
}

bool section_unpack(const struct section_packing *p, uint8_t *to, bool *no_memory)
{
	switch (p->by) {
	case PACKED_ZLIB:
		return inflate_all(p, to, no_memory);
	case PACKED_ZSTD: {
		size_t size = ZSTD_decompress(to, p->size, p->data, p->n);
		*no_memory = ZSTD_isError(size) &&
			     ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation;
		return !ZSTD_isError(size) && size == p->size;
	}
	}
	return false;
}
