/* inlined_into.h - functions that are only there where they were inlined, for views whose places
 * are those of the linker or of lines. */
#ifndef SYMBOLIZE_INLINED_INTO_H
#define SYMBOLIZE_INLINED_INTO_H

#include "symbolize/program.h"

/* Whether a person who wrote `name` means the inlined function that debug information calls `raw`.
 */
bool inlined_is_called(const char *raw, const char *name, enum demangle_style style);

/* The functions that one of this name was inlined into at an address that the profile has: places
 * of the program, ascending, *n of them, to be freed. `p`: the profile that the program names.
 * Debug information is decoded for all of these addresses. */
symid *inlined_into(struct program *g, const struct profile *p, const char *name, size_t *n);

#endif
