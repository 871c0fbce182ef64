/* machine.c - the machines that are known. */
#include "machine/machine.h"

#include <string.h>

static const struct machine *const machines[] = { &machine_x86_64, &machine_aarch64,
						  &machine_riscv64, &machine_i386 };

enum { N_MACHINES = sizeof(machines) / sizeof(machines[0]) };

machine_effect_decoder *machine_effects(const struct machine *m)
{
	return m == &machine_x86_64 ? machine_x86_64_effect : NULL;
}

const struct machine *machine_find(uint32_t elf)
{
	for (size_t i = 0; i < N_MACHINES; i++)
		if (machines[i]->elf == elf)
			return machines[i];
	return NULL;
}

const struct machine *machine_by_name(const char *name)
{
	for (size_t i = 0; i < N_MACHINES; i++)
		if (machines[i]->n_registers && !strcmp(machines[i]->name, name))
			return machines[i];
	return NULL;
}

const struct machine *machine_by_registers(uint64_t perf_mask)
{
	const struct machine *found = NULL;
	for (size_t i = 0; i < N_MACHINES; i++) {
		const struct machine *m = machines[i];
		if (m->n_registers && !(m->perf_mask & ~perf_mask) &&
		    (!found ||
		     __builtin_popcountll(m->perf_mask) > __builtin_popcountll(found->perf_mask)))
			found = m;
	}
	return found;
}

const struct machine *machine_native(void) { return machine_by_name(KIN_MACHINE); }
