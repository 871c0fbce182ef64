/* jit.h - names of JIT code, from files that the process writes.
 *
 * There are two kinds: perf-PID.map in the process's /tmp, lines of "START SIZE NAME" that hold for
 * its whole life; and jitdump files (jit-PID.dump, which the process maps), which also say when
 * code was made and moved. Both grow while the process runs; each reading continues where the last
 * one ended. PID is the id in the process's own pid namespace, and /tmp that of its file system. */
#ifndef RECORD_JIT_H
#define RECORD_JIT_H

#include <sys/types.h>

#include "base/base.h"
#include "unwind/row.h"

struct jit;
struct jit *jit_new(void);
void jit_free(struct jit *j); /* NULL is fine */

/* Adds a process that has ended. Its start (CLOCK_REALTIME) tells its files from older ones of
 * another process with the same id. */
void jit_add_ended(struct jit *j, pid_t pid, uint64_t start_time_ns);
/* Adds a jitdump file that the process maps. */
void jit_add_dump(struct jit *j, pid_t pid, const char *path, uint64_t time_ns);
/* Reads new data, and looks for files that did not exist before. */
void jit_update(struct jit *j);
/* The name of the code at the address at that time; NULL: not (yet) known. Opens the process's
 * files at the first call. Valid until the process is forgotten. */
const char *jit_find(struct jit *j, pid_t pid, uint64_t addr, uint64_t time_ns);

/* The unwind rule of the code at the address, from a jitdump that the process maps; false: there is
 * none. Reads on in the dump if the address is not known yet. */
bool jit_row(struct jit *j, pid_t pid, uint64_t addr, uint64_t time_ns, struct unwind_row *ret);

/* Notes the end of a process: its files are read for the last time and closed. Its names stay for
 * earlier samples, as the id may soon be another process's. */
void jit_end(struct jit *j, pid_t pid, uint64_t time_ns);
/* Whether the process that had the id at that time has ended, so that no more names will come. */
bool jit_has_ended(const struct jit *j, pid_t pid, uint64_t time_ns);
/* The number of ended processes that are not forgotten. */
size_t jit_n_ended(const struct jit *j);
/* Frees the names of processes that ended before. UINT64_MAX: of all that have ended. */
void jit_forget(struct jit *j, uint64_t before_ns);

#endif
