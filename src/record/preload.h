/* preload.h - a program's environment with the collection runtime in it. */
#ifndef RECORD_PRELOAD_H
#define RECORD_PRELOAD_H

#include "base/base.h"

struct kin_error;

struct preload_opts {
	const char *output; /* the .kin file */
	bool no_rank;       /* that of a parallel job is not put into its name */
	bool literal;       /* a percent sign in its name is one */
	unsigned frequency; /* samples per second of CPU time; 0: none */
	bool leaves;        /* samples without their callers */
	bool no_arcs, no_blocks, no_gmon;
	bool latency;    /* how long calls take, where their ends are known */
	const char *run; /* kept in the files, to know them again; NULL: nothing. No commas */
	bool verbose;    /* the runtime says on standard error what goes wrong */
};

#define KINRT "libkinrt.so.0" /* its soname */
/* The library, as it is installed beside this program, or built; NULL: it is not. To be freed. */
char *preload_find(void);

/* Sets LD_PRELOAD and KIN_OPTIONS of this process, for programs that it starts. What is in them is
 * kept; of settings given twice those of the user's own KIN_OPTIONS count. An error if the library
 * is not there, or lies where LD_PRELOAD cannot name it. */
struct kin_error *preload_set(const struct preload_opts *o) __attribute__((warn_unused_result));

/* What a compiler for this machine is told beside -pg: for hooks that come before a function's own
 * code, and for stacks that can be walked wherever a sample falls. Static; NULL: nothing. */
const char *preload_flag_for_hooks(void);
const char *preload_flag_for_stacks(void);

/* Why a program (a path, or a name to be looked for in PATH) will not load the library, in words
 * that go after its name; NULL: nothing is known to hinder it. *remedy is what else could be done
 * ("use kin record"), if there is something; it stays as it is if not. Both static. */
const char *preload_obstacle(const char *program, const char **remedy);

#endif
