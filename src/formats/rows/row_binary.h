/* row_binary.h - values of rows in RowBinary, one after the other: a format of ClickHouse. */
#ifndef FORMATS_ROW_BINARY_H
#define FORMATS_ROW_BINARY_H

#include "base/vec.h"

struct row_buffer { /* a VEC */
	char *at;
	size_t n, cap;
};

void row_u8(struct row_buffer *b, uint8_t v);
void row_u32(struct row_buffer *b, uint32_t v);
void row_u64(struct row_buffer *b, uint64_t v);
void row_length(struct row_buffer *b, uint64_t n); /* length of an array, before its elements */
void row_text(struct row_buffer *b, const char *text);
void row_bytes(struct row_buffer *b, const void *bytes, size_t n); /* unchanged */

#endif
