/* cluster.c - clusters of functions, merged along the heaviest calls; measures of the resulting
 * order. */
#include "analysis/cluster.h"
#include "base/sort.h"

#include <stdlib.h>

/* The two clusters are joined only if the main caller makes at least this share of the callee's
 * calls. */
static const double MIN_CALLER_SHARE = 0.1;
/* The caller's cluster may become this many times less dense. */
static const double MAX_DILUTION = 8;
static const double HOT = 0.9; /* part of the heat that struct locality counts pages for */

/* A cluster is a list of nodes, identified by its first node. That never changes, because nodes are
 * only appended. */
struct cluster {
	uint32_t parent; /* leads to the first node of the node's cluster */
	uint32_t next;   /* node after this one; NONE at the end */
	uint32_t last;   /* last node of the cluster; only first nodes have this, size and heat */
	double size, heat;
};

struct caller {
	uint32_t node;  /* the node that calls it most; NONE: none does */
	uint64_t count; /* calls by this node */
	double total;   /* calls by all nodes */
};

struct ranked_node {
	double key;
	uint32_t node;
};

static int by_key(const void *l, const void *r) /* largest first */
{
	const struct ranked_node *a = l, *b = r;
	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return ORDER(a->node, b->node);
}

static double density(const struct cluster *c) { return c->heat / (c->size > 0 ? c->size : 1); }

static uint32_t first_of(struct cluster *clusters, uint32_t node)
{
	while (clusters[node].parent != node) {
		clusters[node].parent = clusters[clusters[node].parent].parent;
		node = clusters[node].parent;
	}
	return node;
}

static bool *find_used(const struct cluster_node *nodes, size_t n, const struct cluster_arc *arcs,
		       size_t n_arcs)
{
	bool *used = xalloc(n + 1);
	for (size_t i = 0; i < n; i++)
		used[i] = nodes[i].heat > 0;
	for (size_t i = 0; i < n_arcs; i++)
		if (arcs[i].count)
			used[arcs[i].from] = used[arcs[i].to] = true;
	return used;
}

static struct caller *find_callers(size_t n, const struct cluster_arc *arcs, size_t n_arcs)
{
	struct caller *callers = xrealloc(NULL, n + 1, sizeof(*callers));
	for (size_t i = 0; i < n; i++)
		callers[i] = (struct caller){ .node = NONE };
	for (size_t i = 0; i < n_arcs; i++) {
		const struct cluster_arc *a = &arcs[i];
		struct caller *c = &callers[a->to];
		if (a->from == a->to || !a->count)
			continue;
		c->total += (double)a->count;
		if (a->count > c->count || (a->count == c->count && a->from < c->node)) {
			c->node = a->from;
			c->count = a->count;
		}
	}
	return callers;
}

static bool is_worth_it(const struct cluster *into, const struct cluster *from, uint64_t max_size)
{
	double size = into->size + from->size;
	struct cluster both = { .size = size, .heat = into->heat + from->heat };

	return size <= (double)max_size && density(&both) * MAX_DILUTION >= density(into);
}

static void append(struct cluster *clusters, uint32_t into, uint32_t from)
{
	clusters[clusters[into].last].next = from;
	clusters[into].last = clusters[from].last;
	clusters[into].size += clusters[from].size;
	clusters[into].heat += clusters[from].heat;
	clusters[from].parent = into;
}

static void merge(struct cluster *clusters, const struct ranked_node *ranked, size_t n_ranked,
		  const struct caller *callers, uint64_t max_size)
{
	for (size_t i = 0; i < n_ranked; i++) {
		const struct caller *c = &callers[ranked[i].node];
		if (c->node == NONE || (double)c->count < MIN_CALLER_SHARE * c->total)
			continue;
		uint32_t from = first_of(clusters, ranked[i].node),
			 into = first_of(clusters, c->node);
		if (from != into && is_worth_it(&clusters[into], &clusters[from], max_size))
			append(clusters, into, from);
	}
}

/* Writes out the clusters, densest first. */
static void place(struct clustering *ret, const struct cluster *clusters,
		  const struct ranked_node *ranked, size_t n_ranked)
{
	struct ranked_node *firsts = xrealloc(NULL, n_ranked + 1, sizeof(*firsts));
	for (size_t i = 0; i < n_ranked; i++) {
		uint32_t node = ranked[i].node;
		if (clusters[node].parent == node)
			firsts[ret->n_clusters++] =
				(struct ranked_node){ density(&clusters[node]), node };
	}
	qsort(firsts, ret->n_clusters, sizeof(*firsts), by_key);

	ret->order = xrealloc(NULL, n_ranked + 1, sizeof(*ret->order));
	ret->cluster = xrealloc(NULL, n_ranked + 1, sizeof(*ret->cluster));
	ret->density = xrealloc(NULL, ret->n_clusters + 1, sizeof(*ret->density));
	for (size_t i = 0; i < ret->n_clusters; i++) {
		ret->density[i] = firsts[i].key;
		for (uint32_t node = firsts[i].node; node != NONE; node = clusters[node].next) {
			ret->order[ret->n] = node;
			ret->cluster[ret->n++] = (uint32_t)i;
		}
	}
	free(firsts);
}

