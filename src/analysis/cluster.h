/* cluster.h - orders functions so that callers and callees are near each other and hot functions
 * are together, so that fewer pages and cache lines of code are touched.
 *
 * The method is C3, call-chain clustering: Guilherme Ottoni and Bertrand Maher, "Optimizing
 * Function Placement for Large-Scale Data-Center Applications", CGO 2017, known by its tool as
 * hfsort. Each function starts as a cluster of its own. From the densest (heat per byte) to the
 * least dense one, a function's cluster is appended to that of the caller that calls it most, so
 * that a call leads forward and not far. Clusters do not grow beyond a limit, since beyond a page
 * nothing is gained by being in the same one; what is left is placed by density, densest first. Two
 * guards are later practice (hfsort, LLVM's linker): a caller that makes few of the calls gets no
 * say, and a hot cluster is not diluted by a cold one.
 *
 * Cost: O(n log n) in nodes and arcs. Cannot fail. Equal input in any order of arcs gives equal
 * results: ties go to the smaller node. */
#ifndef ANALYSIS_CLUSTER_H
#define ANALYSIS_CLUSTER_H

#include "base/base.h"

struct cluster_node {
	uint64_t size; /* bytes of code */
	double heat;   /* how much it is used, in any unit; >= 0 */
};

struct cluster_arc {
	uint32_t from, to; /* nodes */
	uint64_t count;    /* calls */
};

enum { CLUSTER_PAGE = 4096 };

struct clustering {
	size_t n; /* number of nodes placed: those with heat, and those in an arc with calls */
	uint32_t *order;   /* [n] nodes */
	uint32_t *cluster; /* [n] the cluster of order[i], counted from 0 in this order */
	size_t n_clusters;
	double *density; /* [n_clusters] heat per byte, largest first */
};

/* max_size: limit in bytes for a cluster of several nodes. */
struct clustering *cluster_new(const struct cluster_node *nodes, size_t n,
			       const struct cluster_arc *arcs, size_t n_arcs, uint64_t max_size);
void cluster_free(struct clustering *c); /* NULL is fine */

/* The locality of an arrangement. */
struct locality {
	double distance;    /* mean over all calls of the bytes from the middle of the caller to the
			       start of the callee */
	double page_change; /* 0..1: share of calls to another page, wherever pages begin */
	uint64_t pages; /* number of pages with the hottest functions, as many as make 90 % of the
			   heat */
};

/* addr: [n], the start of each node; nodes do not overlap. Calls of a node to itself do not count.
 */
struct locality cluster_locality(const struct cluster_node *nodes, const uint64_t *addr, size_t n,
				 const struct cluster_arc *arcs, size_t n_arcs, uint64_t page);

#endif
