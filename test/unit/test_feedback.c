#include "tap.h"

#include <stdlib.h>

#include "analysis/feedback.h"
#include "lib/random_graph.h"

enum { MOST = 60, MOST_ARCS = 14 };

/* ---- the truth by brute force ---- */

struct inner { /* arcs between different members of a cycle */
	arcid at[MOST * MOST];
	size_t n;
};

static void find_inner(const struct callgraph *g, uint32_t cycle, struct inner *in)
{
	in->n = 0;
	for (arcid i = 0; i < g->n_arcs; i++) {
		const struct cg_arc *a = &g->arcs[i];
		if (a->from != a->to && g->nodes[a->from].cycle == cycle &&
		    g->nodes[a->to].cycle == cycle)
			in->at[in->n++] = i;
	}
}

/* Members from which nothing leads on are taken away until none is left. */
static bool has_cycle(const struct callgraph *g, const struct inner *in, const bool *is_cut)
{
	bool gone[MOST] = { 0 };
	for (bool progress = true; progress;) {
		bool calls[MOST] = { 0 }, left = false;
		for (size_t i = 0; i < in->n; i++) {
			const struct cg_arc *a = &g->arcs[in->at[i]];
			if (is_cut[i] || gone[a->from] || gone[a->to])
				continue;
			calls[a->from] = true;
			left = true;
		}
		if (!left)
			return false;
		progress = false;
		for (size_t i = 0; i < g->n_symbols; i++) {
			progress |= !calls[i] && !gone[i];
			gone[i] |= !calls[i];
		}
	}
	return true;
}

struct best {
	size_t n;
	uint64_t calls;
};

static struct best search(const struct callgraph *g, const struct inner *in)
{
	struct best best = { SIZE_MAX, 0 };
	for (uint32_t set = 0; set < 1u << in->n; set++) {
		bool is_cut[MOST_ARCS];
		struct best b = { 0, 0 };
		for (size_t i = 0; i < in->n; i++) {
			is_cut[i] = set >> i & 1;
			b.n += is_cut[i];
			b.calls += is_cut[i] ? g->arcs[in->at[i]].count : 0;
		}
		if (b.n > best.n || (b.n == best.n && b.calls >= best.calls) ||
		    has_cycle(g, in, is_cut))
			continue;
		best = b;
	}
	return best;
}

static struct callgraph *random_graph(uint64_t *seed, uint32_t least, uint32_t most,
				      uint32_t degree)
{
	struct calls calls = { 0 };
	bool seen[MOST][MOST] = { 0 };
	uint32_t n = least + random_below(seed, most - least), m = random_below(seed, degree * n);

	for (uint32_t i = 0; i < m; i++) {
		symid from = random_below(seed, n), to = random_below(seed, n);
		if (seen[from][to])
			continue;
		seen[from][to] = true;
		vec_push(&calls.v, ((struct cg_arc){ from, to, 1 + random_below(seed, 9) }));
	}
	struct callgraph *g = random_graph_make(n, &calls);
	vec_free(&calls.v);
	callgraph_find_cycles(g);
	return g;
}

static void mark(const struct inner *in, const struct feedback *f, bool *is_cut)
{
	for (size_t i = 0; i < in->n; i++) {
		is_cut[i] = false;
		for (size_t k = 0; k < f->n; k++)
			is_cut[i] |= f->arcs[k] == in->at[i];
	}
}

static uint64_t calls_of(const struct callgraph *g, const struct feedback *f)
{
	uint64_t calls = 0;
	for (size_t i = 0; i < f->n; i++)
		calls += g->arcs[f->arcs[i]].count;
	return calls;
}

/* ---- tests ---- */

static void test_exact(void)
{
	uint64_t seed = 7;
	size_t n = 0, several = 0, wrong = 0;
	static struct inner in;
	for (int i = 0; i < 1500; i++) {
		struct callgraph *g = random_graph(&seed, 2, 9, 3);
		for (uint32_t c = 1; c <= g->n_cycles; c++) {
			find_inner(g, c, &in);
			if (in.n > MOST_ARCS)
				continue;
			struct feedback f = feedback_of(g, c);
			struct best best = search(g, &in);
			bool is_cut[MOST_ARCS];
			mark(&in, &f, is_cut);
			wrong += !f.exact || f.n != best.n || calls_of(g, &f) != best.calls ||
				 has_cycle(g, &in, is_cut);
			several += best.n > 1;
			n++;
			free(f.arcs);
		}
		callgraph_free(g);
	}
	OK(n > 500);
	OK(several > 200);
	OK(wrong == 0);
}

/* More than 20 members: no cycle is left, and each of the removed arcs is needed. They are less
 * than half of all arcs, which a random order would remove, and few. */
static void test_heuristic(void)
{
	uint64_t seed = 11;
	size_t n = 0, cyclic = 0, needless = 0, claimed = 0, halves = 0, cut = 0, arcs = 0;
	static struct inner in;
	static bool is_cut[MOST * MOST];
	for (int i = 0; i < 200; i++) {
		struct callgraph *g = random_graph(&seed, 40, MOST, 5);
		for (uint32_t c = 1; c <= g->n_cycles; c++) {
			if (g->nodes[g->n_symbols + c - 1].n_members <= 20)
				continue;
			find_inner(g, c, &in);
			struct feedback f = feedback_of(g, c);
			mark(&in, &f, is_cut);
			cyclic += has_cycle(g, &in, is_cut);
			claimed += f.exact && f.n > 1;
			halves += 2 * f.n >= in.n;
			cut += f.n;
			arcs += in.n;
			for (size_t k = 0; k < in.n; k++) {
				if (!is_cut[k])
					continue;
				is_cut[k] = false;
				needless += !has_cycle(g, &in, is_cut);
				is_cut[k] = true;
			}
			n++;
			free(f.arcs);
		}
		callgraph_free(g);
	}
	printf("# %zu of %zu arcs\n", cut, arcs);
	OK(n > 50);
	OK(cyclic == 0);
	OK(needless == 0);
	OK(claimed == 0);
	OK(halves == 0);
	OK(cut <= 3077); /* there may be better ones */
}

/* A ring of many functions takes one call to break. */
static void test_ring(void)
{
	enum { LONG = 20000 };
	struct calls calls = { 0 };
	for (symid i = 0; i < LONG; i++)
		vec_push(&calls.v, ((struct cg_arc){ i, (i + 1) % LONG, 5 }));
	struct callgraph *g = random_graph_make(LONG, &calls);
	callgraph_find_cycles(g);
	struct feedback f = feedback_of(g, 1);
	OK(f.n == 1 && f.exact);
	free(f.arcs);
	callgraph_free(g);
	vec_free(&calls.v);
}

int main(void)
{
	test_exact();
	test_heuristic();
	test_ring();
	return DONE();
}
