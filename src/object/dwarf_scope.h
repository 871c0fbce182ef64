/* dwarf_scope.h - scopes of functions: namespaces, classes, other functions.
 *
 * Compilers give no linkage name to functions that other files cannot see: members of anonymous
 * namespaces, lambdas, local classes. Their own name ("get", "operator()") is ambiguous, so it is
 * prefixed with the names of the entries around its declaration: "n::(anonymous
 * namespace)::B::get", and a lambda is identified by its source line, "run(int)::{lambda at
 * t.cpp:31}". */
#ifndef OBJECT_DWARF_SCOPE_H
#define OBJECT_DWARF_SCOPE_H

#include "base/strtab.h"
#include "object/dwarf_info.h"

struct dwarf_scopes;

/* Both borrow their arguments. `work_left`: bytes of entries that may still be read; functions
 * beyond get no scope. */
struct dwarf_scopes *dwarf_scopes_new(struct dwarf_info *d, uint64_t *work_left);
void dwarf_scopes_free(struct dwarf_scopes *s); /* NULL is fine */

/* As dwarf_function_name(); a name that is not a linkage name is prefixed with its scopes. NULL if
 * it has none. Lives as long as the scopes and what they borrow. The first call for a unit is a
 * pass over the unit of the declaration. */
const char *dwarf_scopes_name(struct dwarf_scopes *s, const struct dwarf_unit *u,
			      const struct dwarf_function *f);

#endif
