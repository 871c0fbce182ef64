/* callgraph.h - time per symbol, calls between them, and time propagated from callees to callers.
 *
 * From counted arcs and a histogram: time is *apportioned* by call counts, as gprof does, so every
 * number that went through an arc is an estimate, and reports say so.
 *
 * Times are in histogram counts ("ticks"), fractional because a bin may be split between symbols;
 * divide by `rate` for the dimension's unit (seconds). */
#ifndef ANALYSIS_CALLGRAPH_H
#define ANALYSIS_CALLGRAPH_H

#include "analysis/selection.h"
#include "profile/profile.h"

typedef uint32_t nodeid; /* symids first, then cycles: cycle c (from 1) is node n_symbols + c - 1 */

struct cg_node {
	double self;	/* ticks in the symbol; for a cycle: in its members */
	double child;	/* ticks inherited from callees, before fractions */
	double shown_self, shown_child; /* the part to be shown under SEL_*_TIME: self and child unless asked */
	uint64_t calls;	     /* from outside itself (cycle: from outside the cycle) */
	uint64_t self_calls; /* direct recursion (cycle: between different members) */
	uint32_t cycle;	     /* 0: in none */
	uint32_t index;	     /* 1..: the number in brackets; given to every node */
	bool shown;	     /* has an entry of its own in the graph */
	uint32_t first_out, n_out; /* arcs[]: calls made; newest first within gnu's meaning: descending seq */
	uint32_t first_in, n_in;   /* in[]: indexes of arcs[] that call this node */
	uint32_t first_member, n_members; /* cycles: members[] */
};

struct cg_arc {
	symid from, to;
	uint64_t count;
	double self, child; /* what `to` hands to `from` along this arc */
};

struct callgraph {
	const struct symbols *symbols; /* borrowed */
	size_t n_symbols, n_cycles;
	struct cg_node *nodes;	 /* [n_symbols + n_cycles] */
	struct cg_arc *arcs;	 /* by `from`; each group ordered as callees are listed */
	size_t n_arcs;
	uint32_t *in;		 /* arc indexes by `to`; each group ordered as callers are listed */
	symid *members;		 /* of the cycles, each group ordered as listed */
	nodeid *order;		 /* nodes by index: order[i] has index i + 1 */

	bool has_histogram, has_arcs;
	double total;		 /* ticks of the flat profile: with what SEL_*_FLAT left out taken off */
	double shown_total;	 /* ticks of the graph: sum of shown_self */
	double rate;		 /* ticks per unit; 1 if unknown */
	double bin_bytes;	 /* bytes of code per histogram bin; 0 without histogram */
	double outside;		 /* ticks at addresses that belong to no symbol */
	char dimension[16];	 /* "seconds" */
	char abbrev;		 /* 's' */
};

struct callgraph_opts {
	bool gnu;	   /* GNU gprof 2.40's arithmetic and accidents (doc/differences.md) */
	bool static_calls; /* gprof -c: add arcs found in the code */
	const struct selection *selection; /* NULL: everything */
	uint32_t max_cycle; /* BSD gprof -C: break cycles of more members than this; 0: leave them */
};

/* Cannot fail. Cost: O(n log n) in symbols, arcs and bins. */
struct callgraph *callgraph_new(const struct profile *p, struct symbols *s,
				const struct callgraph_opts *opts);
void callgraph_free(struct callgraph *g); /* NULL is fine */

#endif
