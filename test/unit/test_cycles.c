#include "tap.h"

#include <stdlib.h>

#include "lib/random_graph.h"

enum { MOST = 48 };

/* ---- the truth by brute force: symbols that a walk along uncut arcs can reach ---- */

struct reach {
	bool at[MOST][MOST];
};

static void find_reach(const struct callgraph *g, const bool *is_cut, struct reach *r)
{
	memset(r, 0, sizeof(*r));
	for (size_t i = 0; i < g->n_arcs; i++)
		if (!is_cut || !is_cut[i])
			r->at[g->arcs[i].from][g->arcs[i].to] = true;
	for (size_t k = 0; k < g->n_symbols; k++)
		for (size_t i = 0; i < g->n_symbols; i++)
			for (size_t j = 0; r->at[i][k] && j < g->n_symbols; j++)
				r->at[i][j] |= r->at[k][j];
}

static bool together(const struct reach *r, symid a, symid b)
{
	return a == b || (r->at[a][b] && r->at[b][a]);
}

static size_t part_size(const struct callgraph *g, const struct reach *r, symid id)
{
	size_t n = 0;
	for (symid i = 0; i < g->n_symbols; i++)
		n += together(r, id, i);
	return n;
}

static size_t largest_part(const struct callgraph *g, const struct reach *r)
{
	size_t most = 0;
	for (symid i = 0; i < g->n_symbols; i++) {
		size_t n = part_size(g, r, i);
		most = n > most ? n : most;
	}
	return most;
}

/* Arcs from anywhere to anywhere, each pair once, also to itself. */
static struct callgraph *random_graph(uint64_t *seed, uint32_t most)
{
	struct calls calls = { 0 };
	bool seen[MOST][MOST] = { 0 };
	uint32_t n = 1 + random_below(seed, most), m = random_below(seed, 3 * n);

	for (uint32_t i = 0; i < m; i++) {
		symid from = random_below(seed, n), to = random_below(seed, n);
		if (seen[from][to])
			continue;
		seen[from][to] = true;
		vec_push(&calls.v, ((struct cg_arc){ from, to, random_below(seed, 5) }));
	}
	struct callgraph *g = random_graph_make(n, &calls);
	vec_free(&calls.v);
	return g;
}

/* ---- cycles and the order of symbols ---- */

static bool cycles_are_right(const struct callgraph *g, const struct reach *r)
{
	bool right = true;
	for (symid i = 0; i < g->n_symbols; i++) {
		right &= (g->nodes[i].cycle != 0) == (part_size(g, r, i) > 1);
		right &= g->nodes[i].cycle <= g->n_cycles;
		for (symid j = 0; j < g->n_symbols; j++) {
			bool same = g->nodes[i].cycle && g->nodes[i].cycle == g->nodes[j].cycle;
			right &= i == j || same == together(r, i, j);
		}
	}
	return right;
}

/* Callees before callers; the members of a cycle, and only these, at once. */
static bool order_is_right(const struct callgraph *g, const struct reach *r)
{
	bool right = true;
	for (symid i = 0; i < g->n_symbols; i++) {
		for (symid j = 0; j < g->n_symbols; j++) {
			bool same = g->nodes[i].top_order == g->nodes[j].top_order;
			right &= same == together(r, i, j);
			right &= same || !r->at[i][j] ||
				 g->nodes[i].top_order > g->nodes[j].top_order;
		}
	}
	return right;
}

static bool members_are_right(const struct callgraph *g, const struct reach *r)
{
	bool right = true;
	for (size_t c = 0; c < g->n_cycles; c++) {
		const struct cg_node *cycle = &g->nodes[g->n_symbols + c];
		const symid *members = &g->members[cycle->first_out];
		right &= cycle->cycle == c + 1 && cycle->n_members == part_size(g, r, members[0]);
		for (uint32_t i = 0; i < cycle->n_members; i++) {
			right &= g->nodes[members[i]].cycle == c + 1;
			right &= g->nodes[members[i]].top_order == cycle->top_order;
			for (uint32_t j = 0; j < i; j++)
				right &= members[i] != members[j];
		}
	}
	return right;
}

