/* kernel.h - names of kernel addresses, from /proc/kallsyms.
 *
 * They are read once per boot and kept in the cache folder beside the unwind tables. Reading takes
 * a tenth of a second, too long for a recorder to pause, so a separate thread does it. */
#ifndef OBJECT_KERNEL_H
#define OBJECT_KERNEL_H

#include "base/base.h"

struct kernel;
struct kernel *kernel_new(void);
void kernel_free(struct kernel *k); /* NULL is fine */

struct kernel_symbol {
	const char *name;
	const char *module; /* without brackets; NULL: the kernel itself */
	uint64_t addr;
};
/* Whether names can be looked up without waiting; the first call starts reading them. */
bool kernel_is_ready(struct kernel *k);
/* False if nothing is known: no symbol at the address, or the kernel hides its addresses. Strings
 * live as long as k. Recent lookups are cached, in a few MB at most. */
bool kernel_find(struct kernel *k, uint64_t addr, struct kernel_symbol *ret);
/* Whether names could be read. */
bool kernel_has_names(struct kernel *k);
/* The errno of the last failure to read names that exist; 0: none. Not to be called while they are
 * being read. */
int kernel_trouble(const struct kernel *k);

#define KERNEL_NOTES "/sys/kernel/notes"
/* The build id, in hex, of the running kernel. False if the kernel does not tell (*errnum 0), or if
 * that could not be read. */
bool kernel_build_id(char ret[41], int *errnum);
/* Whether a build id (hex; NULL: of no kernel) is the running kernel's. *errnum: why that is not
 * known, or 0. */
bool kernel_is_running(const char *build_id, int *errnum);

/* The range of its code, without modules. */
bool kernel_range(struct kernel *k, uint64_t *start, uint64_t *end);

#endif
