/* machine.c - the machines that are known. */
#include "machine/machine.h"

#include <string.h>

static const struct machine *const machines[] = { &machine_x86_64, &machine_aarch64,
						  &machine_riscv64, &machine_i386 };

enum { N_MACHINES = sizeof(machines) / sizeof(machines[0]) };

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

const struct machine *machine_native(void)
{
#if defined(__x86_64__) && defined(__LP64__)
	return &machine_x86_64;
#elif defined(__aarch64__)
	return &machine_aarch64;
#elif defined(__riscv) && __riscv_xlen == 64
	return &machine_riscv64;
#else
	return NULL;
#endif
}
