/* hists.h - Children and Self: what samples say about each comm, object, function, line ... and
 * about what they called.
 *
 * A row is a distinct tuple of keys (hist_key.h). Some are of the sample (comm, pid, cpu ...), some
 * of a frame (object, function, line ...). A sample's weight goes once to the Self of the row of
 * its leaf, and once to the Children of each row that any of its frames makes, however often
 * (recursion, direct or not, counts once): so Self adds up to the total and Children never exceeds
 * it.
 *
 * Stacks are first merged into *paths*: a prefix tree whose steps (*hops*) are frames, or functions
 * inlined into one, reduced to their row and their label in a call chain. Stacks that no key or
 * chain distinguishes become one path. All sums are passes over that tree, so their cost does not
 * depend on the number of samples, nor on how deep stacks are. */
#ifndef ANALYSIS_HISTS_H
#define ANALYSIS_HISTS_H

#include <regex.h>

#include "profile/profile.h"
#include "profile/sample_filter.h"
#include "symbolize/program.h"

enum hist_key { /* what rows are told apart by; hist_key.h says how each is found and shown */
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
		HIST_IPC,
		/* of samples with details: hist_detail.c */
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
			 it */
	CHAIN_CALLEE, /* the row first, then its callers */
};

enum chain_key { CHAIN_BY_FUNCTION, CHAIN_BY_ADDRESS, CHAIN_BY_SRCLINE };

/* What samples count: all that is given must hold. The times and processors of `samples` say which
 * part of the recording is looked at; its other samples are among "all" of which shares may be. */
struct hist_filter {
	const struct sample_filter *samples;
	const char *const *dsos, *const *symbols; /* of the leaf; NULL-terminated; NULL: all */
	bool no_kernel, no_user;                  /* no samples that were taken there */
	bool by_socket;
	uint32_t socket; /* only samples on that one */
};

/* Where another program's rows differ, and neither way is wrong: its room owns one of these. */
struct hists_rules {
	bool whole_names;   /* filters name functions with their scopes */
	bool inlines_apart; /* an inlined function is another one in each function it is inlined
			       into */
	bool ignore_drops_callers; /* in caller order `ignore_callees` cuts the stack's other end
				      off */
	bool hide_marks;           /* FRAME_MARKs do not exist */
};

struct hists_opts {
	const struct hists_rules *rules; /* NULL: kin's own */
	const enum hist_key *keys;
	size_t n_keys;
	const uint16_t *events; /* of the profile; each row has figures for each; the first one's
				 * decide on order and chains */
	size_t n_events;
	bool no_children;   /* rows of leaves only */
	bool exclude_other; /* only samples with a parent, if there is a pattern */
	bool chains;        /* callchain_new() will be asked */
	enum chain_order order;
	enum chain_key chain_key;
	unsigned max_stack; /* frames of a stack that count: in callee order the innermost, in
			     * caller order the outermost; 0: all */
	bool no_callers;    /* none of them counts, but where samples were taken */
	bool inlines;       /* inlined functions are hops of their own */
	bool self_physical; /* Self of inlined code goes to the function that it is inlined into */
	uint64_t time_quantum; /* ns, > 0: of HIST_TIME */
	bool nanoseconds;      /* HIST_TIME is shown with nine digits */
	bool by_weight;        /* a sample counts as much as its detail's weight says, at least 1 */
	bool levels;           /* hists.levels is wanted */
	bool hide_unresolved;  /* samples and callers without a name do not exist */
	bool passing;          /* hists_target() will be asked */
	bool fold_threads;     /* HIST_COMM is the name of the process */
	const regex_t *parent; /* functions for HIST_PARENT */
	const regex_t *ignore_callees;    /* what matching functions call is theirs */
	const struct hist_filter *filter; /* NULL: all samples */
};

enum hist_level { LEVEL_KERNEL, LEVEL_USER, LEVEL_GUEST_KERNEL, LEVEL_GUEST_USER, HIST_LEVELS };

struct hist_stat {
	uint64_t weight, count;
	double latency; /* weight / parallelism: a share of the time that passed; weight where that
			 * is not known */
};

struct hist_row {
	uint32_t skey, fkey; /* its values of sample keys and of frame keys: hists_value() */
	frameid frame;       /* the first of its frames; 0: none known */
	symid place;         /* NONE: none known */
	bool inlined;
	uint16_t level; /* FRAME_KERNEL, FRAME_GUEST, FRAME_HYPERVISOR */
	taskid task;    /* of the first sample */
	uint32_t depth; /* hops of its longest chain */
};

struct hists {
	const struct profile *profile;
	struct program *program;
	const struct hists_opts *opts;
	const struct hist_row *rows; /* in order of first appearance */
	size_t n;
	const struct hist_stat *self, *children; /* [row * n_events + event] */
	const struct hist_stat *total;           /* [event]: of the samples that counted */
	const struct hist_stat *unfiltered;      /* [event]: of all */
	const uint64_t (*levels)[HIST_LEVELS];   /* [row * n_events + event]: weights of self by
						  * level of privilege; NULL: not asked for */
	struct hists_private *priv;
};

/* Borrows everything. Costs one look at each sample, each stack, and each path. */
struct hists *hists_new(const struct profile *p, struct program *g, const struct hists_opts *o);
void hists_free(struct hists *h); /* NULL is fine */

/* What a row's key is; meaningless for keys not in opts. */
uint32_t hists_value(const struct hists *h, size_t row, enum hist_key key);
/* Whether a row's function has a name. */
bool hist_is_named(const struct hists *h, const struct hist_row *row);
/* Of its function, whether that is one of the keys or not; NULL: it has no name. */
const char *hists_function(const struct hists *h, size_t row);
/* The frame key (hist_row.fkey) of the function that nearly all of the row's time goes on to,
 * perhaps by way of others like it; NONE: time is spent there, or goes several ways. Of the first
 * event. */
uint32_t hists_target(const struct hists *h, size_t row);
/* For people; lives as long as h. */
const char *hists_text(const struct hists *h, size_t row, enum hist_key key);
/* The function or variable that a key of accesses is about; NULL: not known, or another key. */
const char *hists_subject(const struct hists *h, size_t row, enum hist_key key);
/* What the thread of the row's first sample was called in the end. */
const char *hists_last_comm(const struct hists *h, size_t row);

enum hist_owner { OWNER_NONE, OWNER_USER, OWNER_KERNEL };
/* Whose the address is that a key of branches or accesses is about; OWNER_NONE: it is about none.
 */
enum hist_owner hists_owner(const struct hists *h, size_t row, enum hist_key key);

/* ---- order ---- */

enum hist_term_kind {
	TERM_CHILDREN,
	TERM_SELF,
	TERM_LATENCY_CHILDREN,
	TERM_LATENCY,
	TERM_COUNT,
	TERM_WEIGHT, /* is Self, too */
	TERM_LEVEL,
	TERM_KEY
};
struct hist_term {
	enum hist_term_kind kind;
	enum hist_key key;     /* TERM_KEY */
	enum hist_level level; /* TERM_LEVEL */
	bool apart;            /* rows that only show the same text are not equal */
};

/* Rows by the terms, one after the other: figures largest first, names by byte, numbers smallest
 * first; then by appearance. Where Children come first and chains are shown, rows of one thread
 * with equal Children go by the depth of their chains: a caller is above its callees in callee
 * order, and the longer chain above the shorter in caller order. *ret[n] is to be freed. */
void hists_sort(const struct hists *h, const struct hist_term *terms, size_t n_terms,
		uint32_t **ret);

#endif
