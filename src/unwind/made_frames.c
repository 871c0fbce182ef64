/* made_frames.c - looks up rows in the call-frame information of code made at run time. */
#include "unwind/made_frames.h"

/* The sections count as lying behind the code, aligned to 8 bytes, as perf lays them out. */
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
