/* preload.h - sets up a program's environment with the collection runtime. */
#ifndef RECORD_PRELOAD_H
#define RECORD_PRELOAD_H

#include "base/base.h"

struct kin_error;

struct preload_opts {
	const char *output; /* the .kin file */
	bool no_rank;       /* do not add the rank of a parallel job to the name */
	bool literal;       /* percent signs in the name are literal */
	unsigned frequency; /* samples per second of CPU time; 0: none */
	bool leaves;        /* samples without callers */
	bool no_arcs, no_gmon;
	bool latency;    /* measure durations of calls whose ends are known */
	const char *run; /* stored in the files to identify the run; NULL: none. No commas */
	bool verbose;    /* the runtime prints problems on standard error */
};

#define KINRT "libkinrt.so.0" /* soname of the library */
/* The path of the library, installed beside this program or in the build folder; NULL: it is
 * missing. To be freed. */
char *preload_find(void);

/* Sets LD_PRELOAD, KIN_OPTIONS and ASAN_OPTIONS of this process, for programs that it starts.
 * Existing values are kept. If a setting is given twice, the user's own counts, except for the
 * file's name. Fails if the library is missing, or is at a path that LD_PRELOAD cannot hold. */
struct kin_error *preload_set(const struct preload_opts *o) __attribute__((warn_unused_result));
/* To be called before preload_set(): the file name in the user's KIN_OPTIONS, which has no effect;
 * NULL: there is none. */
const char *preload_other_output(void);
/* To be called after preload_set(), for further runs of the program: stores the run's number, from
 * 1, in the files. */
void preload_set_repetition(unsigned n);

/* Compiler flags for this machine, besides -pg, that put hooks before a function's own code, and
 * that make stacks walkable at every instruction. Static; NULL: none. */
const char *preload_flag_for_hooks(void);
const char *preload_flag_for_stacks(void);

/* Why a program (a path, or a name to be searched in PATH) will not load the library, as words that
 * follow its name; NULL: no reason is known. *remedy is set to an alternative ("use kin record") if
 * there is one, and otherwise left alone. Both are static. */
const char *preload_obstacle(const char *program, const char **remedy);

#endif
