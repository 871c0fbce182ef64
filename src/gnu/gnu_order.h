/* gnu_order.h - suggested orders of functions and of object files, so that what calls each other
 * lies close together: gprof's -r and -R.
 *
 * Greedy: arcs from the most used on, each ties a function that is still alone to an end of the
 * other's chain. Cost: O(n log n) in functions and arcs. */
#ifndef GNU_GNU_ORDER_H
#define GNU_GNU_ORDER_H

#include "analysis/callgraph.h"

/* All symbols, each once: those that are called from many places, then chains of callers and
 * callees, then what is never called. *n of them, freed with free(). `gnu`: as GNU gprof 2.40,
 * which forgets a function that it meant to put first. */
struct order_call {
	symid from, to; /* to NONE: `from` comes out with what is called much */
};
struct order_opts {
	bool gnu;
	/* gnu: calls that stand before those of the program, never happened, and are between
	 * functions of their own: they come out once more */
	const struct order_call *extra;
	size_t n_extra;
};
symid *order_functions(const struct callgraph *g, const struct order_opts *opts, size_t *n);

struct file_map_entry { /* one function of one object file */
	const char *file, *function;
};

/* The files of the map, each once: freed with free(), the names are the map's. Files without code
 * that was called or listed come last. `gnu`: as GNU gprof 2.40 with a heap of zeroes; a
 * symbol stands for a file if its name is that string of the map. */
const char **order_files(const struct profile *p, const struct symbols *s,
			 const struct file_map_entry *map, size_t n_map,
			 const struct selection *sel, bool gnu, size_t *n);

#endif
