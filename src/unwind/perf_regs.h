/* perf_regs.h - converts the registers of a sample, as the kernel gives them, for a walk. */
#ifndef UNWIND_PERF_REGS_H
#define UNWIND_PERF_REGS_H

#include "unwind/step.h"

/* values: the registers that the bits of `mask` select, in the order of the kernel's numbers
 * (asm/perf_regs.h); all others are set to 0. `all` becomes ret->all and must live as long as *ret.
 */
void unwind_regs_of_perf(const struct machine *m, uint64_t mask, const uint64_t *values,
			 uint64_t all[MACHINE_REGISTERS], struct unwind_regs *ret);

#endif
