/* callgraph.h - time per symbol, calls between them, and time propagated from callees to callers.
 *
 * From counted arcs and a histogram, time is *apportioned* by call counts, as by gprof: every
 * number that went through an arc is an estimate, and reports say so. From sampled stacks, time is
 * measured on each arc (measure.c); counts are shown beside it if there are any.
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
	double self;     /* ticks in the symbol; cycle: in its members */
	double child;    /* ticks handed on from callees */
	double fraction; /* shown part of self and child; 1 unless SEL_*_TIME or calls from hidden
			    code reduce it */
	double shown_child;     /* child time in the graph: child times fraction; see
				   callgraph_shown_self() */
	uint64_t calls;         /* calls from others (cycle: from outside the cycle) */
	uint64_t sharing_calls; /* the part of calls among which time is divided; less than calls if
				   arcs were cut */
	uint64_t self_calls;    /* direct recursion (cycle: between different members) */
	uint64_t outside_calls; /* the part of calls that come from code without a place */
	uint32_t cycle;         /* 0: none */
	uint32_t index;         /* 1..: the number in brackets; given to every node */
	uint32_t top_order : 31; /* callees have smaller numbers than callers; equal within a cycle
				  */
	uint32_t shown : 1;      /* has an entry in the graph */
	uint32_t n_members;      /* number of members of a cycle */
	uint32_t first_out, n_out; /* range in arcs[]; for a cycle first_out indexes members[] */
	uint32_t first_in, n_in;   /* range in in[] */
};

struct cg_arc {
	symid from, to;
	uint64_t count;
};

/* Time that went through an arc: the callee's own part, and the part of its callees. */
struct cg_time {
	double self, child;
};

struct cg_measured {          /* an arc's time from stacks; each sample with the arc counts once */
	struct cg_time along; /* self: time of samples in the callee's own code */
	uint64_t samples;
};

struct cg_cycle {           /* a cycle of calls, as seen on the stacks */
	uint64_t samples;   /* samples with a member on their stack */
	uint64_t reentered; /* those of them in which the cycle goes round */
	double inclusive;   /* time of `samples`, in ticks */
	double going_round; /* time of `reentered`, in ticks */
};

/* What the stacks say about a cycle of calls. Something that was seen in none of n samples happens
 * in at most 3/n of the time, with 95 % confidence (rule of three: Hanley and Lippman-Hand 1983).
 * Fewer than 60 samples give no verdict. */
struct cg_interval { /* shares, 0..1 */
	double low, high;
};
enum cg_verdict { CG_UNKNOWN, CG_CONFIRMED, CG_NOT_SEEN };

/* A copy of an arc for its callee, because the arcs to a callee are scattered over arcs[]. */
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
	struct cg_arc *arcs; /* grouped by `from`; each group is in order of first appearance in the
				data */
	uint32_t *seq; /* [n_arcs]: the position of each arc in the data, over all groups; NULL: the
			  order of arcs[], or time is measured */
	size_t n_arcs;
	struct cg_in *in; /* grouped by `to`, each group newest first; may be NULL if flat_only */
	void *in_block;   /* memory of `in`; NULL: it is in the same block as arcs[], behind them */
	bool *is_cut;     /* [n_arcs]: cut to break a cycle, so carries no time; NULL: none */
	arcid *cut;       /* the cut arcs, in the order in which they were chosen */
	size_t n_cut;
	struct cg_measured *measured; /* [n_arcs]; NULL: time is apportioned by calls */
	bool is_assembled;            /* measured, but stacks are assembled from calls */
	struct cg_time *roots;        /* [n_symbols]: time without a known caller; if measured */
	struct cg_cycle *cycles;      /* [n_cycles]; if measured */
	symid *members;               /* members of all cycles, each cycle's in listing order */
	nodeid *order;                /* nodes by index: order[i] has the index i + 1 */

	bool has_arcs;
	bool no_static_calls; /* static_calls was requested, but the machine is not supported */
	bool refuses_scan;    /* static_calls: there is a symbol that the rules do not scan */
	double total;       /* ticks of the flat profile: without symbols excluded by SEL_*_FLAT */
	double shown_total; /* ticks of the graph: sum of shown_self */
	double rate;        /* ticks per unit of dimension; 1 if unknown */
	double bin_bytes;   /* bytes of code per histogram bin; 0 without histogram */
	double outside;     /* ticks at addresses outside of all symbols */
	double split;       /* ticks of bins that are divided between functions, by their bytes */
	double left_out;    /* seconds in histograms that are ignored because times are those of
			       samples */
	char dimension[16]; /* "seconds" */
	char abbrev;        /* 's' */
};

