/* made_names.h - adds names of JIT code to a file of the collection runtime.
 *
 * The runtime samples JIT code and walks through it, but has no names for it. They are in files
 * that the process writes (record/jit.h); Java writes its file only at its end. The process that
 * started the program then adds the names of the addresses in stacks (KINF_MADE). */
#ifndef RECORD_MADE_NAMES_H
#define RECORD_MADE_NAMES_H

#include "base/base.h"

struct kin_error;

/* Adds names to the file of one process that has ended; to be called before anything else is
 * appended. No effect, and no error, if it is no such file, has no JIT code, or has such names
 * already. */
MUST_CHECK struct kin_error *made_names_put(const char *path);

#endif
