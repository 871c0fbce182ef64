/* crc32c.h - CRC-32C (Castagnoli; reflected polynomial 0x82f63b78), as in iSCSI and ext4. */
#ifndef INPUT_CRC32C_H
#define INPUT_CRC32C_H

#include "base/base.h"

/* The checksum of n bytes, continuing `crc`; 0 to begin. */
uint32_t crc32c(uint32_t crc, const void *data, size_t n);

#endif