struct clustering *cluster_new(const struct cluster_node *nodes, size_t n,
			       const struct cluster_arc *arcs, size_t n_arcs, uint64_t max_size)
{
	struct clustering *ret = xalloc(sizeof(*ret));
	struct cluster *clusters = xrealloc(NULL, n + 1, sizeof(*clusters));
	struct ranked_node *ranked = xrealloc(NULL, n + 1, sizeof(*ranked));
	struct caller *callers = find_callers(n, arcs, n_arcs);
	bool *used = find_used(nodes, n, arcs, n_arcs);
	size_t n_ranked = 0;

	for (uint32_t i = 0; i < n; i++) {
		clusters[i] = (struct cluster){ .parent = i,
						.next = NONE,
						.last = i,
						.size = (double)nodes[i].size,
						.heat = nodes[i].heat };
		if (used[i])
			ranked[n_ranked++] = (struct ranked_node){ density(&clusters[i]), i };
	}
	qsort(ranked, n_ranked, sizeof(*ranked), by_key);
	merge(clusters, ranked, n_ranked, callers, max_size);
	place(ret, clusters, ranked, n_ranked);
	free(used);
	free(callers);
	free(ranked);
	free(clusters);
	return ret;
}

void cluster_free(struct clustering *c)
{
	if (!c)
		return;
	free(c->order);
	free(c->cluster);
	free(c->density);
	free(c);
}

/* ---- locality ---- */

struct extent { /* range of pages, both included */
	uint64_t first, last;
};

static int by_first(const void *l, const void *r)
{
	const struct extent *a = l, *b = r;
	return ORDER(a->first, b->first);
}

static uint64_t count_pages(struct extent *extents, size_t n)
{
	uint64_t pages = 0, next = 0; /* all pages before `next` have been counted */

	qsort(extents, n, sizeof(*extents), by_first);
	for (size_t i = 0; i < n; i++) {
		uint64_t first = extents[i].first > next ? extents[i].first : next;
		if (extents[i].last < first)
			continue;
		pages += extents[i].last - first + 1;
		next = extents[i].last + 1;
	}
	return pages;
}

static uint64_t hot_pages(const struct cluster_node *nodes, const uint64_t *addr, size_t n,
			  uint64_t page)
{
	struct ranked_node *ranked = xrealloc(NULL, n + 1, sizeof(*ranked));
	struct extent *extents = xrealloc(NULL, n + 1, sizeof(*extents));
	double total = 0, heat = 0;
	size_t hot = 0;

	for (uint32_t i = 0; i < n; i++) {
		ranked[i] = (struct ranked_node){ nodes[i].heat, i };
		total += nodes[i].heat;
	}
	qsort(ranked, n, sizeof(*ranked), by_key);
	for (; hot < n && heat < HOT * total; hot++) {
		uint32_t i = ranked[hot].node;
		uint64_t bytes = nodes[i].size ? nodes[i].size - 1 : 0;
		uint64_t last = bytes > UINT64_MAX - addr[i] ? UINT64_MAX : addr[i] + bytes;
		extents[hot] = (struct extent){ addr[i] / page, last / page };
		heat += nodes[i].heat;
	}
	uint64_t pages = count_pages(extents, hot);
	free(ranked);
	free(extents);
	return pages;
}

struct locality cluster_locality(const struct cluster_node *nodes, const uint64_t *addr, size_t n,
				 const struct cluster_arc *arcs, size_t n_arcs, uint64_t page)
{
	double calls = 0, distance = 0, change = 0;

	for (size_t i = 0; i < n_arcs; i++) {
		const struct cluster_arc *a = &arcs[i];
		if (a->from == a->to)
			continue;
		double from = (double)addr[a->from] + (double)nodes[a->from].size / 2;
		double d = (double)addr[a->to] - from, count = (double)a->count;
		d = d < 0 ? -d : d;
		calls += count;
		distance += count * d;
		change += count * (d < (double)page ? d / (double)page : 1);
	}
	return (struct locality){
		.distance = calls > 0 ? distance / calls : 0,
		.page_change = calls > 0 ? change / calls : 0,
		.pages = hot_pages(nodes, addr, n, page),
	};
}
