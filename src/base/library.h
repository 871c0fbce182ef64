/* library.h - libraries that are loaded when they are first needed: each start of kin would wait
 * for them. A program that is one file has some of them inside instead (cli/library_inside.c). */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include "base/base.h"

/* NULL: it is not here. It stays in memory after library_close(): the next one need not relocate it
 * again, and some cannot be unloaded. */
void *library_open(const char *name);
void library_close(void *library);

/* NULL: the library has no such function. */
void *library_function(void *library, const char *name);
/* The same as a pointer to a function with the type of `name`. */
#define LIBRARY_FUNCTION(library, name)                                                            \
	((__typeof__(&name))(uintptr_t)library_function((library), #name))

/* What to do where library_open() found nothing: "install libcapstone4". */
const char *library_remedy(const char *install);

#endif
