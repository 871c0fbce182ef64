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
	bool no_arcs, no_blocks, no_gmon;
	bool latency;    /* measure durations of calls whose ends are known */
	const char *run; /* stored in the files to identify the run; NULL: none. No commas */
	bool verbose;    /* the runtime prints problems on standard error */
};

#define KINRT "libkinrt.so.0" /* its soname */
/* The path of the library, installed beside this program or in the build folder; NULL: it is
 * missing. To be freed. */
char *preload_find(void);

/* Sets LD_PRELOAD, KIN_OPTIONS and ASAN_OPTIONS of this process, for programs that it starts.
 * Existing values are kept; if a setting is given twice, the user's own counts, except for the
 * file's name. An error if the library is missing, or is at a path that LD_PRELOAD cannot hold. */
struct kin_error *preload_set(const struct preload_opts *o) __attribute__((warn_unused_result));
/* Before that: where the user's KIN_OPTIONS name a file, which does not count; NULL: they do not.
 */
const char *preload_other_output(void);
/* After that, for a further run of the program: its number, from 1, is stored in the files. */
void preload_set_repetition(unsigned n);

/* Compiler flags for this machine, besides -pg, that put hooks before a function's own code, and
 * that make stacks walkable at every instruction. Static; NULL: none. */
const char *preload_flag_for_hooks(void);
const char *preload_flag_for_stacks(void);

/* Why a program (a path, or a name to be searched in PATH) will not load the library, in words that
 * follow its name; NULL: no reason is known. *remedy is set to an alternative ("use kin record"),
 * if there is one, and else untouched. Both static. */
const char *preload_obstacle(const char *program, const char **remedy);

#endif
