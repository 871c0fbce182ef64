/* cfi_private.h - what cfi.c and cfi_run.c share. */
#ifndef UNWIND_CFI_PRIVATE_H
#define UNWIND_CFI_PRIVATE_H

#include "base/bytes.h"
#include "unwind/cfi.h"

/* A pointer in one of the DW_EH_PE_ encodings at *c, which reads bytes that lie at address `addr`
 * from `start` on. `data`: what data-relative pointers are relative to. */
struct cfi_bases {
	const uint8_t *start;
	uint64_t addr, text, data, function;
};
uint64_t cfi_pointer(struct bytes *c, uint8_t encoding, const struct cfi_bases *b);

#endif
