/* short_name.h - names of functions with less than all of their parts: for columns that are
 * narrower than they are, and for flame graphs. */
#ifndef BASE_SHORT_NAME_H
#define BASE_SHORT_NAME_H

#include "base/base.h"

/* The name in at most `width` columns, if what tells functions apart least can be left out for it:
 * the return type, which instances of function templates have, arguments of templates and
 * parameters, the longest first, as "f<…>(…)", then outer scopes, as "…f(…)". What is left may
 * still be wider, and is then as short as it gets. Valid UTF-8 in and out; to be freed. */
char *short_name(const char *name, size_t width);

/* The name without the return type, the parameters, and what stands behind these (const, [clone
 * ...]): *n bytes of `name`. Parameters within it stay: of the function that something is in, of a
 * lambda, of a type in a template's arguments. Without parameters it is whole. */
const char *bare_name(const char *name, size_t *n);

#endif
