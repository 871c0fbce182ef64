/* kallsyms.h - names of a kernel's functions: of the one that runs, or from text in the format of
 * /proc/kallsyms, "address type name [module]" lines. */
#ifndef SYMBOLIZE_KALLSYMS_H
#define SYMBOLIZE_KALLSYMS_H

#include "base/base.h"

struct kallsyms;
struct kin_error;
/* Fails if the file cannot be read, or hides the addresses as it does from plain users. */
MUST_CHECK struct kin_error *kallsyms_open(const char *path, struct kallsyms **ret);
/* Those of the kernel that runs, kept from the last time (object/kernel.h). */
struct kallsyms *kallsyms_of_running(void);
void kallsyms_free(struct kallsyms *k);
/* What could not be read of the running kernel's, though it is there; NULL: nothing. */
MUST_CHECK struct kin_error *kallsyms_trouble(const struct kallsyms *k);
/* The name of the function at an address, valid until the next call, and where it starts; NULL if
 * there is none. A binary search. */
const char *kallsyms_find(const struct kallsyms *k, uint64_t addr, uint64_t *start);

/* Whether a kernel's build id (hex) is the running one's. *errnum: why that is not known, or 0. */
bool kernel_is_running(const char *build_id, int *errnum);

#endif
