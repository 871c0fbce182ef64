/* library.c - loads libraries by the dynamic loader. */
#include "base/library.h"

#include <dlfcn.h>

void *library_open(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE); }
void library_close(void *library) { dlclose(library); }
void *library_function(void *library, const char *name) { return dlsym(library, name); }
const char *library_remedy(const char *install) { return install; }
