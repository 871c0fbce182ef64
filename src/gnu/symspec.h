/* symspec.h - gprof's way of naming functions, lines, files and calls, and finding what it names.
 *
 *	FILE:FUNCTION  FILE:LINE  FILE:  :FUNCTION  :LINE
 *	NAME           a file if it holds a dot, a line if it starts with a digit, else a function
 *	FROM/TO        calls; an empty side is anything
 *
 * The last colon splits. A FILE is compared with the base names of the program's source files. */
#ifndef GNU_SYMSPEC_H
#define GNU_SYMSPEC_H

#include "analysis/selection.h"

enum spec_table { /* enum sel, and then the tables of calls */
		  SPEC_INCL_ARCS = SEL_N,
		  SPEC_EXCL_ARCS,
};

struct symspec {
	const char *text; /* borrowed */
	int table;        /* enum sel or enum spec_table */
	char letter;      /* the option that gave it, for messages */
};

struct symspec_call { /* FROM/TO, where each side is one place; or one of several FROMs, to NONE */
	symid from, to;
};

struct symspec_calls {
	VEC(struct symspec_call) v;
};

struct symspec_opts {
	bool gnu; /* GNU gprof 2.40's matching: raw names, one file per base name, and of several
		   * specs that begin at the same function only the last */
	/* gnu: GNU's -r counts what FROM/TO names among the calls of the program. Filled in the
	 * order in which it comes upon them; NULL: not wanted. */
	struct symspec_calls *calls;
	void (*warn)(const char *text, void *arg); /* told what spec named nothing; or NULL */
	void *arg;
};

/* Fills *ret, which was selection_init()ed for s, from the specs and the functions that are left
 * out without being asked (selection_profiler_functions). Looks source lines up only if a spec
 * needs them. Cost: one pass over the names, and per spec what it matches. */
void symspec_select(struct symbols *s, const struct symspec *specs, size_t n,
		    const struct symspec_opts *opts, struct selection *ret);

#endif