static inline double callgraph_shown_self(const struct cg_node *n) { return n->self * n->fraction; }

/* The ticks that are 100 %. If no function is left out this is the flat profile's total. */
static inline double callgraph_all(const struct callgraph *g)
{
	return g->shown_total + g->outside;
}

/* What a symbol, or its cycle, hands on to callers. Small, because it is looked up for each arc:
 * two fit in a cache line. */
struct cg_share {
	double self, child, calls; /* of the cycle, if it is in one; calls: sharing_calls */
	uint32_t cycle;            /* 0: none */
	bool wanted;               /* the symbol's fraction is not 0 */
};

/* The members of a caller's node that its callees look up. */
struct cg_part {
	double fraction;
	uint32_t cycle;
	bool shown;
};

/* The time that `to` hands to `from` along an arc, multiplied by the fraction of `from`. It is
 * computed on request, which takes a third of the memory of storing it. Not for measured time: see
 * measured[]. */
struct cg_time callgraph_arc_time(const struct callgraph *g, arcid arc, const struct cg_arc *a);

/* Whether no time flows along the arc: it stays within a cycle, is a direct recursion, or was
 * cut. */
static inline bool callgraph_arc_is_inner(const struct callgraph *g, arcid arc,
					  const struct cg_arc *a)
{
	uint32_t cycle = g->share[a->to].cycle;
	return a->from == a->to || (g->is_cut && g->is_cut[arc]) ||
	       (cycle && g->part[a->from].cycle == cycle);
}

static inline uint32_t callgraph_arc_seq(const struct callgraph *g, arcid arc)
{
	return g->seq ? g->seq[arc] : arc;
}

/* `cycle`: number of the cycle, from 1. CG_UNKNOWN without stacks. *ret, unless unknown: the share
 * of the cycle's samples in which it goes round, with 95 % confidence: Wilson's interval (E. B.
 * Wilson, "Probable Inference", J. Am. Stat. Assoc. 22, 1927), or the rule of three. */
enum cg_verdict callgraph_verdict(const struct callgraph *g, size_t cycle, struct cg_interval *ret);

/* The node that hands on a symbol's time: the symbol's cycle, or the symbol itself. */
nodeid callgraph_head(const struct callgraph *g, symid id);

/* The arcs of an entry, in gprof's listing order. */
enum cg_class {
	CG_RECURSION,
	CG_INNER,
	CG_OUTER,
	N_CLASSES
}; /* direct recursion; within a cycle, or cut; others */
struct cg_listed {
	symid other; /* the caller, or the callee */
	arcid arc;
	uint32_t seq;        /* see callgraph_arc_seq() */
	enum cg_class class; /* time flows only along CG_OUTER arcs */
	uint64_t count;
	uint64_t samples;    /* if measured */
	struct cg_time time; /* 0 unless CG_OUTER */
	double total;        /* of time */
};
/* Fill ret[nodes[id].n_in], and ret[nodes[id].n_out]. */
void callgraph_list_callers(const struct callgraph *g, symid id, struct cg_listed *ret);
void callgraph_list_callees(const struct callgraph *g, symid id, struct cg_listed *ret);
/* One arc as entries list it. as_caller: as in the callee's entry, with the caller as `other`;
 * otherwise as in the caller's entry. */
struct cg_listed callgraph_listed(const struct callgraph *g, arcid arc, bool as_caller);
/* Sorts a list as entries show it; down: it has callees. */
void callgraph_sort_listed(struct cg_listed *list, uint32_t n, bool down);
/* The functions outside a cycle (a number, from 1) that call its members, or are called by them.
 * Each function is listed once; `arc` is one of its arcs. *n of them, sorted, to be freed. */
