/* made_names.h - names of code made at run time, for a file that the runtime left.
 *
 * The runtime samples such code and walks through it, but does not name it: its names are in files
 * that the process writes (record/jit.h), Java's only when it ends. Who started the process reads
 * them then and adds those of the addresses that are in stacks (KINF_MADE). */
#ifndef RECORD_MADE_NAMES_H
#define RECORD_MADE_NAMES_H

#include "base/base.h"

struct kin_error;

/* To the file of one process that has ended, before anything else is put behind what it holds. No
 * error, and nothing is done, if it is no such file, holds no such code, or has such names. */
MUST_CHECK struct kin_error *made_names_put(const char *path);

#endif
