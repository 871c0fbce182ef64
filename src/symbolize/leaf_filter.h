/* leaf_filter.h - selects samples by the function, program or library of their innermost frame. */
#ifndef SYMBOLIZE_LEAF_FILTER_H
#define SYMBOLIZE_LEAF_FILTER_H

#include "symbolize/program.h"

struct leaf_filter;

/* `functions` and `objects` are in the users' syntax: "f,n::g<int, char>"; "prog,libc.so.6", by
 * path or its last part; NULL: all. Functions match by symbols_is_called(); the innermost inlined
 * function counts, unless g has no inlined functions, or with `no_inlines`, where frames that the
 * data marks as inlined do not count either. Borrows all arguments. */
struct leaf_filter *leaf_filter_new(const struct profile *p, struct program *g,
				    const char *functions, const char *objects, bool no_inlines);
void leaf_filter_free(struct leaf_filter *f); /* NULL is fine */

bool leaf_filter_passes(struct leaf_filter *f, const struct sample *s);

/* Whether the innermost function of a stack is one of the functions. */
bool leaf_filter_names(struct leaf_filter *f, stackid stack);

#endif
