/* Orders of functions: small graphs with known answers, and laws that hold for any graph. */
#include "tap.h"

#include <stdlib.h>

#include "analysis/cluster.h"

/* "b c | a": nodes as letters, a bar between clusters. */
static const char *as_text(const struct clustering *c)
{
	static char buf[256];
	char *p = buf;
	for (size_t i = 0; i < c->n; i++) {
		if (i)
			p += sprintf(p, c->cluster[i] == c->cluster[i - 1] ? " " : " | ");
		*p++ = (char)('a' + c->order[i]);
	}
	*p = '\0';
	return buf;
}

static const char *ordered(const struct cluster_node *nodes, size_t n,
			   const struct cluster_arc *arcs, size_t n_arcs)
{
	struct clustering *c = cluster_new(nodes, n, arcs, n_arcs, CLUSTER_PAGE);
	const char *text = as_text(c);
	cluster_free(c);
	return text;
}

enum { A, B, C, D, E };

static void test_chain(void)
{
	struct cluster_node n[] = { { 100, 1 }, { 100, 3 }, { 100, 2 } };
	struct cluster_arc arcs[] = { { A, B, 10 }, { B, C, 10 } };
	OK_STR(ordered(n, 3, arcs, 2), "a b c");
}

static void test_main_caller_wins(void)
{
	/* d is called by a and by b; b calls it more. */
	struct cluster_node n[] = { { 100, 5 }, { 100, 5 }, { 100, 0 }, { 100, 4 } };
	struct cluster_arc arcs[] = { { A, D, 10 }, { B, D, 11 } };
	OK_STR(ordered(n, 4, arcs, 2), "a | b d");
}

static void test_ties_go_to_the_first(void)
{
	struct cluster_node n[] = { { 100, 5 }, { 100, 5 }, { 100, 4 } };
	struct cluster_arc arcs[] = { { B, C, 10 }, { A, C, 10 } };
	OK_STR(ordered(n, 3, arcs, 2), "b | a c"); /* together they are less dense than b */
}

static void test_no_larger_than_a_page(void)
{
	struct cluster_node n[] = { { 2000, 100 }, { 2096, 90 }, { 1, 10 }, { 9000, 1 } };
	struct cluster_arc arcs[] = { { A, B, 10 }, { A, C, 10 }, { B, D, 10 } };
	/* c is the densest and joins a; then b has no room left, and d is too large for anyone. */
	OK_STR(ordered(n, 4, arcs, 3), "a c | b | d");
}

static void test_cold_callee_does_not_dilute(void)
{
	struct cluster_node n[] = { { 100, 800 }, { 3000, 1 } };
	struct cluster_arc arcs[] = { { A, B, 1 } };
	OK_STR(ordered(n, 2, arcs, 1), "a | b");
	/* An eighth is just enough: 891 of 900 bytes, beside 792 of 100. */
	struct cluster_node even[] = { { 100, 792 }, { 800, 99 } };
	OK_STR(ordered(even, 2, arcs, 1), "a b");
}

static void test_everybody_calls_it(void)
{
	/* Eleven callers, none with a tenth of the calls: the callee joins none of them. */
	struct cluster_node n[12];
	struct cluster_arc arcs[11];
	for (uint32_t i = 0; i < 12; i++)
		n[i] = (struct cluster_node){ 100, i < 11 ? 1 : 50 };
	for (uint32_t i = 0; i < 11; i++)
		arcs[i] = (struct cluster_arc){ i, 11, 5 };
	OK_STR(ordered(n, 12, arcs, 11), "l | a | b | c | d | e | f | g | h | i | j | k");
}

static void test_recursion(void)
{
	struct cluster_node n[] = { { 100, 1 }, { 100, 2 } };
	struct cluster_arc arcs[] = { { A, A, 99 }, { A, B, 5 }, { B, A, 5 } };
	OK_STR(ordered(n, 2, arcs, 3), "a b"); /* b is denser, so it comes first and joins a */
}

static void test_what_is_placed(void)
{
	/* a only calls (no heat, but it ran); c and the arc without calls were never used. */
	struct cluster_node n[] = { { 100, 0 }, { 100, 2 }, { 100, 0 }, { 0, 3 } };
	struct cluster_arc arcs[] = { { A, B, 5 }, { A, C, 0 } };
	OK_STR(ordered(n, 4, arcs, 2), "d | a b");
	OK_STR(ordered(n, 0, NULL, 0), "");
}

