/* xz.c - unpacks xz by liblzma. It is loaded when the first such section is met: few programs have
 * one, and each start of kin would wait for it. */
#include "object/xz.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#include "base/library.h"
#include "object/object_private.h"
#include "object/section_packing.h"

#define LIBRARY "liblzma.so.5"
enum { MEMORY_MAX = 128 << 20 };

struct xz {
	__typeof__(&lzma_stream_decoder) decoder;
	__typeof__(&lzma_code) code;
	__typeof__(&lzma_end) end;
};

static bool load(struct xz *ret)
{
	void *library = library_open(LIBRARY);
	if (!library)
		return false;
	*ret = (struct xz){ LIBRARY_FUNCTION(library, lzma_stream_decoder),
			    LIBRARY_FUNCTION(library, lzma_code),
			    LIBRARY_FUNCTION(library, lzma_end) };
	library_close(library);
	return ret->decoder && ret->code && ret->end;
}

uint8_t *xz_unpack(const uint8_t *in, size_t n, size_t *size, int *trouble)
{
	lzma_stream lz = LZMA_STREAM_INIT;
	size_t cap = 64 * 1024;
	uint8_t *out = NULL;
	struct xz xz;

	if (!load(&xz)) {
		*trouble = ELIBACC;
		return NULL;
	}
	lzma_ret r = xz.decoder(&lz, MEMORY_MAX, 0);
	lz.next_in = in;
	lz.avail_in = n;
	while (r == LZMA_OK && elf_may_unfold(n, lz.total_out)) {
		out = xrealloc(out, cap, 1);
		lz.next_out = out + lz.total_out;
		lz.avail_out = cap - (size_t)lz.total_out;
		r = xz.code(&lz, LZMA_FINISH);
		cap *= 2;
	}
	*size = (size_t)lz.total_out;
	xz.end(&lz);
	if (r == LZMA_STREAM_END)
		return out;
	if (r == LZMA_MEM_ERROR)
		*trouble = ENOMEM;
	free(out);
	return NULL;
}
