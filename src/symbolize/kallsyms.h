/* kallsyms.h - names of a kernel's functions, from the running kernel or from a text in the format
 * of /proc/kallsyms: "address type name [module]" lines. */
#ifndef SYMBOLIZE_KALLSYMS_H
#define SYMBOLIZE_KALLSYMS_H

#include "base/base.h"

struct kallsyms;
struct kin_error;
/* Fails if the file cannot be read, or hides the addresses, as it does from unprivileged users. */
MUST_CHECK struct kin_error *kallsyms_open(const char *path, struct kallsyms **ret);
/* The symbols of the running kernel, cached from the last time (object/kernel.h). NULL: it hides
 * them. */
struct kallsyms *kallsyms_of_running(void);
void kallsyms_free(struct kallsyms *k);
/* Why symbols of the running kernel could not be read though they exist; NULL: no failure. */
MUST_CHECK struct kin_error *kallsyms_trouble(const struct kallsyms *k);
/* The name of the function at an address, valid until the next call, and its start; NULL if there
 * is none near enough (KERNEL_FUNCTION_MAX). A binary search. */
const char *kallsyms_find(const struct kallsyms *k, uint64_t addr, uint64_t *start);

#endif