/* `calls`: calls from outside; `sharing_calls`: the same without cut ones; `self_calls`: within. */
static bool calls_are_right(const struct callgraph *g)
{
	bool right = true;
	for (size_t c = 0; c < g->n_cycles; c++) {
		const struct cg_node *cycle = &g->nodes[g->n_symbols + c];
		uint64_t in = 0, sharing = 0, within = 0;
		for (size_t i = 0; i < g->n_arcs; i++) {
			const struct cg_arc *a = &g->arcs[i];
			if (g->nodes[a->to].cycle != c + 1 || a->from == a->to)
				continue;
			if (g->nodes[a->from].cycle == c + 1) {
				within += a->count;
				continue;
			}
			in += a->count;
			sharing += g->is_cut && g->is_cut[i] ? 0 : a->count;
		}
		right &= cycle->calls == in && cycle->sharing_calls == sharing &&
			 cycle->self_calls == within;
	}
	return right;
}

static void test_find_cycles(void)
{
	uint64_t seed = 1;
	int wrong_cycles = 0, wrong_order = 0, wrong_members = 0, wrong_calls = 0;
	size_t n_cycles = 0;

	for (int i = 0; i < 3000; i++) {
		struct callgraph *g = random_graph(&seed, i % 2 ? 8 : MOST);
		struct reach r;
		callgraph_find_cycles(g);
		find_reach(g, NULL, &r);
		wrong_cycles += !cycles_are_right(g, &r);
		wrong_order += !order_is_right(g, &r);
		wrong_members += !members_are_right(g, &r);
		wrong_calls += !calls_are_right(g);
		n_cycles += g->n_cycles;
		callgraph_free(g);
	}
	OK(n_cycles > 1000);
	OK(wrong_cycles == 0);
	OK(wrong_order == 0);
	OK(wrong_members == 0);
	OK(wrong_calls == 0);
}

/* ---- breaking cycles ---- */

struct faults {
	int too_large, not_in_cycle, needless, uneven;
	size_t n_cut;
};

/* Repeats the cuts in the order of their choice: each arc was on a cycle that was too large. */
static void replay(const struct callgraph *g, size_t max, struct faults *f)
{
	bool *is_cut = xalloc(g->n_arcs);
	struct reach r;

	for (size_t i = 0; i < g->n_cut; i++) {
		const struct cg_arc *a = &g->arcs[g->cut[i]];
		find_reach(g, is_cut, &r);
		f->not_in_cycle += a->from == a->to || is_cut[g->cut[i]] || !r.at[a->to][a->from];
		f->needless += part_size(g, &r, a->to) <= max;
		is_cut[g->cut[i]] = true;
	}
	find_reach(g, is_cut, &r);
	f->too_large += largest_part(g, &r) > (max > 1 ? max : 1);
	for (size_t i = 0; i < g->n_arcs; i++)
		f->uneven += is_cut[i] != g->is_cut[i];
	free(is_cut);
}

static void check_sharing(const struct callgraph *g, struct faults *f)
{
	for (symid i = 0; i < g->n_symbols; i++) {
		const struct cg_node *n = &g->nodes[i];
		uint64_t cut = 0;
		for (size_t k = 0; k < g->n_cut; k++)
			cut += g->arcs[g->cut[k]].to == i ? g->arcs[g->cut[k]].count : 0;
		f->uneven += n->calls - cut != n->sharing_calls;
	}
}

static void test_break_cycles(void)
{
	uint64_t seed = 2;
	struct faults f = { 0 };
	int untouched = 0;

	for (int i = 0; i < 2000; i++) {
		struct callgraph *g = random_graph(&seed, i % 4 ? 10 : MOST);
		uint32_t max = random_below(&seed, (uint32_t)g->n_symbols + 1);
		struct reach r;
		find_reach(g, NULL, &r);
		bool fits = largest_part(g, &r) <= (max > 1 ? max : 1);
		callgraph_break_cycles(g, max);
		replay(g, max, &f);
		check_sharing(g, &f);
		f.needless += fits && g->n_cut;
		untouched += fits;
		f.n_cut += g->n_cut;

		/* The rest agrees with the cycles that are found afterwards. */
		find_reach(g, g->is_cut, &r);
		callgraph_find_cycles(g);
		f.uneven +=
			!cycles_are_right(g, &r) || !order_is_right(g, &r) || !calls_are_right(g);
		callgraph_free(g);
	}
	OK(f.n_cut > 1000);
	OK(untouched > 100);
	OK(f.too_large == 0);
	OK(f.not_in_cycle == 0);
	OK(f.needless == 0);
	OK(f.uneven == 0);
}

