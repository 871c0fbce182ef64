/* debug_package.h - the package with the debug symbols of a file, where dpkg says which has the
 * file. */
#ifndef SYMBOLIZE_DEBUG_PACKAGE_H
#define SYMBOLIZE_DEBUG_PACKAGE_H

#include "base/base.h"

/* By the lists in `folder`, /var/lib/dpkg/info if NULL: "libllvm14-dbgsym", to be freed. NULL: no
 * package has the file, or there is no dpkg here. Cost: reads the lists, ten megabytes or so,
 * unless the package is called as the file is. */
char *debug_package_of(const char *path, const char *folder);

#endif