struct cg_listed *callgraph_list_into_cycle(const struct callgraph *g, size_t cycle, size_t *n);
struct cg_listed *callgraph_list_out_of_cycle(const struct callgraph *g, size_t cycle, size_t *n);
/* The calls of a function, without those from its cycle if it is in one. */
uint64_t callgraph_calls_from_outside(const struct callgraph *g, symid id);
/* A hint that the node will be used soon. It may span two cache lines. */
static inline void callgraph_prefetch_node(const struct cg_node *n)
{
	prefetch_line(n);
	prefetch_line((const char *)(n + 1) - 1);
}
/* A hint that the entry at this index of order[], and those after it, will be listed soon.
 * with_arcs: together with all of their callers and callees. */
void callgraph_prefetch_entry(const struct callgraph *g, size_t place, bool with_arcs);

/* Rules that turn a histogram's ticks into symbols' times, for programs that differ from kin. */
struct credit_rules {
	bool bare_rate; /* the rate is that of the first histogram, even if it is unknown (0) */
	double (*bin_bytes)(const struct histogram *first); /* computes callgraph.bin_bytes */
	/* Adds a profile's histogram to nodes[].self, total and outside. */
	void (*credit)(struct callgraph *g, const struct profile *p, const struct histogram *h,
		       const struct selection *sel);
};

/* Rules that decide which calls count. */
struct arc_rules {
	bool inner_only; /* calls from outside of all symbols do not count */
	/* Limits the code of a symbol that is searched for calls (static_calls): may shorten
	 * *range, or set refuses_scan if the symbol cannot be searched. NULL: searches all code. */
	void (*clip)(struct callgraph *g, const struct profile *p, symid id,
		     struct address_range *range);
	/* Whether a call to that address counts. NULL: always. */
	bool (*is_target)(const struct profile *p, uint64_t addr);
	const struct call_rules *calls; /* what is a call instruction; NULL: as disassembled */
};

struct callgraph_rules {
	struct credit_rules credit;
	struct arc_rules arcs;
	/* A cycle's shown time is what its callers contribute. A cycle that is only entered from
	 * outside all symbols then shows none, whatever its members show. */
	bool cycles_inherit;
	/* Members of a cycle with equal times and calls stay in the order in which they were found,
	 * which depends on the order of the data. Kin sorts them like their entries. */
	bool members_as_found;
};

extern const struct callgraph_rules callgraph_rules; /* kin's own */

struct callgraph_opts {
	const struct callgraph_rules *rules; /* NULL: kin's own */
	bool static_calls;                   /* gprof -c: add arcs found in the code */
	const struct selection *selection;   /* NULL: everything */
	/* The profile itself, if its arcs and hits may be released once they have been copied:
	 * large programs have millions. NULL: they are kept. */
	struct profile *consume;
	/* Sampled stacks, and the names of their frames; NULL: none. With stacks, time is measured,
	 * histograms are ignored, and a tick is the unit of the first event on a CPU. */
	const struct samples *samples;
	struct program *program; /* the program of the symbols `s` */
	bool no_inlines; /* inlined functions belong to the function they are inlined into */
	/* Calls that were only seen on stacks are not arcs. Only the own time of symbols is
	 * measured: `measured` and inclusive times are 0. */
	bool no_stack_calls;
	/* The graph's entries are not needed: node.index stays 0, and order and in are NULL. The
	 * shown part of a symbol's time is not computed unless SEL_*_TIME needs it. */
	bool flat_only;
	/* With flat_only, if arcs are not measured: frees the arcs once they have handed on their
	 * time. */
	bool drops_arcs;
	/* callgraph_name_ranks() of the symbols, to avoid sorting their names for each of many
	 * graphs. NULL: not known. */
	const uint32_t *name_ranks;
	bool break_cycles;  /* BSD gprof -C: cut arcs until no cycle has more members than ... */
	uint32_t max_cycle; /* ... this */
};

/* Cannot fail. Cost: O(n log n) in symbols, arcs and bins. */
struct callgraph *callgraph_new(const struct profile *p, struct symbols *s,
				const struct callgraph_opts *opts);
void callgraph_free(struct callgraph *g); /* NULL is fine */

/* [symbols]: the rank of each symbol's name in sorted order, the same for equal names. To be
 * freed. */
uint32_t *callgraph_name_ranks(const struct symbols *s);

#endif
