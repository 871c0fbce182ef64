/* hists.h - Children and Self: sums of samples by command, object, function, line and other keys.
 *
 * A row is a distinct tuple of keys (hist_key.h). Some are keys of the sample (comm, pid, cpu ...),
 * some of a frame (object, function, line ...). A sample's weight is added once to the Self of its
 * leaf's row, and once to the Children of each row of its frames, even if recursion repeats the
 * row. So Self adds up to the total, and Children never exceeds it.
 *
 * Stacks are first merged into *paths*: a prefix tree whose steps (*hops*) are frames, or functions
 * inlined into frames, reduced to their row and their label in a call chain. Stacks that no key or
 * chain distinguishes become one path. All sums are passes over that tree, so their cost does not
 * depend on the number of samples, nor on the depth of stacks. */
#ifndef ANALYSIS_HISTS_H
#define ANALYSIS_HISTS_H

#include <regex.h>

#include "profile/profile.h"
#include "profile/sample_filter.h"
#include "symbolize/program.h"

enum hist_key { /* keys that distinguish rows; hist_key.h has their names and texts */
		HIST_COMM,
		HIST_COMM_NODIGIT,
		HIST_PID,
		HIST_TID,
		HIST_RUN,
		HIST_RANK,
		HIST_CPU,
		HIST_PARALLELISM,
		HIST_PARENT,
		HIST_DSO,
		HIST_SYM,
		HIST_SYMOFF,
		HIST_SRCLINE,
		HIST_SRCFILE,
		HIST_SYMBOL_SIZE,
		HIST_FOREIGN,
		HIST_IPC,
		/* for samples with details: hist_detail.c */
		HIST_TIME,
		HIST_SOCKET,
		HIST_TRACE,
		HIST_CGROUP,
		HIST_CGROUP_ID,
		HIST_LOCAL_WEIGHT,
		HIST_WEIGHT,
		HIST_LOCAL_INS_LAT,
		HIST_INS_LAT,
		HIST_LOCAL_STAGE,
		HIST_STAGE,
		HIST_TRANSACTION,
		HIST_CODE_PAGE_SIZE,
		HIST_DSO_FROM,
		HIST_DSO_TO,
		HIST_SYMBOL_FROM,
		HIST_SYMBOL_TO,
		HIST_ADDR_FROM,
		HIST_ADDR_TO,
		HIST_SRCLINE_FROM,
		HIST_SRCLINE_TO,
		HIST_MISPREDICT,
		HIST_IN_TX,
		HIST_ABORT,
		HIST_CYCLES,
		HIST_MEM,
		HIST_TLB,
		HIST_SNOOP,
		HIST_LOCKED,
		HIST_BLOCKED,
		HIST_SYMBOL_DADDR,
		HIST_DSO_DADDR,
		HIST_SYMBOL_IADDR,
		HIST_DCACHELINE,
		HIST_PHYS_DADDR,
		HIST_DATA_PAGE_SIZE,
		N_HIST_KEYS
};

enum chain_order {
	CHAIN_CALLER, /* the outermost caller first; chains of a row that is not a leaf go down from
			 the row */
	CHAIN_CALLEE, /* the row first, then its callers */
};

enum chain_key { CHAIN_BY_FUNCTION, CHAIN_BY_ADDRESS, CHAIN_BY_SRCLINE };

/* Samples count if they meet all conditions. The times and processors in `samples` select a part of
 * the recording. Samples excluded by other conditions still belong to the whole in shares of the
 * whole. */
struct hist_filter {
	const struct sample_filter *samples;
	const char *const *dsos, *const *symbols; /* by the leaf; NULL-terminated; NULL: all */
	bool no_kernel, no_user;                  /* leave out samples taken there */
	bool by_socket;
	uint32_t socket; /* only samples on this socket */
};

/* Rules for rows where another program differs and neither way is wrong; that program's folder
 * defines one. */
struct hists_rules {
	bool whole_names;   /* filters match function names with their scopes */
	bool inlines_apart; /* an inlined function is a different one in each function it is inlined
			       into */
	bool ignore_drops_callers; /* in caller order `ignore_callees` cuts off the other end of the
				      stack */
	bool hide_marks;           /* ignore FRAME_MARKs */
	bool ties_as_data;         /* rows that tie are in the order of the data, not by place */
};

