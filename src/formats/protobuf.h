/* protobuf.h - reads protocol buffer messages field by field, and writes them into vectors of
 *bytes. Field numbers are those of the format's .proto file.
 *
 *	for (struct proto_field f; proto_next(&b, &f);)
 *		if (f.number == 1) ... */
#ifndef FORMATS_PROTOBUF_H
#define FORMATS_PROTOBUF_H

#include <string.h>

#include "base/bytes.h"
#include "base/vec.h"

enum proto_wire { PROTO_VARINT = 0, PROTO_64BIT = 1, PROTO_BYTES = 2, PROTO_32BIT = 5 };

struct proto_field {
	uint32_t number;
	enum proto_wire wire;
	uint64_t value;     /* of a number */
	struct bytes bytes; /* PROTO_BYTES */
};

/* False at the end, or if the message is damaged (b->failed). */
static inline bool proto_next(struct bytes *b, struct proto_field *ret)
{
	if (!bytes_left(b))
		return false;
	uint64_t key = bytes_uleb(b);
	*ret = (struct proto_field){ .number = (uint32_t)(key >> 3),
				     .wire = (enum proto_wire)(key & 7) };
	switch (ret->wire) {
	case PROTO_VARINT:
		ret->value = bytes_uleb(b);
		break;
	case PROTO_64BIT:
		ret->value = bytes_u64(b);
		break;
	case PROTO_32BIT:
		ret->value = bytes_u32(b);
		break;
	case PROTO_BYTES:
		ret->bytes = bytes_take(b, bytes_uleb(b));
		break;
	default:
		bytes_fail(b);
	}
	return !b->failed;
}

static inline size_t varint(uint8_t to[10], uint64_t v)
{
	size_t n = 0;
	for (; v >= 0x80; v >>= 7)
		to[n++] = (uint8_t)(v | 0x80);
	to[n++] = (uint8_t)v;
	return n;
}

#define put_raw(buf, v)                                                                            \
	do {                                                                                       \
		vec_reserve((buf), 10);                                                            \
		(buf)->n += varint((buf)->at + (buf)->n, (v));                                     \
	} while (0)
#define put_bytes(buf, from, size)                                                                 \
	do {                                                                                       \
		vec_reserve((buf), (size));                                                        \
		if (size)                                                                          \
			memcpy((buf)->at + (buf)->n, (from), (size));                              \
		(buf)->n += (size);                                                                \
	} while (0)
/* A missing field counts as 0, so 0 is not written. */
#define put_number(buf, field, v)                                                                  \
	do {                                                                                       \
		uint64_t number_ = (v);                                                            \
		if (number_) {                                                                     \
			put_raw((buf), (uint64_t)(field) << 3 | PROTO_VARINT);                     \
			put_raw((buf), number_);                                                   \
		}                                                                                  \
	} while (0)
#define put_block(buf, field, from, size)                                                          \
	do {                                                                                       \
		put_raw((buf), (uint64_t)(field) << 3 | PROTO_BYTES);                              \
		put_raw((buf), (size));                                                            \
		put_bytes((buf), (from), (size));                                                  \
	} while (0)

#endif
