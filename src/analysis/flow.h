/* flow.h - how often each piece of code was executed, from its counted blocks and the jumps between
 * them.
 *
 * A program built to count blocks (-fsanitize-coverage) calls a hook at the start of each. The
 * calls in its code are all blocks there are: one without a record was executed 0 times. What the
 * compiler did not count follows from what it did, as what comes into a piece of code also goes out
 * of it. Where that leaves several answers the count is unknown.
 *
 * The pieces are those of functions that call the hook. A piece ends where control may go elsewhere
 * (a call may not return), or come from elsewhere. */
#ifndef ANALYSIS_FLOW_H
#define ANALYSIS_FLOW_H

#include "profile/profile.h"
#include "symbolize/symbols.h"

struct flow_piece {
	uint64_t addr, end; /* [addr, end), flat, without the call of the hook at its start */
	uint64_t hook;      /* where that call is; 0: there is none */
	uint64_t start;     /* where its arguments are loaded; of others addr */
	uint64_t own;       /* from where its code is of the lines that the table says: what is
			     * before its first row is the rest of another statement, or of none */
	uint64_t count;
	bool is_known;
	bool is_entry;       /* of a function, whose pieces are those up to the next one */
	bool enters_unseen;  /* also by other ways than the edges: from a caller, a landing pad */
	bool leaves_unseen;  /* likewise: a return, a call that does not come back */
	bool is_call;        /* ends with one */
	bool is_optimized;   /* some rows that start in it are of optimized code */
	uint32_t jumps_to;   /* of a piece that is one jump: where to; else NONE */
	bool is_shared_jump; /* of a piece that is one jump to where a register says: gcc makes it,
			      * for all of a function that go to labels as values */
	uint64_t passed;     /* the jump it ends with, if a branch before it may have led past that,
			      * to the same place; else UINT64_MAX */
};

struct flow_edge { /* indexes into pieces[] */
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

/* Records of p at a call of the hook count for it. NULL: no record is, or the code cannot be
 * disassembled. O(n log n) in instructions. */
struct flow *flow_new(const struct profile *p, const struct symbols *s);
void flow_free(struct flow *f); /* NULL is fine */

#endif
