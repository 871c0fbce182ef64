/* dwarf_scope.h - where functions are declared: namespaces, classes, other functions.
 *
 * Compilers give no linkage name to what other files cannot see: members of anonymous namespaces,
 * lambdas, local classes. Their own name alone ("get", "operator()") is many functions'. Here it
 * gets the names of the entries around its declaration: "n::(anonymous namespace)::B::get", and a
 * lambda is told by where it is written, "run(int)::{lambda at t.cpp:31}". */
#ifndef OBJECT_DWARF_SCOPE_H
#define OBJECT_DWARF_SCOPE_H

#include "base/strtab.h"
#include "object/dwarf_info.h"

struct dwarf_scopes;

/* Both borrow their arguments. `work_left`: bytes of entries that may still be read; what is beyond
 * has its own name alone. */
struct dwarf_scopes *dwarf_scopes_new(struct dwarf_info *d, uint64_t *work_left);
void dwarf_scopes_free(struct dwarf_scopes *s); /* NULL is fine */

/* As dwarf_function_name(); a name that is no linkage name is preceded by its scopes. NULL if it
 * has none. Lives as long as the scopes and what they borrow. Cost: the first time a pass over the
 * unit of the declaration. */
const char *dwarf_scopes_name(struct dwarf_scopes *s, const struct dwarf_unit *u,
			      const struct dwarf_function *f);

#endif