static void test_locality(void)
{
	struct cluster_node n[] = { { 100, 9 }, { 100, 1 }, { 5000, 90 } };
	uint64_t addr[] = { 0, 100, 8190 };
	struct cluster_arc arcs[] = { { A, B, 3 }, { A, C, 1 }, { A, A, 1000 } };
	struct locality l = cluster_locality(n, addr, 3, arcs, 3, 4096);

	OK(l.distance == (3 * 50.0 + 8140.0) / 4);
	OK(l.page_change == (3 * 50.0 / 4096 + 1) / 4);
	OK(l.pages == 3); /* c alone has 90 %: two bytes of page 1, page 2, and some of page 3 */

	struct cluster_node huge[] = { { UINT64_MAX, 1 }, { UINT64_MAX, 1 }, { 0, 1 } };
	uint64_t ends[] = { 4096, UINT64_MAX, 0 };
	OK(cluster_locality(huge, ends, 3, NULL, 0, 4096).pages == UINT64_MAX / 4096 + 1);
	OK(cluster_locality(NULL, NULL, 0, NULL, 0, 4096).pages == 0);
}

/* ---- any graph ---- */

struct graph {
	size_t n, n_arcs;
	struct cluster_node *nodes;
	struct cluster_arc *arcs;
};

static uint64_t state;

static uint64_t below(uint64_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % n;
}

static struct graph random_graph(uint64_t seed)
{
	state = seed;
	struct graph g = { .n = 1 + below(300), .n_arcs = below(1500) };
	g.nodes = calloc(g.n, sizeof(*g.nodes));
	g.arcs = calloc(g.n_arcs + 1, sizeof(*g.arcs));
	for (size_t i = 0; i < g.n; i++)
		g.nodes[i] = (struct cluster_node){ below(4) ? below(1000) : below(9000),
						    below(3) ? (double)below(50) : 0 };
	for (size_t i = 0; i < g.n_arcs; i++)
		g.arcs[i] = (struct cluster_arc){ (uint32_t)below(g.n), (uint32_t)below(g.n),
						  below(5) ? below(100) : 0 };
	return g;
}

static void free_graph(struct graph *g)
{
	free(g->nodes);
	free(g->arcs);
}

/* Each node that was used once, no other. */
static bool is_permutation(const struct graph *g, const struct clustering *c)
{
	int *seen = calloc(g->n, sizeof(*seen));
	bool *used = calloc(g->n, sizeof(*used));
	bool ok = true;
	for (size_t i = 0; i < c->n; i++)
		seen[c->order[i]]++;
	for (size_t i = 0; i < g->n; i++)
		used[i] = g->nodes[i].heat > 0;
	for (size_t i = 0; i < g->n_arcs; i++)
		if (g->arcs[i].count)
			used[g->arcs[i].from] = used[g->arcs[i].to] = true;
	for (size_t i = 0; i < g->n; i++)
		ok &= seen[i] == used[i];
	free(seen);
	free(used);
	return ok;
}

/* Numbers ascend by one, sizes keep the limit, densities are right and descend. */
static bool clusters_hold(const struct graph *g, const struct clustering *c, uint64_t max_size)
{
	size_t at = 0;
	for (uint32_t k = 0; k < c->n_clusters; k++) {
		double size = 0, heat = 0;
		size_t members = 0;
		for (; at < c->n && c->cluster[at] == k; at++, members++) {
			size += (double)g->nodes[c->order[at]].size;
			heat += g->nodes[c->order[at]].heat;
		}
		double density = heat / (size > 0 ? size : 1), error = c->density[k] - density;
		if (!members || (members > 1 && size > (double)max_size) || error > 1e-9 ||
		    error < -1e-9 || (k && c->density[k] > c->density[k - 1]))
			return false;
	}
	return at == c->n;
}

/* Each member but the first is called by one of its cluster. */
static bool members_are_called(const struct graph *g, const struct clustering *c)
{
	uint32_t *cluster = calloc(g->n, sizeof(*cluster));
	bool *called = calloc(g->n, sizeof(*called)), ok = true;
	for (size_t i = 0; i < c->n; i++)
		cluster[c->order[i]] = c->cluster[i] + 1;
	for (size_t i = 0; i < g->n_arcs; i++) {
		const struct cluster_arc *a = &g->arcs[i];
		if (a->count && a->from != a->to && cluster[a->from] == cluster[a->to])
			called[a->to] = true;
	}
	for (size_t i = 1; i < c->n; i++)
		ok &= c->cluster[i] != c->cluster[i - 1] || called[c->order[i]];
	free(cluster);
	free(called);
	return ok;
}

