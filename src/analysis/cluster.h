/* cluster.h - orders functions so that callers and callees are near each other and hot functions
 * are together. Fewer pages and cache lines of code are then touched.
 *
 * The method is C3, call-chain clustering: Guilherme Ottoni and Bertrand Maher, "Optimizing
 * Function Placement for Large-Scale Data-Center Applications", CGO 2017, known by its tool as
 * hfsort. Each function starts as a cluster of its own. Functions are visited from the densest
 * (heat per byte) to the least dense; the cluster of each is appended to the cluster of its main
 * caller, so that a call leads forward and not far. Clusters do not grow beyond a limit: functions
 * that are more than a page apart gain nothing from being in the same cluster. The remaining
 * clusters are placed by density, densest first. Two guards are later practice (hfsort, LLVM's
 * linker): a caller that makes only a small share of the calls is ignored, and a hot cluster is not
 * diluted by a cold one.
 *
 * Cost: O(n log n) in nodes and arcs. Cannot fail. The result does not depend on the order of arcs:
 * ties go to the smaller node. */
#ifndef ANALYSIS_CLUSTER_H
#define ANALYSIS_CLUSTER_H

#include "base/base.h"

struct cluster_node {
	uint64_t size; /* bytes of code */
	double heat;   /* amount of use, in any unit; >= 0 */
};

struct cluster_arc {
	uint32_t from, to; /* nodes */
	uint64_t count;    /* calls */
};

enum { CLUSTER_PAGE = 4096 };

struct clustering {
	size_t n; /* number of placed nodes: those with heat, and those in an arc with calls */
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
	double distance; /* mean over all calls of the number of bytes from the middle of the caller
			    to the start of the callee */
	double page_change; /* 0..1: share of calls to another page, wherever pages begin */
	uint64_t pages;     /* pages with the hottest functions, those with 90 % of the heat */
};

/* addr: [n], the start of each node; nodes do not overlap. Calls of a node to itself do not count.
 */
struct locality cluster_locality(const struct cluster_node *nodes, const uint64_t *addr, size_t n,
				 const struct cluster_arc *arcs, size_t n_arcs, uint64_t page);

#endif
