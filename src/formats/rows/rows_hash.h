/* rows_hash.h - ids of a store's rows: 64-bit hashes of their contents, the same on every
 * host.
 *
 * FNV-1a over the bytes, then MurmurHash3's last step, so that all bits depend on all bytes. A
 * string is hashed with its NUL, a number as eight bytes, lowest first. doc/fleet.md lists the
 * fields of each id, for programs that write into a store without kin. */
#ifndef FORMATS_SUM_ROWS_HASH_H
#define FORMATS_SUM_ROWS_HASH_H

#include "base/base.h"

#define ROWS_HASH_START 0xcbf29ce484222325u

static inline uint64_t rows_hash_byte(uint64_t hash, uint8_t byte)
{
	return (hash ^ byte) * 0x100000001b3u;
}

static inline uint64_t rows_hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = rows_hash_byte(hash, (uint8_t)*text);
	return rows_hash_byte(hash, 0);
}

static inline uint64_t rows_hash_number(uint64_t hash, uint64_t n)
{
	for (unsigned i = 0; i < 8; i++)
		hash = rows_hash_byte(hash, (uint8_t)(n >> 8 * i));
	return hash;
}

static inline uint64_t rows_hash_end(uint64_t hash)
{
	hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
	hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
	return hash ^ hash >> 33;
}

#endif
