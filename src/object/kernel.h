/* kernel.h - names for addresses of the kernel, from /proc/kallsyms.
 *
 * They are read once per boot and kept in the cache folder beside the tables for unwinding. Reading
 * them takes a tenth of a second, in which a recorder had better not be away: a thread of its own
 * does that. */
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
/* Whether names can be asked for without waiting; the first call begins to read them. */
bool kernel_is_ready(struct kernel *k);
/* False if nothing is known: an address of nothing, or the kernel keeps its addresses secret.
 * Strings live as long as k. What was looked up lately is remembered, in a few MB at most. */
bool kernel_find(struct kernel *k, uint64_t addr, struct kernel_symbol *ret);
/* Whether names could be read. */
bool kernel_has_names(struct kernel *k);
/* The errno of the last time that names which are there could not be read; 0: that never happened.
 * Not while they are still being read. */
int kernel_trouble(const struct kernel *k);

#define KERNEL_NOTES "/sys/kernel/notes"
/* The build id, in hex, of the kernel that runs. False if it does not say, *errnum then being 0, or
 * if that could not be read. */
bool kernel_build_id(char ret[41], int *errnum);

/* From its first to its last instruction, without modules. */
bool kernel_range(struct kernel *k, uint64_t *start, uint64_t *end);

#endif
