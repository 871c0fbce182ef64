/* probe.h - a first look at a file that may be a profiled program, without opening it as an object.
 */
#ifndef OBJECT_PROBE_H
#define OBJECT_PROBE_H

#include "base/base.h"

/* Whether path is a regular file that is an ELF program (no shared library, no .o) which calls
 * mcount or __fentry__, as compiled with -pg. False if it cannot be read. */
bool object_probe_profiled(const char *path);

/* Whether it also starts the profiler and so leaves a gmon.out, as linked with -pg. */
bool object_probe_starts(const char *path);

#endif