/* Frees the calls. */
static void break_and_replay(symid n, struct calls *calls, uint32_t max, struct faults *f)
{
	struct callgraph *g = random_graph_make(n, calls);
	callgraph_break_cycles(g, max);
	replay(g, max, f);
	check_sharing(g, f);
	vec_free(&calls->v);
	callgraph_free(g);
}

/* Every pair calls each other both ways: more arcs than circuits are looked for in. */
static void test_break_dense_small(void)
{
	struct faults f = { 0 };

	for (uint32_t max = 1; max < 40; max += 6) {
		struct calls calls = { 0 };
		for (symid i = 0; i < 40; i++)
			for (symid j = 0; j < 40; j++)
				vec_push(&calls.v, ((struct cg_arc){ i, j, 1 + (i * j) % 7 }));
		break_and_replay(40, &calls, max, &f);
	}
	OK(f.too_large == 0);
	OK(f.not_in_cycle == 0);
	OK(f.uneven == 0); /* but needless are some: where many are cut at once, maybe the last */
}

/* Two such groups, one of which calls the other: calls between them are in no cycle. */
static void test_break_two_dense(void)
{
	enum { GROUP = MOST / 2 };
	struct faults f = { 0 };

	for (uint32_t max = 1; max < GROUP; max += 4)
		for (symid first = 0; first < 2; first++) { /* either of them may be called */
			struct calls calls = { 0 };
			for (symid i = 0; i < 2 * GROUP; i++)
				for (symid j = 0; j < 2 * GROUP; j++)
					if (i / GROUP == j / GROUP || i / GROUP == first)
						vec_push(&calls.v,
							 ((struct cg_arc){ i, j, 1 + i * j % 5 }));
			break_and_replay(2 * GROUP, &calls, max, &f);
		}
	OK(f.too_large == 0);
	OK(f.not_in_cycle == 0);
	OK(f.uneven == 0);
}

/* ---- the choice, by hand ---- */

/* "0-1 2-0": the arcs that are cut, in their order */
static const char *cuts(size_t n, uint32_t max, const struct cg_arc *arcs, size_t n_arcs)
{
	static char text[400];
	struct calls calls = { 0 };
	size_t at = 0;

	for (size_t i = 0; i < n_arcs; i++)
		vec_push(&calls.v, arcs[i]);
	struct callgraph *g = random_graph_make(n, &calls);
	callgraph_break_cycles(g, max);
	text[0] = '\0';
	for (size_t i = 0; i < g->n_cut; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u-%u", i ? " " : "",
				       g->arcs[g->cut[i]].from, g->arcs[g->cut[i]].to);
	vec_free(&calls.v);
	callgraph_free(g);
	return text;
}

#define CUTS(n, max, ...)                                                                          \
	cuts(n, max, (const struct cg_arc[]){ __VA_ARGS__ },                                       \
	     sizeof((struct cg_arc[]){ __VA_ARGS__ }) / sizeof(struct cg_arc))

