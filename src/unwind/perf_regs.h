/* perf_regs.h - converts the registers of a sample, as the kernel gives them, for a walk. */
#ifndef UNWIND_PERF_REGS_H
#define UNWIND_PERF_REGS_H

#include "unwind/step.h"

/* Where a sample has its registers: they are in the order of the kernel's numbers
 * (asm/perf_regs.h). Found once for all samples, as counting bits takes longer than the rest. */
struct perf_places {
	const struct machine *machine;
	uint8_t pc, at[MACHINE_REGISTERS]; /* index into the values; MACHINE_NO_REGISTER: none */
};

/* mask: of the registers that samples have, by the kernel's numbers. */
struct perf_places unwind_perf_places(const struct machine *m, uint64_t mask);

/* values: words in this machine's byte order, at any address, with the registers at these places;
 * all others are set to 0. `all` becomes ret->all and must live as long as *ret. */
void unwind_regs_of_perf(const struct perf_places *p, const void *values,
			 uint64_t all[MACHINE_REGISTERS], struct unwind_regs *ret);

#endif
