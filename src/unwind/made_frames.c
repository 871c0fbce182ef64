/* made_frames.c - where the sections of a piece of code made at run time would lie. */
#include "unwind/made_frames.h"

/* They lie behind the code, as perf lays them out: with 8 bytes to align to. */
bool made_frames_row(const struct machine *m, const struct made_frames *f, uint64_t code,
		     uint64_t size, uint64_t pc, struct unwind_row *ret)
{
	struct cfi_section s = { .machine = m,
				 .data = f->at,
				 .size = f->size - f->hdr_size,
				 .addr = code + ((size + 7) & ~UINT64_C(7)) };
	struct cfi_fde fde;
	return cfi_find(&s, pc, &fde) && cfi_row(&s, &fde, pc, ret) && ret->cfa != UNWIND_CFA_NONE;
}
