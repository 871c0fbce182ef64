/* gnu_order.h - suggested orders of functions and of object files that put callers near callees:
 * gprof's -r and -R.
 *
 * Greedy: starting with the most used arc, each arc ties a function that is still alone to an end
 * of the other function's chain. Cost: O(n log n) in functions and arcs. */
#ifndef GNU_GNU_ORDER_H
#define GNU_GNU_ORDER_H

#include "analysis/callgraph.h"

/* All symbols, each once: those called from many places, then chains of callers and callees, then
 * those never called. *n of them, freed with free(). `gnu`: as GNU gprof 2.40, which loses a
 * function that it should put first. */
struct order_call {
	symid from, to; /* to NONE: `from` is one of the functions called from many places */
};
struct order_opts {
	bool gnu;
	/* gnu: further calls, before those of the program, that never happened. They are between
	 * copies of functions, which appear in the result again */
	const struct order_call *extra;
	size_t n_extra;
};
symid *order_functions(const struct callgraph *g, const struct order_opts *opts, size_t *n);

struct file_map_entry { /* a function in an object file */
	const char *file, *function;
};

/* The files of the map, each once: freed with free(), the names are the map's. Files without calls
 * and without listed functions come last. `gnu`: as GNU gprof 2.40 with a zeroed heap; a symbol
 * represents a file if its name is the map's very string. */
const char **order_files(const struct profile *p, const struct symbols *s,
			 const struct file_map_entry *map, size_t n_map,
			 const struct selection *sel, bool gnu, size_t *n);

#endif
