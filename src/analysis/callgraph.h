/* callgraph.h - time per symbol, calls between them, and time propagated from callees to callers.
 *
 * From counted arcs and a histogram: time is *apportioned* by call counts, as gprof does, so every
 * number that went through an arc is an estimate, and reports say so. From sampled stacks: time is
 * what was measured on each arc (measure.c); counts, where there are some, are beside it.
 *
 * Times are in histogram counts ("ticks"), fractional because a bin may be split between symbols;
 * divide by `rate` for the dimension's unit (seconds). */
#ifndef ANALYSIS_CALLGRAPH_H
#define ANALYSIS_CALLGRAPH_H

#include "analysis/selection.h"
#include "profile/profile.h"
#include "symbolize/program.h"

typedef uint32_t nodeid; /* symids first, then cycles: cycle c (from 1) is node n_symbols + c - 1 */
typedef uint32_t arcid;  /* index into arcs[] */

struct cg_node {
	double self;        /* ticks in the symbol; for a cycle: in its members */
	double child;       /* ticks inherited from callees */
	double fraction;    /* of self and child that is shown: 1 unless SEL_*_TIME or calls from
			       hidden code */
	double shown_child; /* what the graph lists: child times fractions; see
			       callgraph_shown_self() */
	uint64_t calls;     /* from outside itself (cycle: from outside the cycle) */
	uint64_t sharing_calls;  /* of calls: those that time is shared between; fewer if arcs were
				    cut */
	uint64_t self_calls;     /* direct recursion (cycle: between different members) */
	uint64_t outside_calls;  /* of calls: from code that is no place of this program */
	uint32_t cycle;          /* 0: in none */
	uint32_t index;          /* 1..: the number in brackets; given to every node */
	uint32_t top_order : 31; /* callees have smaller ones than callers; equal within a cycle */
	uint32_t shown : 1;      /* has an entry of its own in the graph */
	uint32_t n_members;      /* cycles: how many */
	uint32_t first_out, n_out; /* arcs[]; for a cycle: first_out indexes members[] */
	uint32_t first_in, n_in;   /* in[] */
};

struct cg_arc {
	symid from, to;
	uint64_t count;
};

/* A time that went through an arc: of its callee the own part, and the callees' part. */
struct cg_time {
	double self, child;
};

struct cg_measured {          /* of an arc, from stacks: samples with it on them, each once */
	struct cg_time along; /* self: of those in the callee's own code */
	uint64_t samples;
};

struct cg_cycle {           /* a cycle of calls, on the stacks */
	uint64_t samples;   /* with a member on them */
	uint64_t reentered; /* of these, in which it was gone round */
	double inclusive;   /* as samples, in ticks */
};

/* What the stacks say of a cycle of calls. What was seen in none of n samples happens in at most
 * 3/n of the time, with a confidence of 95 % (rule of three: Hanley and Lippman-Hand 1983); of
 * fewer than 60 that says nothing. */
enum cg_verdict { CG_UNKNOWN, CG_CONFIRMED, CG_NOT_SEEN };

/* The arc as its callee has it: a copy, because a callee's arcs lie all over arcs[]. */
struct cg_in {
	symid from;
	arcid arc;
	uint64_t count;
};

struct callgraph {
	const struct symbols *symbols; /* borrowed */
	size_t n_symbols, n_cycles;
	struct cg_node *nodes;  /* [n_symbols + n_cycles] */
	struct cg_share *share; /* [n_symbols]: see callgraph_arc_time() */
	struct cg_part *part;   /* [n_symbols] */
	struct cg_arc *arcs;    /* by `from`, each group in order of first appearance in the data */
	uint32_t *seq; /* [n_arcs]: the place of each arc in that order, over all groups; NULL: as
			* in arcs[] */
	size_t n_arcs;
	struct cg_in *in; /* arcs by `to`, each group newest first; in the block of arcs; may be
			     NULL if flat_only */
	bool *is_cut;     /* [n_arcs]: hands on no time, so as to break a cycle; NULL: none */
	arcid *cut;       /* the arcs that are, in the order they were chosen */
	size_t n_cut;
	struct cg_measured *measured; /* [n_arcs]; NULL: time is apportioned by calls */
	bool is_assembled;            /* measured, but stacks are put together of calls */
	struct cg_time *roots;        /* [n_symbols]: entered from nowhere known; if measured */
	struct cg_cycle *cycles;      /* [n_cycles]; if measured */
	symid *members;               /* of the cycles, each group in the order they are listed */
	nodeid *order;                /* nodes by index: order[i] has index i + 1 */

	bool has_arcs;
	bool no_static_calls; /* static_calls was asked for, but the machine is not supported */
	bool refuses_scan;    /* static_calls: there is a symbol that the rules do not look into */
	double total;         /* ticks of the flat profile: without what SEL_*_FLAT left out */
	double shown_total;   /* ticks of the graph: sum of shown_self */
	double rate;          /* ticks per unit of dimension; 1 if unknown */
	double bin_bytes;     /* bytes of code per histogram bin; 0 without histogram */
	double outside;       /* ticks at addresses that belong to no symbol */
	char dimension[16];   /* "seconds" */
	char abbrev;          /* 's' */
};

static inline double callgraph_shown_self(const struct cg_node *n) { return n->self * n->fraction; }

/* What is handed to callers from a symbol, or from its cycle; small, as it is looked up per arc:
 * two in a cache line. */
struct cg_share {
	double self, child, calls; /* of the cycle, if it is in one; calls: those that share */
	uint32_t cycle;            /* 0: none */
	bool wanted;               /* the symbol's fraction is not 0 */
};

