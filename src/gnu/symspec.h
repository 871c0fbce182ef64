/* symspec.h - symspecs, gprof's syntax for functions, lines, files and calls, and what they match.
 *
 *	FILE:FUNCTION  FILE:LINE  FILE:  :FUNCTION  :LINE
 *	NAME           a file if it holds a dot, a line if it starts with a digit, else a function
 *	FROM/TO        calls; an empty side is anything
 *
 * The last colon splits. A FILE is compared with the base names of the program's source files. */
#ifndef GNU_SYMSPEC_H
#define GNU_SYMSPEC_H

#include "analysis/selection.h"

enum spec_table { /* enum sel, followed by the tables of calls */
		  SPEC_INCL_ARCS = SEL_N,
		  SPEC_EXCL_ARCS,
};

struct symspec {
	const char *text; /* borrowed */
	int table;        /* enum sel or enum spec_table */
	char letter;      /* the option that gave it, for messages */
};

struct symspec_call { /* FROM/TO with one place on each side; or, with several FROMs, one of them,
			 and `to` NONE */
	symid from, to;
};

struct symspec_calls {
	VEC(struct symspec_call) v;
};

struct symspec_opts {
	bool gnu; /* GNU gprof 2.40's matching: raw names, one file per base name, and only the last
		     of several specs that begin at the same function */
	/* gnu: GNU's -r counts the calls that FROM/TO names among the calls of the program. Filled
	 * in GNU's order; NULL: not needed. */
	struct symspec_calls *calls;
	void (*warn)(const char *text,
		     void *arg); /* called with specs that matched nothing; or NULL */
	void *arg;
};

/* Fills *ret, initialised by selection_init() for s, from the specs and the functions excluded by
 * default (selection_profiler_functions). Looks up source lines only if a spec needs them. Cost:
 * one pass over the names, and each spec's matches. */
void symspec_select(struct symbols *s, const struct symspec *specs, size_t n,
		    const struct symspec_opts *opts, struct selection *ret);

/* Calls opts->warn alone, which symspec_select() does not call for GNU's matching. */
void symspec_warn(struct symbols *s, const struct symspec *specs, size_t n,
		  const struct symspec_opts *opts);

#endif
