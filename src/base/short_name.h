/* short_name.h - names of functions for columns that are narrower than they are. */
#ifndef BASE_SHORT_NAME_H
#define BASE_SHORT_NAME_H

#include "base/base.h"

/* The name in at most `width` columns, if what tells functions apart least can be left out for it:
 * the return type, which instances of function templates have, arguments of templates and
 * parameters, the longest first, as "f<…>(…)", then outer scopes, as "…f(…)". What is left may
 * still be wider, and is then as short as it gets. Valid UTF-8 in and out; to be freed. */
char *short_name(const char *name, size_t width);

#endif
