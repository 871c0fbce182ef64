/* inlined_into.h - finds functions that exist only as inlined instances, for views whose places are
 * linkage functions or lines. */
#ifndef SYMBOLIZE_INLINED_INTO_H
#define SYMBOLIZE_INLINED_INTO_H

#include "symbolize/program.h"

/* Whether `name`, as typed by a user, means the inlined function with the name `raw` in debug
 * information. */
bool inlined_is_called(const char *raw, const char *name, enum demangle_style style);

/* The functions into which a function of this name was inlined at some address of the profile:
 * places of the program, ascending, *n of them, to be freed. `p`: the profile that the program
 * names. Decodes debug information for all of these addresses. */
symid *inlined_into(struct program *g, const struct profile *p, const char *name, size_t *n);

#endif
