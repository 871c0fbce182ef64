/* row_binary.c - writes values lowest byte first, lengths as LEB128. */
#include "formats/rows/row_binary.h"

#include <string.h>

#include "base/bytes.h"

void row_bytes(struct row_buffer *b, const void *bytes, size_t n)
{
	if (b->cap - b->n < n)
		vec_reserve(b, n);
	if (n)
		memcpy(b->at + b->n, bytes, n);
	b->n += n;
}

static void add_number(struct row_buffer *b, uint64_t v, size_t size)
{
	uint8_t bytes[8];
	bytes_store(bytes, v, size, false);
	row_bytes(b, bytes, size);
}

void row_u8(struct row_buffer *b, uint8_t v) { add_number(b, v, 1); }
void row_u32(struct row_buffer *b, uint32_t v) { add_number(b, v, 4); }
void row_u64(struct row_buffer *b, uint64_t v) { add_number(b, v, 8); }

void row_length(struct row_buffer *b, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		row_u8(b, (uint8_t)(n | 0x80));
	row_u8(b, (uint8_t)n);
}

void row_text(struct row_buffer *b, const char *text)
{
	size_t n = strlen(text);
	row_length(b, n);
	row_bytes(b, text, n);
}
