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
#include "unwind/row.h"

struct jit;
struct jit *jit_new(void);
void jit_free(struct jit *j); /* NULL is fine */

/* A process that has ended, and began at that time (CLOCK_REALTIME): an older file is of another
 * one that had the id. */
void jit_add_ended(struct jit *j, pid_t pid, uint64_t start_time_ns);
/* The process maps a jitdump file. */
void jit_add_dump(struct jit *j, pid_t pid, const char *path, uint64_t time_ns);
/* Looks for what is new, and for files that were not there. */
void jit_update(struct jit *j);
/* The name of what was at the address at that time; NULL: not (yet) known. Opens the process's
 * files when first asked about it. Lives until the process is forgotten. */
const char *jit_find(struct jit *j, pid_t pid, uint64_t addr, uint64_t time_ns);

/* The rule to step out of the code at the address, as a jitdump that the process maps has it;
 * false: it says nothing. Reads on in the dump where it has not told of the address. */
bool jit_row(struct jit *j, pid_t pid, uint64_t addr, uint64_t time_ns, struct unwind_row *ret);

/* The process ended then: its files are read for the last time and closed. Its names stay for
 * samples of before; the id may soon be another process's. */
void jit_end(struct jit *j, pid_t pid, uint64_t time_ns);
/* Whether the process that had the id at that time has ended: there will be no more names. */
bool jit_has_ended(const struct jit *j, pid_t pid, uint64_t time_ns);
/* How many have, and are not forgotten. */
size_t jit_n_ended(const struct jit *j);
/* Frees what is known of those that ended before. UINT64_MAX: of all that have ended. */
void jit_forget(struct jit *j, uint64_t before_ns);

#endif
