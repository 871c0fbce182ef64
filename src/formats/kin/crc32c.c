/* crc32c.c - uses the processor's instruction if there is one, else a table. */
#include "formats/kin/crc32c.h"

#include <string.h>

/* One nibble at a time: this takes no large table, and processors with the instruction do not need
 * it. */
static uint32_t by_table(uint32_t crc, const uint8_t *p, size_t n)
{
	static const uint32_t table[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
		0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};

	for (; n; p++, n--) {
		crc = crc >> 4 ^ table[(crc ^ *p) & 15];
		crc = crc >> 4 ^ table[(crc ^ *p >> 4) & 15];
	}
	return crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static uint32_t by_hardware(uint32_t crc, const uint8_t *p,
							      size_t n)
{
	uint64_t sum = crc;

	for (; n >= 8; p += 8, n -= 8) {
		uint64_t word;
		memcpy(&word, p, 8);
		sum = __builtin_ia32_crc32di(sum, word);
	}
	return by_table((uint32_t)sum, p, n);
}
#endif

uint32_t crc32c(uint32_t crc, const void *data, size_t n)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("sse4.2"))
		return ~by_hardware(~crc, data, n);
#endif
	return ~by_table(~crc, data, n);
}
