/* cfi_private.h - declarations shared by cfi.c and cfi_run.c. */
#ifndef UNWIND_CFI_PRIVATE_H
#define UNWIND_CFI_PRIVATE_H

#include "base/bytes.h"
#include "unwind/cfi.h"

/* Reads a pointer in one of the DW_EH_PE_ encodings at *c, whose bytes from `start` on lie at
 * address `addr`. `data`: base of data-relative pointers. */
struct cfi_bases {
	const uint8_t *start;
	uint64_t addr, text, data, function;
};
uint64_t cfi_pointer(struct bytes *c, uint8_t encoding, const struct cfi_bases *b);

#endif
