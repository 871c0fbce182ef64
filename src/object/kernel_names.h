/* kernel_names.h - which of several names of one address the kernel's documentation uses. */
#ifndef OBJECT_KERNEL_NAMES_H
#define OBJECT_KERNEL_NAMES_H

#include <string.h>

#include "base/base.h"

/* What macros make of one function: system calls are "__x64_sys_read", others of these are its
 * body, or it for other programs; "__pi_" is code that runs before the kernel is where it is to be.
 * The smaller, the better; of equal ones the first in the kernel's list. */
static inline unsigned kernel_name_rank(const char *name)
{
	static const char *const made[] = { "__ia32_", "__se_", "__do_sys_", "__pi_" };
	for (unsigned i = 0; i < ARRAY_LEN(made); i++)
		if (!strncmp(name, made[i], strlen(made[i])))
			return i + 1;
	return 0;
}

#endif
