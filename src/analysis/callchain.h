/* callchain.h - the call chains of a row of hists, as a tree.
 *
 * In callee order a row's chains go from it to its callers. In caller order, the samples whose leaf
 * the row is have whole chains, from the root of the stack to the row; the others' go from the row
 * down to the leaf. A row that occurs several times in a stack starts at its outermost occurrence
 * in caller order, at the innermost in callee order.
 *
 * Trees are made when they are asked for, from the paths, and only as far as they are not pruned:
 * a node is looked at only if its parent stays. */
#ifndef ANALYSIS_CALLCHAIN_H
#define ANALYSIS_CALLCHAIN_H

#include "analysis/hists.h"

struct chain_node {
	uint32_t parent;       /* NONE: the node above all */
	uint32_t first, n;     /* its children, neighbours in nodes[] */
	uint32_t hop;          /* callchain_name(); NONE: the node above all */
	uint64_t hit, count;   /* chains that end here */
	uint64_t sum, n_below; /* those and all below, also below what was pruned */
	bool joins; /* the only way on from its parent, at which no chain ends: there is nothing to
		     * tell apart between the two */
};

enum chain_pruning {
	CHAIN_MIN_WEIGHT, /* keep what has min_weight */
	CHAIN_MIN_SHARE,  /* keep what has this share of its parent's children */
};

struct chain_opts {
	enum chain_pruning pruning;
	uint64_t min_weight;
	double min_share; /* 0..1 */
	bool below_only;  /* in caller order: no whole chains of samples whose leaf the row is */
	bool by_name;     /* children by place, not by weight */
};

struct callchain { /* nodes[0] is above all; children come behind their parents, heaviest first */
	struct chain_node *nodes;
	size_t n;
};

struct callchains;
struct callchains *callchains_new(const struct hists *h); /* opts.chains must be set */
void callchains_free(struct callchains *c);               /* NULL is fine */

/* Valid until the next is asked for. Weights are those of the first event. */
const struct callchain *callchains_of(struct callchains *c, size_t row, const struct chain_opts *o);

/* "f", "f (inlined)", "0x401136"; with `line` the source line too, if known. Lives as long as the
 * hists. */
const char *callchain_name(const struct callchains *c, uint32_t hop, bool line);

#endif
