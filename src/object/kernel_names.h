/* kernel_names.h - how lists of the kernel's symbols are read: which name of several at one address
 * counts, and how far a symbol reaches. */
#ifndef OBJECT_KERNEL_NAMES_H
#define OBJECT_KERNEL_NAMES_H

#include <string.h>

#include "base/base.h"

/* Lists have no sizes. What lies further behind a symbol is none of its code: it is of a module,
 * say, that the list does not have. */
enum { KERNEL_FUNCTION_MAX = 1 << 20 };

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