/* What callees look up of a caller. */
struct cg_part {
	double fraction;
	uint32_t cycle;
	bool shown;
};

/* What `to` hands to `from` along an arc, times from's fraction. Computed when asked for: a third
 * of the memory of keeping it. Not for what was measured: see measured[]. */
struct cg_time callgraph_arc_time(const struct callgraph *g, arcid arc, const struct cg_arc *a);

/* Whether the arc stays within one cycle, is a direct recursion or was cut: no time flows along it.
 */
bool callgraph_arc_is_inner(const struct callgraph *g, arcid arc, const struct cg_arc *a);

static inline uint32_t callgraph_arc_seq(const struct callgraph *g, arcid arc)
{
	return g->seq ? g->seq[arc] : arc;
}

/* `cycle` is a number, from 1. CG_UNKNOWN without stacks. *bound, of CG_NOT_SEEN: the largest part
 * of its time in which it may have been gone round. */
enum cg_verdict callgraph_verdict(const struct callgraph *g, size_t cycle, double *bound);

/* The node that stands for a symbol where time is handed on: its cycle, or itself. */
nodeid callgraph_head(const struct callgraph *g, symid id);

/* The arcs of an entry, in the order in which gprof lists them. */
enum cg_class { CG_RECURSION, CG_INNER, CG_OUTER }; /* direct; within a cycle, or cut; others */
struct cg_listed {
	symid other; /* the caller, or the callee */
	arcid arc;
	uint32_t seq;        /* of the arc: see callgraph_arc_seq() */
	enum cg_class class; /* time flows only along CG_OUTER arcs */
	uint64_t count;
	uint64_t samples;    /* if measured */
	struct cg_time time; /* 0 unless CG_OUTER */
	double total;        /* of time */
};
/* Fills ret[nodes[id].n_in], and [n_out]. */
void callgraph_list_callers(const struct callgraph *g, symid id, struct cg_listed *ret);
void callgraph_list_callees(const struct callgraph *g, symid id, struct cg_listed *ret);
/* The functions outside of a cycle (a number, from 1) that call its members, or are called by them,
 * each once: *n of them, to be freed. Of several arcs `arc` is one. */
struct cg_listed *callgraph_list_into_cycle(const struct callgraph *g, size_t cycle, size_t *n);
struct cg_listed *callgraph_list_out_of_cycle(const struct callgraph *g, size_t cycle, size_t *n);
/* The calls of a function that come from outside of its cycle, if it is in one. */
uint64_t callgraph_calls_from_outside(const struct callgraph *g, symid id);
/* A hint that the node will be looked at soon. It may lie on two cache lines. */
static inline void callgraph_prefetch_node(const struct cg_node *n)
{
	prefetch_line(n);
	prefetch_line((const char *)(n + 1) - 1);
}
/* A hint that the entry at this place of order[] will be listed soon, and those behind it. */
void callgraph_prefetch_entry(const struct callgraph *g, size_t place);

/* How a histogram's ticks become symbols' times, for programs that have it otherwise. */
struct credit_rules {
	bool bare_rate; /* the rate is that of the first histogram, even where it does not say: 0 */
	double (*bin_bytes)(const struct histogram *first); /* for callgraph.bin_bytes */
	/* Adds one histogram's to nodes[].self, total and outside. */
	void (*credit)(struct callgraph *g, const struct histogram *h, const struct selection *sel);
};

/* Which calls there are. */
struct arc_rules {
	bool inner_only; /* what is called from outside of all symbols is not counted as called */
	/* The code in which calls are looked for (static_calls), of one symbol at a time: may cut
	 * *range; sets refuses_scan if it cannot be. NULL: all of it. */
	void (*clip)(struct callgraph *g, const struct profile *p, symid id,
		     struct address_range *range);
	/* Whether a call that goes there counts. NULL: it does. */
	bool (*is_target)(const struct profile *p, uint64_t addr);
	const struct call_rules *calls; /* what is a call; NULL: as the disassembler says */
};

struct callgraph_rules {
	struct credit_rules credit;
	struct arc_rules arcs;
	/* A cycle has the part of its time shown that its callers hand it: that of one which is
	 * only entered from outside is not, whatever its members are. */
	bool cycles_inherit;
};

extern const struct callgraph_rules callgraph_rules; /* ours */

struct callgraph_opts {
	const struct callgraph_rules *rules; /* NULL: ours */
	bool static_calls;                   /* gprof -c: add arcs found in the code */
	const struct selection *selection;   /* NULL: everything */
	/* The profile itself, if its arcs and hits may be released as soon as they have been taken
	 * over: large programs have millions. NULL: they stay. */
	struct profile *consume;
	/* Sampled stacks, and the names of their frames; NULL: none. Then time is what was
	 * measured, histograms are left out, and a tick is the unit of the first event on a CPU. */
	const struct samples *samples;
	struct program *program; /* of which `s` are the symbols */
	bool no_inlines;         /* functions inlined are part of where they are */
	/* Entries of the graph are not wanted: node.index stays 0, order and in NULL, and which
	 * part of a symbol's time is shown is not looked into unless SEL_*_TIME asks for it. */
	bool flat_only;
	bool break_cycles;  /* BSD gprof -C: cut arcs until no cycle has more members than ... */
	uint32_t max_cycle; /* ... this */
};

/* Cannot fail. Cost: O(n log n) in symbols, arcs and bins. */
struct callgraph *callgraph_new(const struct profile *p, struct symbols *s,
				const struct callgraph_opts *opts);
void callgraph_free(struct callgraph *g); /* NULL is fine */

#endif
