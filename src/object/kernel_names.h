/* kernel_names.h - chooses among several names of one kernel address the one in the kernel's
 * documentation. */
#ifndef OBJECT_KERNEL_NAMES_H
#define OBJECT_KERNEL_NAMES_H

#include <string.h>

#include "base/base.h"

/* Rank of a name among those that macros make of one function: system calls are "__x64_sys_read";
 * others are its body, or its variants for other ABIs; "__pi_" is code that runs before the kernel
 * is at its final address. Smaller is better; of equal ones the first in the kernel's list counts.
 */
static inline unsigned kernel_name_rank(const char *name)
{
	static const char *const made[] = { "__ia32_", "__se_", "__do_sys_", "__pi_" };
	for (unsigned i = 0; i < ARRAY_LEN(made); i++)
		if (!strncmp(name, made[i], strlen(made[i])))
			return i + 1;
	return 0;
}

#endif
