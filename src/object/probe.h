/* probe.h - checks whether a file is a profiled program without opening it as an object. */
#ifndef OBJECT_PROBE_H
#define OBJECT_PROBE_H

#include "base/base.h"

/* Whether path is a regular file and an ELF program (no shared library, no .o) that calls mcount or
 * __fentry__, i.e. was compiled with -pg. False if it cannot be read. */
bool object_probe_profiled(const char *path);

/* Whether path is an ELF program that starts the profiler, i.e. was linked with -pg or libkinrt,
 * and so writes a gmon.out. */
bool object_probe_starts(const char *path);

#endif
