/* perf_regs.c - from the kernel's numbers of registers to DWARF's. */
#include "unwind/perf_regs.h"

static uint64_t value(uint64_t mask, const uint64_t *values, unsigned number)
{
	if (number >= 64 || !(mask >> number & 1))
		return 0;
	return values[__builtin_popcountll(mask & ((UINT64_C(1) << number) - 1))];
}

void unwind_regs_of_perf(const struct machine *m, uint64_t mask, const uint64_t *values,
			 uint64_t all[MACHINE_REGISTERS], struct unwind_regs *ret)
{
	for (unsigned i = 0; i < MACHINE_REGISTERS; i++)
		all[i] = i < m->n_registers ? value(mask, values, m->perf[i]) : 0;
	*ret = (struct unwind_regs){ .machine = m,
				     .pc = value(mask, values, m->perf_pc),
				     .sp = all[m->sp],
				     .fp = all[m->fp],
				     .all = all,
				     .exact = true };
	if (m->bx != MACHINE_NO_REGISTER)
		ret->bx = all[m->bx];
	if (m->lr != MACHINE_NO_REGISTER)
		ret->lr = all[m->lr];
}