struct hists_opts {
	const struct hists_rules *rules; /* NULL: kin's own */
	const enum hist_key *keys;
	size_t n_keys;
	const uint16_t *events; /* events of the profile; each row has figures for each of them; the
				   first one determines order and chains */
	size_t n_events;
	bool no_children;   /* only rows of leaves, no Children */
	bool exclude_other; /* only samples with a parent, if there is a pattern */
	bool chains;        /* callchains_new() will be called */
	enum chain_order order;
	enum chain_key chain_key;
	unsigned max_stack; /* limit of a stack's frames: in callee order the innermost frames
			       count, in caller order the outermost; 0: no limit */
	bool no_callers;    /* only leaves count */
	bool inlines;       /* inlined functions are hops of their own */
	bool self_physical; /* Self of inlined code goes to the function that it is inlined into */
	uint64_t time_quantum;            /* unit of HIST_TIME in ns, > 0 */
	bool nanoseconds;                 /* HIST_TIME is shown with nine digits */
	bool by_weight;                   /* a sample's weight is that in its detail, at least 1 */
	bool levels;                      /* hists.levels is needed */
	bool hide_unresolved;             /* ignore samples and callers without a name */
	bool passing;                     /* hists_target() and hists_n_callers() will be called */
	bool fold_threads;                /* HIST_COMM is the name of the process */
	const regex_t *parent;            /* functions for HIST_PARENT */
	const regex_t *ignore_callees;    /* callees of matching functions are charged to them */
	const struct hist_filter *filter; /* NULL: all samples */
};

enum hist_level { LEVEL_KERNEL, LEVEL_USER, LEVEL_GUEST_KERNEL, LEVEL_GUEST_USER, HIST_LEVELS };

struct hist_stat {
	uint64_t weight, count;
	double latency; /* weight / parallelism: a share of the elapsed time. The weight if
			   parallelism is not known */
};

struct hist_row {
	uint32_t skey, fkey; /* ids of the sample keys and of the frame keys: hists_value() */
	frameid frame;       /* the row's first frame; 0: not known */
	symid place;         /* NONE: not known */
	bool inlined;
	uint16_t level; /* FRAME_KERNEL, FRAME_GUEST, FRAME_HYPERVISOR */
	taskid task;    /* task of the first sample */
	uint32_t depth; /* hops of the row's longest chain */
};

struct hists {
	const struct profile *profile;
	struct program *program;
	const struct hists_opts *opts;
	const struct hist_row *rows; /* in order of first appearance */
	size_t n;
	const struct hist_stat *self, *children; /* [row * n_events + event] */
	const struct hist_stat *total;           /* [event]: sum over the samples that counted */
	const struct hist_stat *unfiltered;      /* [event]: sum over all samples */
	const uint64_t (*levels)[HIST_LEVELS]; /* [row * n_events + event]: Self by privilege level;
						  NULL: not requested */
	struct hists_private *priv;
};

/* Borrows everything. Cost: one visit of each sample, each stack, and each path. */
struct hists *hists_new(const struct profile *p, struct program *g, const struct hists_opts *o);
void hists_free(struct hists *h); /* NULL is fine */

/* A row's value of a key; undefined for keys not in opts. */
uint32_t hists_value(const struct hists *h, size_t row, enum hist_key key);
/* Whether a row's function has a name. */
bool hist_is_named(const struct hists *h, const struct hist_row *row);
/* The name of the row's function, even if no key shows it; NULL: it has none. */
const char *hists_function(const struct hists *h, size_t row);
/* The frame key (hist_row.fkey) of the function to which nearly all of the row's time goes,
 * possibly through other functions that pass it on. NONE: the row spends time itself, or its time
 * goes to several functions. For the first event. */
uint32_t hists_target(const struct hists *h, size_t row);
/* The smallest number of functions that are above the row's function on a stack of the first
 * event. */
uint32_t hists_n_callers(const struct hists *h, size_t row);
/* The value as shown; lives as long as h. */
const char *hists_text(const struct hists *h, size_t row, enum hist_key key);
/* The function or variable that an access key shows; NULL: not known, or not such a key. */
const char *hists_subject(const struct hists *h, size_t row, enum hist_key key);
/* The last name of the thread of the row's first sample. */
const char *hists_last_comm(const struct hists *h, size_t row);

enum hist_owner { OWNER_NONE, OWNER_USER, OWNER_KERNEL };
/* Whether the address of a branch or access key is in user or in kernel space; OWNER_NONE: not such
 * a key. */
enum hist_owner hists_owner(const struct hists *h, size_t row, enum hist_key key);

/* ---- order ---- */

enum hist_term_kind {
	TERM_CHILDREN,
	TERM_SELF,
	TERM_LATENCY_CHILDREN,
	TERM_LATENCY,
	TERM_COUNT,
	TERM_WEIGHT, /* the same as Self */
	TERM_LEVEL,
	TERM_KEY
};
struct hist_term {
	enum hist_term_kind kind;
	enum hist_key key;     /* TERM_KEY */
	enum hist_level level; /* TERM_LEVEL */
	bool apart;            /* rows with equal text may still differ */
};

/* Sorts rows by the terms, one after the other: figures largest first, names by byte, numbers
 * smallest first; then by first appearance. If Children come first and chains are shown, rows of
 * one thread with equal Children are sorted by the depth of their chains: in callee order a caller
 * comes before its callees, in caller order the longer chain before the shorter. *ret[n] is to be
 * freed. */
void hists_sort(const struct hists *h, const struct hist_term *terms, size_t n_terms,
		uint32_t **ret);

#endif