static bool same_if_shuffled(struct graph *g, const struct clustering *c, uint64_t max_size)
{
	for (size_t i = g->n_arcs; i > 1; i--) {
		size_t j = below(i);
		struct cluster_arc t = g->arcs[i - 1];
		g->arcs[i - 1] = g->arcs[j];
		g->arcs[j] = t;
	}
	struct clustering *other = cluster_new(g->nodes, g->n, g->arcs, g->n_arcs, max_size);
	bool ok = other->n == c->n && !memcmp(other->order, c->order, c->n * sizeof(*c->order)) &&
		  !memcmp(other->cluster, c->cluster, c->n * sizeof(*c->cluster));
	cluster_free(other);
	return ok;
}

static void test_laws(void)
{
	int permutations = 0, clusters = 0, called = 0, shuffled = 0;
	enum { GRAPHS = 300 };
	for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
		struct graph g = random_graph(seed);
		uint64_t max_size = seed % 3 ? CLUSTER_PAGE : 100000;
		struct clustering *c = cluster_new(g.nodes, g.n, g.arcs, g.n_arcs, max_size);
		permutations += is_permutation(&g, c);
		clusters += clusters_hold(&g, c, max_size);
		called += members_are_called(&g, c);
		shuffled += same_if_shuffled(&g, c, max_size);
		cluster_free(c);
		free_graph(&g);
	}
	OK(permutations == GRAPHS);
	OK(clusters == GRAPHS);
	OK(called == GRAPHS);
	OK(shuffled == GRAPHS);
}

/* Where the linker put them, in the order of the nodes, and where the clustering would. */
static struct locality locality_of(const struct graph *g, const struct clustering *c)
{
	uint64_t *addr = calloc(g->n, sizeof(*addr)), at = 0;
	for (size_t i = 0; i < g->n; i++) {
		size_t node = c ? c->order[i] : i;
		addr[node] = at;
		at += g->nodes[node].size;
	}
	struct locality l =
		cluster_locality(g->nodes, addr, g->n, g->arcs, g->n_arcs, CLUSTER_PAGE);
	free(addr);
	return l;
}

/* Forty chains of ten small functions, their members scattered over the program, and one in four of
 * them hot: the clustering must find them. */
static void test_finds_what_was_hidden(void)
{
	enum { CHAINS = 40, LENGTH = 10, N = CHAINS * LENGTH };
	struct graph g = { .n = N };
	g.nodes = calloc(N, sizeof(*g.nodes));
	g.arcs = calloc(N, sizeof(*g.arcs));
	for (uint32_t i = 0; i < N; i++) {
		uint32_t chain = i % CHAINS; /* members of a chain are CHAINS apart */
		uint64_t weight = chain % 4 ? 1 : 100;
		g.nodes[i] = (struct cluster_node){ 200, (double)weight };
		if (i >= CHAINS)
			g.arcs[g.n_arcs++] = (struct cluster_arc){ i - CHAINS, i, weight };
	}
	struct clustering *c = cluster_new(g.nodes, N, g.arcs, g.n_arcs, CLUSTER_PAGE);
	struct locality before = locality_of(&g, NULL), after = locality_of(&g, c);

	OK(c->n == N && c->n_clusters == CHAINS);
	OK(before.distance == CHAINS * 200 - 100);
	OK(after.distance == 100);
	OK(before.page_change == 1);
	OK(after.page_change == 100.0 / CLUSTER_PAGE);
	OK(before.pages > 15);
	OK(after.pages == 5); /* nine chains of 2,000 bytes make 90 %, from the first byte on */
	cluster_free(c);
	free_graph(&g);
}

/* A star and a chain of a million: neither recursion nor a quadratic step survives this. */
static void test_large(void)
{
	enum { N = 1000000 };
	for (int star = 0; star < 2; star++) {
		struct graph g = { .n = N };
		g.nodes = calloc(N, sizeof(*g.nodes));
		g.arcs = calloc(N, sizeof(*g.arcs));
		for (uint32_t i = 0; i < N; i++) {
			g.nodes[i] = (struct cluster_node){ 1, 1 };
			if (i)
				g.arcs[g.n_arcs++] = (struct cluster_arc){ star ? 0 : i - 1, i, 1 };
		}
		struct clustering *c = cluster_new(g.nodes, N, g.arcs, g.n_arcs, UINT64_MAX);
		OK(c->n == N && c->n_clusters == 1);
		cluster_free(c);
		free_graph(&g);
	}
}

int main(void)
{
	test_chain();
	test_main_caller_wins();
	test_ties_go_to_the_first();
	test_no_larger_than_a_page();
	test_cold_callee_does_not_dilute();
	test_everybody_calls_it();
	test_recursion();
	test_what_is_placed();
	test_locality();
	test_laws();
	test_finds_what_was_hidden();
	test_large();
	return DONE();
}