static void test_choice(void)
{
	/* Members 1 and 2 call each other; 0 calls 1: the call back into 1 goes. */
	OK_STR(CUTS(3, 1, { 0, 1, 1 }, { 1, 2, 100 }, { 2, 1, 100 }), "2-1");
	/* Two members are not more than two. */
	OK_STR(CUTS(3, 2, { 0, 1, 1 }, { 1, 2, 100 }, { 2, 1, 100 }), "");
	/* A call of itself makes no cycle. */
	OK_STR(CUTS(2, 0, { 0, 0, 5 }, { 0, 1, 1 }), "");
	/* No calls from outside, each with one caller: the rarest call is cut. */
	OK_STR(CUTS(3, 1, { 0, 1, 7 }, { 1, 2, 3 }, { 2, 0, 9 }), "1-2");
	/* 1-0 lies on two circuits (0-1-0, 0-2-1-0), and 0 has no other caller; so do 0-1, 2-1 on
	 * one each, and 1 has two: rather one of these, the rarer one. */
	OK_STR(CUTS(3, 2, { 0, 1, 7 }, { 0, 2, 5 }, { 2, 1, 4 }, { 1, 0, 1 }), "2-1");
	/* 0-1 lies on two circuits, other calls of 0 and 1 on one: not the rarest call goes. */
	OK_STR(CUTS(4, 3, { 0, 1, 50 }, { 1, 2, 9 }, { 1, 3, 9 }, { 2, 0, 2 }, { 3, 0, 3 },
		    { 2, 1, 1 }),
	       "0-1");
}

/* ---- the choice, by brute force ---- */

enum { FEW_CIRCUITS = 100 }; /* no more are looked for */

/* All elementary circuits whose least symbol is path[0]; how many lie on each arc. */
static void count_circuits(const struct callgraph *g, symid *path, size_t n, uint32_t *on,
			   size_t *found)
{
	arcid along[MOST + 1];
	const struct cg_node *node = &g->nodes[path[n - 1]];
	for (arcid a = node->first_out; a < node->first_out + node->n_out; a++) {
		symid to = g->arcs[a].to;
		bool is_known = false;
		for (size_t i = 1; i < n; i++)
			is_known |= path[i] == to;
		if (to == path[0] && n > 1) {
			path[n] = to;
			++*found;
			for (size_t i = 0; i < n; i++)
				for (arcid k = 0; k < g->n_arcs; k++)
					if (g->arcs[k].from == path[i] &&
					    g->arcs[k].to == path[i + 1])
						along[i] = k;
			for (size_t i = 0; i < n; i++)
				on[along[i]]++;
		} else if (to > path[0] && !is_known && *found <= FEW_CIRCUITS) {
			path[n] = to;
			count_circuits(g, path, n + 1, on, found);
		}
	}
}

static int reluctance(const struct callgraph *g, const struct reach *r, symid to)
{
	uint32_t within = 0;
	if (g->nodes[to].outside_calls)
		return 0;
	for (size_t i = 0; i < g->n_arcs; i++) {
		if (g->arcs[i].to == to && !together(r, g->arcs[i].from, to))
			return 0;
		within += g->arcs[i].to == to;
	}
	return within > 1 ? 1 : 2;
}

/* Whether no other arc of the part is a better choice than the first that was cut. */
static bool chose_well(const struct callgraph *g, const struct reach *r, const uint32_t *on)
{
	arcid cut = g->cut[0];
	const struct cg_arc *c = &g->arcs[cut];
	int least = reluctance(g, r, c->to);
	for (arcid i = 0; i < g->n_arcs; i++) {
		const struct cg_arc *a = &g->arcs[i];
		if (!on[i] || !together(r, a->from, c->from))
			continue;
		int other = reluctance(g, r, a->to);
		if (other < least || (other == least && (on[i] > on[cut] || (on[i] == on[cut] &&
									     a->count < c->count))))
			return false;
	}
	return on[cut] > 0;
}

static void test_choice_by_force(void)
{
	uint64_t seed = 5;
	int n_tried = 0, n_wrong = 0;
	for (int i = 0; i < 3000; i++) {
		struct callgraph *g = random_graph(&seed, 9);
		uint32_t *on = xalloc((g->n_arcs + 1) * sizeof(*on));
		size_t most = 0;
		struct reach r;
		find_reach(g, NULL, &r);
		for (symid id = 0; id < g->n_symbols; id++) {
			symid path[MOST + 1] = { id };
			size_t found = 0;
			count_circuits(g, path, 1, on, &found);
			most += found;
		}
		callgraph_break_cycles(g, 1);
		if (g->n_cut && most < FEW_CIRCUITS) {
			n_tried++;
			n_wrong += !chose_well(g, &r, on);
		}
		free(on);
		callgraph_free(g);
	}
	OK(n_tried > 1000);
	OK(n_wrong == 0);
}

