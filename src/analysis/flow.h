/* flow.h - executions of each piece of code, from counted blocks and the jumps between them.
 *
 * A program built to count blocks (-fsanitize-coverage) calls a hook at the start of each block.
 * These calls in its code are all blocks: one without a record was executed 0 times. Other counts
 * follow from these, because control that enters a piece of code also leaves it. If there are
 * several solutions the count is unknown.
 *
 * Only functions that call the hook have pieces. A piece ends where control may leave (a call may
 * not return) or enter. */
#ifndef ANALYSIS_FLOW_H
#define ANALYSIS_FLOW_H

#include "profile/profile.h"
#include "symbolize/symbols.h"

struct flow_piece {
	uint64_t addr, end; /* [addr, end), flat, without the hook's call at its start */
	uint64_t hook;      /* address of that call; 0: there is no hook */
	uint64_t start;     /* address where the hook's arguments are loaded; otherwise addr */
	uint64_t own; /* start of the code that the line table assigns to its lines: code before its
			 first row belongs to another statement, or to none */
	uint64_t count;
	bool is_known;
	bool is_entry;      /* start of a function; its pieces go up to the next entry */
	bool enters_unseen; /* may also be entered on ways that are no edges: from a caller, by a
			       landing pad */
	bool leaves_unseen; /* may also be left on ways that are no edges: a return, a call that
			       does not come back */
	bool is_call;       /* ends with a call ... */
	uint64_t call;      /* ... at this address */
	bool is_optimized;  /* some of its line-table rows are of optimized code */
	uint32_t jumps_to;  /* target of a piece that is nothing but a jump; otherwise NONE */
	/* Range of the code that does something, after the hook's call and no-ops, and before
	 * no-ops and the branch or jump at the end. Both 0: there is none. A branch alone does
	 * something. */
	uint64_t work, rest;
	bool is_shared_jump; /* indirect jump that the compiler shares between all computed gotos of
				a function */
	bool is_nameless;    /* only no-ops and a jump at which no row of the line table starts */
	bool is_unsure; /* ends with a statement that jumps, such as a break, that may be reached or
			   skipped on ways that do not show */
	uint64_t passed; /* address of the jump at its end, if a branch before it may have skipped
			    it to the same target; otherwise UINT64_MAX */
};

struct flow_edge { /* indices into pieces[] */
	uint32_t from, to;
	uint64_t count;
	bool is_known;
};

struct flow {
	struct flow_piece *pieces; /* by address */
	size_t n_pieces;
	struct flow_edge *edges; /* by `from` */
	size_t n_edges;
};

/* A record of p counts if it is at a call of the hook. NULL: there are no such records, or the code
 * cannot be disassembled. O(n log n) in instructions. */
struct flow *flow_new(const struct profile *p, const struct symbols *s);
void flow_free(struct flow *f); /* NULL is fine */

#endif
