/* perf_regs.c - from the kernel's numbers of registers to DWARF's. */
#include "unwind/perf_regs.h"

#include <string.h>

#include "base/bytes.h"

static uint8_t place(uint64_t mask, unsigned number)
{
	if (number >= 64 || !(mask >> number & 1))
		return MACHINE_NO_REGISTER;
	return (uint8_t)__builtin_popcountll(mask & ((UINT64_C(1) << number) - 1));
}

struct perf_places unwind_perf_places(const struct machine *m, uint64_t mask)
{
	struct perf_places p = { .machine = m, .pc = place(mask, m->perf_pc) };
	for (unsigned i = 0; i < m->n_registers; i++)
		p.at[i] = place(mask, m->perf[i]);
	return p;
}

static uint64_t word(const void *values, uint8_t place)
{
	return bytes_load((const uint8_t *)values + 8 * (size_t)place, 8, false);
}

void unwind_regs_of_perf(const struct perf_places *p, const void *values,
			 uint64_t all[MACHINE_REGISTERS], struct unwind_regs *ret)
{
	const struct machine *m = p->machine;
	memset(all, 0, MACHINE_REGISTERS * sizeof(*all));
	for (unsigned i = 0; i < m->n_registers; i++)
		if (p->at[i] != MACHINE_NO_REGISTER)
			all[i] = word(values, p->at[i]);
	*ret = (struct unwind_regs){ .machine = m,
				     .pc = p->pc == MACHINE_NO_REGISTER ? 0 : word(values, p->pc),
				     .sp = all[m->sp],
				     .fp = all[m->fp],
				     .all = all,
				     .exact = true };
	if (m->bx != MACHINE_NO_REGISTER)
		ret->bx = all[m->bx];
	if (m->lr != MACHINE_NO_REGISTER)
		ret->lr = all[m->lr];
}
