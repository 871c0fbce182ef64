/* debug_package.h - finds the package with the debug symbols of a file, by dpkg's lists. */
#ifndef SYMBOLIZE_DEBUG_PACKAGE_H
#define SYMBOLIZE_DEBUG_PACKAGE_H

#include "base/base.h"

/* The name, to be freed: "libllvm14-dbgsym". `folder` has the lists; NULL: /var/lib/dpkg/info. NULL
 * result: no package has the file, or there is no dpkg. Cost: reads the lists, about ten megabytes,
 * unless the package has the file's name. */
char *debug_package_of(const char *path, const char *folder);

/* The archive that has such a package, as a line for apt's sources, to be freed: "deb
 * http://deb.debian.org/debian-debug bookworm-debug main". NULL: the usual ones have it, or it is
 * not known. `release`: NULL: /etc/os-release. */
char *debug_archive_of(const char *package, const char *release);

#endif
