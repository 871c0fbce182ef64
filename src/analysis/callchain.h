/* callchain.h - the call chains of a row of hists, as a tree.
 *
 * In callee order a row's chains go from it to its callers. In caller order, samples with the row
 * as leaf have whole chains, from the root of the stack to the row; chains of other samples go from
 * the row down to the leaf. A row that occurs several times in a stack starts at its outermost
 * occurrence in caller order, at the innermost in callee order.
 *
 * Trees are made from the paths on request, and only where they are not pruned: a node is visited
 * only if its parent is kept. */
#ifndef ANALYSIS_CALLCHAIN_H
#define ANALYSIS_CALLCHAIN_H

#include "analysis/hists.h"

struct chain_node {
	uint32_t parent;       /* NONE: the root */
	uint32_t first, n;     /* its children are adjacent in nodes[] */
	uint32_t hop;          /* callchain_name(); NONE: the root; or CHAIN_DEEPER */
	uint64_t hit, count;   /* weight and number of chains that end here */
	uint64_t sum, n_below; /* the same for this node and all below, including pruned ones */
	bool joins; /* only child of a node at which no chain ends: the two may be shown as one */
};

/* The hop of a node that stands for everything below its parent, where the tree ends at the
 * greatest depth asked for. */
enum { CHAIN_DEEPER = NONE - 1 };

enum chain_pruning {
	CHAIN_MIN_WEIGHT, /* keep nodes with min_weight */
	CHAIN_MIN_SHARE,  /* keep nodes with this share of the parent's children */
};

struct chain_opts {
	enum chain_pruning pruning;
	uint64_t min_weight;
	double min_share;   /* 0..1 */
	bool below_only;    /* in caller order: no whole chains of samples with the row as leaf */
	bool by_name;       /* sort children by place, not by weight */
	uint32_t max_depth; /* of nodes with a hop of their own; 0: no limit */
};

struct callchain { /* nodes[0] is the root; children come after their parents, heaviest first */
	struct chain_node *nodes;
	size_t n;
};

struct callchains;
struct callchains *callchains_new(const struct hists *h); /* opts.chains must be set */
void callchains_free(struct callchains *c);               /* NULL is fine */

/* Valid until the next call. Weights are those of the first event. */
const struct callchain *callchains_of(struct callchains *c, size_t row, const struct chain_opts *o);

/* An upper bound on the nodes of the row's tree without its root; much cheaper than the tree. */
uint64_t callchains_bound(const struct callchains *c, size_t row, const struct chain_opts *o);

/* "f", "f (inlined)", "0x401136"; with `line` also the source line, if known. Lives as long as the
 * hists. */
const char *callchain_name(const struct callchains *c, uint32_t hop, bool line);

#endif