/* A long path forward, which also skips members, and one call back: only that call is cut, wherever
 * the path begins. It begins where the cycle is called, by a function or by unknown code. */
static void test_halves(symid first, bool by_function)
{
	enum { LONG = 400 };
	struct calls calls = { 0 };
	struct faults f = { 0 };
	symid last = 1 + (first + LONG - 1) % LONG, entry = 1 + first;

	if (by_function)
		vec_push(&calls.v, ((struct cg_arc){ 0, entry, 1 }));
	for (symid i = 0; i < LONG; i++)
		for (symid j = i + 1; j <= i + 3 && j < LONG; j++)
			vec_push(&calls.v, ((struct cg_arc){ 1 + (first + i) % LONG,
							     1 + (first + j) % LONG, 1 }));
	vec_push(&calls.v, ((struct cg_arc){ last, entry, 1000000 }));
	struct callgraph *g = random_graph_make(LONG + 1, &calls);
	g->nodes[entry].outside_calls = !by_function;
	callgraph_break_cycles(g, 10);
	OK(g->n_cut == 1);
	OK(g->arcs[g->cut[0]].from == last && g->arcs[g->cut[0]].to == entry);
	check_sharing(g, &f);
	OK(f.uneven == 0);
	vec_free(&calls.v);
	callgraph_free(g);
}

/* ---- size: an algorithm with quadratic time would not finish here ---- */

/* Cycles as they are found afterwards. */
static bool no_cycle_above(struct callgraph *g, uint32_t max)
{
	callgraph_find_cycles(g);
	for (size_t c = 0; c < g->n_cycles; c++)
		if (g->nodes[g->n_symbols + c].n_members > (max > 1 ? max : 1))
			return false;
	return true;
}

static void test_large(const char *what, size_t n, const struct calls *calls, uint32_t max)
{
	struct callgraph *g = random_graph_make(n, calls);

	callgraph_break_cycles(g, max);
	printf("# %s: %zu arcs cut of %zu\n", what, g->n_cut, g->n_arcs);
	OK(g->n_cut > 0 && g->n_cut < g->n_arcs);
	OK(no_cycle_above(g, max));
	callgraph_free(g);
}

static void test_sizes(void)
{
	enum { DEEP = 100000, DENSE = 300 };
	uint64_t seed = 3;
	struct calls calls = { 0 };

	for (symid i = 0; i + 1 < DEEP; i++)
		vec_push(&calls.v, ((struct cg_arc){ i, i + 1, 1 + random_below(&seed, 9) }));
	for (symid i = 0; i < DEEP / 20; i++) {
		symid from = random_below(&seed, DEEP - 1) + 1, to = random_below(&seed, from);
		vec_push(&calls.v, ((struct cg_arc){ from, to, 1 }));
	}
	test_large("chain with far calls back", DEEP, &calls, 10);

	calls.v.n = DEEP - 1;
	for (symid i = 0; i + 1 < DEEP; i++)
		vec_push(&calls.v, ((struct cg_arc){ i + 1, i, 1 + random_below(&seed, 9) }));
	test_large("chain of neighbours that call back", DEEP, &calls, 3);

	calls.v.n = 0;
	for (symid i = 0; i < DENSE; i++)
		for (symid j = 0; j < DENSE; j++)
			vec_push(&calls.v,
				 ((struct cg_arc){ i, j, 1 + random_below(&seed, 1000) }));
	test_large("everybody calls everybody", DENSE, &calls, 1);
	test_large("everybody calls everybody", DENSE, &calls, 20);
	vec_free(&calls.v);
}

int main(void)
{
	test_find_cycles();
	test_break_cycles();
	test_break_dense_small();
	test_break_two_dense();
	test_choice();
	test_choice_by_force();
	for (symid i = 0; i < 3; i++) {
		test_halves(133 * i, true);
		test_halves(133 * i, false);
	}
	test_sizes();
	return DONE();
}
