/* own_code.h - tells the program's own code from that of others.
 *
 * Code is own if its source file belongs to the program's project. Others' code is that of the
 * system's headers and libraries, of compilers, package managers and language runtimes, and the
 * kernel. A table of directories and names decides (own_code.c), and before it the directories that
 * the user named: of several the longest. */
#ifndef SYMBOLIZE_OWN_CODE_H
#define SYMBOLIZE_OWN_CODE_H

#include "base/base.h"

struct own_dirs { /* NULL-terminated directories; NULL: none */
	const char *const *own, *const *foreign;
};

struct own_code;

/* `program`: path of the recorded program; "": not known. `runs_scripts`: it is an interpreter:
 * names of scripts are in the data, and what is installed with it is not own. Copies all. */
struct own_code *own_code_new(const struct own_dirs *dirs, const char *program, bool runs_scripts);
void own_code_free(struct own_code *c); /* NULL is fine */

/* The i-th directory that the user called own, absolute; NULL: there are no more. Lives as long as
 * c. */
const char *own_code_dir(const struct own_code *c, size_t i);

struct own_subject {        /* a function */
	const char *name;   /* as in the file or the data: not demangled */
	const char *file;   /* its source file; NULL: not known */
	const char *object; /* path of its program or library; "": not known */
	bool is_kernel;
	bool is_named;  /* the data names it: a function of a script, JIT code */
	bool is_main;   /* in the recorded program itself */
	bool has_lines; /* the object has debug information */
};

struct own_verdict {
	bool is_own;
	const char *why; /* the rule, in a few words; lives as long as c */
};

struct own_verdict own_code_of(const struct own_code *c, const struct own_subject *s);

/* Whether a name in the data is that of a script's function, as Python and Node write them:
 * "py::parse:/src/t.py", "JS:*fib /src/f.js:1:13". *file, to be freed, is NULL if it has none. */
bool own_code_script(const char *name, char **file);

#endif
