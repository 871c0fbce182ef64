/* jit.h - names of code made at run time, as the process that made it says.
 *
 * Two ways of saying: perf-PID.map in the process's /tmp, lines of "START SIZE NAME", for as long
 * as the process lives; and jitdump files (jit-PID.dump, which the process maps), which say when
 * code was made and moved, too. Both grow while the process runs and are read on from where they
 * ended. PID is that of the process's own pid namespace, and /tmp that of its file system. */
#ifndef RECORD_JIT_H
#define RECORD_JIT_H

#include <sys/types.h>

#include "base/base.h"

struct jit;
struct jit *jit_new(void);
void jit_free(struct jit *j); /* NULL is fine */

/* The process maps a jitdump file. */
void jit_add_dump(struct jit *j, pid_t pid, const char *path);
/* Looks for what is new, and for files that were not there. */
void jit_update(struct jit *j);
/* The name of what was at the address at that time; NULL: not (yet) known. Opens the process's
 * files when first asked about it. Lives as long as j. */
const char *jit_find(struct jit *j, pid_t pid, uint64_t addr, uint64_t time_ns);

#endif
