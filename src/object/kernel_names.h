/* kernel_names.h - how lists of the kernel's symbols are read: which name of several at one address
 * counts, and how far a symbol reaches. */
#ifndef OBJECT_KERNEL_NAMES_H
#define OBJECT_KERNEL_NAMES_H

#include <string.h>

#include "base/base.h"

/* How far behind a symbol its code may reach, as lists have no sizes. An address further behind
 * belongs to something else, such as a module that is not in the list. */
enum { KERNEL_FUNCTION_MAX = 1 << 20 };

/* Rank of a name among the names that macros make for one function. "__x64_sys_read" is a system
 * call itself; other names are its body, or its variants for other ABIs; "__pi_" marks code that
 * runs before the kernel is at its final address. Smaller is better; of equal ones the first in the
 * kernel's list counts. */
static inline unsigned kernel_name_rank(const char *name)
{
	static const char *const made[] = { "__ia32_", "__se_", "__do_sys_", "__pi_" };
	for (unsigned i = 0; i < ARRAY_LEN(made); i++)
		if (!strncmp(name, made[i], strlen(made[i])))
			return i + 1;
	return 0;
}

#endif
