/* Call graphs made of many records: that it does not matter how they are made, and in which order
 * their arcs are listed. */
#include "tap.h"

#include <stdlib.h>

#include "analysis/callgraph.h"
#include "base/sort.h"
#include "lib/random_graph.h"
#include "symbolize/symbols_private.h"

enum { FUNCTIONS = 3000, SIZE = 64, MOST_CALLS = 8 };

/* ---- a program and its data ---- */

static struct symbol places[FUNCTIONS];
static struct symbols_private private;
static struct symbols program = { .at = places, .n = FUNCTIONS, .priv = &private };

/* With pieces some functions own code in front of others, so that callers are not in the order of
 * their calls. */
static void make_program(bool pieces)
{
	for (symid i = 0; i < FUNCTIONS; i++)
		places[i] =
			(struct symbol){ .addr = (uint64_t)(i + 1) * SIZE,
					 .end = (uint64_t)(i + 2) * SIZE,
					 .name = "f",
					 .owner = pieces && i % 7 == 3 && i + 2 < FUNCTIONS ? i + 2
											    : i,
					 .is_function = true };
	place_index_done(&private.index);
	place_index_init(&private.index, places, FUNCTIONS);
}

/* A few functions are called by nearly all, so that some lists are long; some functions call
 * themselves, and each other. */
static struct arc random_call(uint64_t *seed, symid from)
{
	static const uint32_t ranges[] = { 1, 10, 100, FUNCTIONS };
	symid to = random_below(seed, ranges[random_below(seed, ARRAY_LEN(ranges))]);

	if (!random_below(seed, 10))
		to = from;
	return (struct arc){ .from = places[from].addr + random_below(seed, SIZE),
			     .to = places[to].addr,
			     .count = random_below(seed, 3) ? random_below(seed, 70000) : 1 };
}

static int by_site(const void *l, const void *r)
{
	const struct arc *left = l, *right = r;
	return (left->from > right->from) - (left->from < right->from);
}

/* A bin for each function. The hits are by bin. */
static void add_times(struct profile_builder *b, const struct hit *hits, size_t n_hits)
{
	struct histogram h = { .n = FUNCTIONS,
			       .low = SIZE,
			       .high = (uint64_t)(FUNCTIONS + 1) * SIZE,
			       .hits = hits,
			       .n_hits = n_hits,
			       .rate = 100,
			       .dimension = "seconds",
			       .abbrev = 's' };
	OK(!profile_add_histogram(b, h));
}

/* Every call twice, so that there is something to add up. */
static struct profile *make_profile(uint64_t seed, bool ordered)
{
	struct profile_builder *b = profile_builder_new();
	VEC(struct arc) arcs = { 0 };

	for (symid from = 0; from < FUNCTIONS; from++) {
		for (uint32_t k = random_below(&seed, MOST_CALLS); k > 0; k--) {
			struct arc a = random_call(&seed, from);
			vec_push(&arcs, a);
			vec_push(&arcs, a);
		}
	}
	if (ordered)
		qsort(arcs.at, arcs.n, sizeof(*arcs.at), by_site);
	else
		for (size_t i = 0; i < arcs.n; i++) {
			size_t k = random_below(&seed, (uint32_t)arcs.n);
			struct arc other = arcs.at[k];
			arcs.at[k] = arcs.at[i];
			arcs.at[i] = other;
		}
	profile_add_arcs(b, arcs.at, arcs.n);
	profile_add_source(b, "gmon.out", (struct source){ .kind = "gmon" });
	vec_free(&arcs);

	struct hit hits[FUNCTIONS / 2];
	seed = 7; /* the same in any order of arcs */
	for (uint32_t i = 0; i < ARRAY_LEN(hits); i++)
		hits[i] = (struct hit){ 2 * i, 1 + random_below(&seed, 100) };
	add_times(b, hits, ARRAY_LEN(hits));
	return profile_finish(b);
}

/* ---- comparisons ---- */

static bool near(double a, double b) { return a - b < 1e-6 && b - a < 1e-6; }

static uint64_t calls_of(const struct callgraph *g, symid from, symid to)
{
	const struct cg_node *n = &g->nodes[from];
	for (uint32_t k = 0; k < n->n_out; k++)
		if (g->arcs[n->first_out + k].to == to)
			return g->arcs[n->first_out + k].count;
	return UINT64_MAX;
}

/* The same calls and times, whatever the order of arcs. */
static bool same_graph(const struct callgraph *a, const struct callgraph *b)
{
	bool same = a->n_arcs == b->n_arcs && a->n_cycles == b->n_cycles;

	for (size_t i = 0; same && i < a->n_arcs; i++)
		same = calls_of(b, a->arcs[i].from, a->arcs[i].to) == a->arcs[i].count;
	for (size_t i = 0; same && i < a->n_symbols; i++) {
		const struct cg_node *l = &a->nodes[i], *r = &b->nodes[i];
		same = l->calls == r->calls && l->self_calls == r->self_calls &&
		       l->n_in == r->n_in && l->n_out == r->n_out && l->self == r->self &&
		       (l->cycle > 0) == (r->cycle > 0);
	}
	return same;
}

static bool same_arcs(const struct callgraph *a, const struct callgraph *b)
{
	return a->n_arcs == b->n_arcs && !memcmp(a->arcs, b->arcs, a->n_arcs * sizeof(*a->arcs)) &&
	       !memcmp(a->in, b->in, a->n_arcs * sizeof(*a->in));
}

static bool callers_are_complete(const struct callgraph *g)
{
	bool complete = true;
	size_t n = 0;

	for (symid i = 0; i < g->n_symbols; i++) {
		const struct cg_in *in = &g->in[g->nodes[i].first_in];
		for (uint32_t k = 0; k < g->nodes[i].n_in; k++, n++) {
			const struct cg_arc *a = &g->arcs[in[k].arc];
			complete &= a->to == i && a->from == in[k].from && a->count == in[k].count;
			complete &= !k || callgraph_arc_seq(g, in[k].arc) <
						  callgraph_arc_seq(g, in[k - 1].arc);
		}
	}
	return complete && n == g->n_arcs;
}

static void graphs_are_the_same_however_they_are_made(void)
{
	for (int pieces = 0; pieces < 2; pieces++) {
		make_program(pieces);
		struct profile *kept = make_profile(1, true), *taken = make_profile(1, true),
			       *mixed = make_profile(1, false);
		OK(kept->arcs_ascend && !mixed->arcs_ascend);
		struct callgraph_opts opts = { 0 }, consuming = { .consume = taken };
		struct callgraph *a = callgraph_new(kept, &program, &opts),
				 *b = callgraph_new(taken, &program, &consuming),
				 *c = callgraph_new(mixed, &program, &opts);
		OK(a->n_arcs > FUNCTIONS && a->n_cycles > 0);
		OK(kept->n_arcs > a->n_arcs && taken->n_arcs == 0);
		OK(same_arcs(a, b));
		OK(same_graph(a, b));
		OK(same_graph(a, c) && same_graph(c, a));
		OK(callers_are_complete(a) && callers_are_complete(b) && callers_are_complete(c));
		callgraph_free(a);
		callgraph_free(b);
		callgraph_free(c);
		profile_free(kept);
		profile_free(taken);
		profile_free(mixed);
	}
}

/* ---- lists ---- */

/* Whether l stands before r. */
static bool precedes(const struct cg_listed *l, const struct cg_listed *r, bool descending)
{
	if (l->class != r->class)
		return (l->class < r->class) != descending;
	if (l->total != r->total)
		return (l->total < r->total) != descending;
	if (l->count != r->count)
		return (l->count < r->count) != descending;
	return l->seq < r->seq;
}

/* Each arc once, in strictly ascending order of places. */
static bool is_in_order(const struct callgraph *g, const struct cg_listed *list, uint32_t n,
			symid id, bool callees)
{
	bool right = true;
	for (uint32_t k = 0; k < n; k++) {
		const struct cg_arc *a = &g->arcs[list[k].arc];
		right &= (callees ? a->from : a->to) == id;
		right &= (callees ? a->to : a->from) == list[k].other && a->count == list[k].count;
		right &= list[k].seq == callgraph_arc_seq(g, list[k].arc);
		right &= !k || precedes(&list[k - 1], &list[k], callees);
	}
	return right;
}

static void lists_are_in_order(void)
{
	make_program(false);
	for (int ordered = 0; ordered < 2; ordered++) {
		struct profile *p = make_profile(3, ordered);
		struct callgraph *g = callgraph_new(p, &program, &(struct callgraph_opts){ 0 });
		struct cg_listed *list = xalloc(FUNCTIONS * sizeof(*list));
		uint32_t longest = 0;
		int wrong = 0;
		for (symid i = 0; i < FUNCTIONS; i++) {
			const struct cg_node *n = &g->nodes[i];
			callgraph_prefetch_entry(g, i, true);
			callgraph_list_callers(g, i, list);
			callgraph_sort_listed(list, n->n_in, false);
			wrong += !is_in_order(g, list, n->n_in, i, false);
			callgraph_list_callees(g, i, list);
			callgraph_sort_listed(list, n->n_out, true);
			wrong += !is_in_order(g, list, n->n_out, i, true);
			longest = n->n_in > longest ? n->n_in : longest;
		}
		OK(wrong == 0);
		OK(longest > 1000);
		free(list);
		callgraph_free(g);
		profile_free(p);
	}
}

/* The first function is called by all others, the second calls them: more than are sorted at
 * once. */
static void long_lists_are_in_order(void)
{
	enum { MANY = 150000 };
	struct symbols many = { .at = xalloc(MANY * sizeof(struct symbol)),
				.n = MANY,
				.priv = xalloc(sizeof(struct symbols_private)) };
	struct profile_builder *b = profile_builder_new();
	uint64_t seed = 11;

	for (symid i = 0; i < MANY; i++)
		many.at[i] = (struct symbol){ .addr = (uint64_t)(i + 1) * SIZE,
					      .end = (uint64_t)(i + 2) * SIZE,
					      .name = "f",
					      .owner = i,
					      .is_function = true };
	place_index_init(&many.priv->index, many.at, MANY);
	for (symid i = 2; i < MANY; i++) {
		profile_add_arc(b, (struct arc){ many.at[1].addr, many.at[i].addr,
						 random_below(&seed, 9) });
		profile_add_arc(b, (struct arc){ many.at[i].addr, many.at[0].addr,
						 random_below(&seed, 99) });
	}
	profile_add_source(b, "gmon.out", (struct source){ .kind = "gmon" });
	static const struct hit hits[] = { { 0, 5000 }, { 40, 3 }, { 41, 1 }, { 2000, 9 } };
	add_times(b, hits, ARRAY_LEN(hits));
	struct profile *p = profile_finish(b);
	struct callgraph *g = callgraph_new(p, &many, &(struct callgraph_opts){ 0 });
	struct cg_listed *list = xalloc(MANY * sizeof(*list));

	OK(g->nodes[0].n_in == MANY - 2 && g->nodes[1].n_out == MANY - 2);
	callgraph_list_callers(g, 0, list);
	callgraph_sort_listed(list, MANY - 2, false);
	OK(is_in_order(g, list, MANY - 2, 0, false));
	callgraph_list_callees(g, 1, list);
	callgraph_sort_listed(list, MANY - 2, true);
	OK(is_in_order(g, list, MANY - 2, 1, true));
	free(list);
	callgraph_free(g);
	profile_free(p);
	place_index_done(&many.priv->index);
	free(many.priv);
	free(many.at);
}

/* ---- the order of entries ---- */

static double shown_time(const struct cg_node *n)
{
	return callgraph_shown_self(n) + n->shown_child;
}

/* Equal times: cycles, then functions by their calls and names, last those with an underscore. */
static bool is_before(const struct callgraph *g, nodeid l, nodeid r)
{
	const struct cg_node *left = &g->nodes[l], *right = &g->nodes[r];
	if (shown_time(left) != shown_time(right))
		return shown_time(left) > shown_time(right);
	if (l >= g->n_symbols || r >= g->n_symbols)
		return l >= g->n_symbols && (r < g->n_symbols || l < r);
	const char *a = g->symbols->at[l].name, *b = g->symbols->at[r].name;
	if ((a[0] == '_') != (b[0] == '_'))
		return b[0] == '_';
	return left->calls != right->calls ? left->calls > right->calls : strcmp(a, b) < 0;
}

static bool members_are_in_order(const struct callgraph *g, const struct cg_node *cycle)
{
	for (uint32_t i = 1; i < cycle->n_members; i++) {
		const struct cg_node *l = &g->nodes[g->members[cycle->first_out + i - 1]],
				     *r = &g->nodes[g->members[cycle->first_out + i]];
		int order = ORDER(shown_time(r), shown_time(l));
		if (!order)
			order = ORDER(r->calls + r->self_calls, l->calls + l->self_calls);
		if (!order)
			order = ORDER(l->index, r->index);
		if (order > 0)
			return false;
	}
	return true;
}

/* Functions without time, each called as often as many others, and some more. */
static void entries_are_in_order(void)
{
	static char names[FUNCTIONS][8];
	struct profile_builder *b = profile_builder_new();
	uint64_t seed = 5;
	int wrong = 0, cycles = 0;

	make_program(false);
	for (symid i = 0; i < FUNCTIONS; i++) {
		snprintf(names[i], sizeof(names[i]), "%sf%u", random_below(&seed, 2) ? "" : "_",
			 (i * 7919) % FUNCTIONS);
		places[i].name = names[i];
	}
	for (symid i = 0; i + 1 < FUNCTIONS; i++) {
		symid to = i % 20 == 9 ? i - 5 : i + 1; /* some are cycles */
		profile_add_arc(b, (struct arc){ .from = places[i].addr + 1,
						 .to = places[to].addr,
						 .count = random_below(&seed, 3) });
	}
	profile_add_source(b, "gmon.out", (struct source){ .kind = "gmon" });
	static const struct hit hits[] = { { 5, 3 }, { 40, 3 }, { 41, 1 }, { 2000, 9 } };
	add_times(b, hits, ARRAY_LEN(hits));
	struct profile *p = profile_finish(b);
	struct callgraph *g = callgraph_new(p, &program, &(struct callgraph_opts){ 0 });
	size_t n = g->n_symbols + g->n_cycles;
	for (size_t i = 0; i < n; i++) {
		wrong += g->nodes[g->order[i]].index != i + 1;
		wrong += i && !is_before(g, g->order[i - 1], g->order[i]);
		if (g->order[i] < g->n_symbols)
			continue;
		wrong += !members_are_in_order(g, &g->nodes[g->order[i]]);
		cycles++;
	}
	OK(!wrong);
	OK(cycles > 10);
	callgraph_free(g);
	profile_free(p);
}

/* A flat profile has the same times without the graph's lists, and after its arcs went. */
static void flat_profiles_need_no_arcs(void)
{
	make_program(false);
	for (uint64_t seed = 1; seed < 5; seed++) {
		struct profile *p = make_profile(seed, seed % 2);
		struct callgraph_opts opts[] = { { 0 },
						 { .flat_only = true },
						 { .flat_only = true, .drops_arcs = true } };
		struct callgraph *g[ARRAY_LEN(opts)];
		size_t wrong = 0;
		for (size_t k = 0; k < ARRAY_LEN(opts); k++)
			g[k] = callgraph_new(p, &program, &opts[k]);
		for (size_t i = 0; i < g[0]->n_symbols; i++)
			for (size_t k = 1; k < ARRAY_LEN(opts); k++)
				wrong +=
					g[k]->nodes[i].calls != g[0]->nodes[i].calls ||
					g[k]->nodes[i].self != g[0]->nodes[i].self ||
					g[k]->nodes[i].child != g[0]->nodes[i].child ||
					g[k]->nodes[i].n_out != (k == 2 ? 0 : g[0]->nodes[i].n_out);
		OK(!wrong);
		OK(g[1]->n_arcs == g[0]->n_arcs && g[1]->arcs && g[1]->has_arcs);
		OK(!g[2]->n_arcs && !g[2]->arcs && g[2]->has_arcs);
		for (size_t k = 0; k < ARRAY_LEN(opts); k++)
			callgraph_free(g[k]);
		profile_free(p);
	}
}

/* Ten bins over four functions: bin 2 is that of the end of the first and the start of the second.
 */
static struct callgraph *graph_of_hits(symid callee, const struct hit *hits, size_t n)
{
	struct profile_builder *b = profile_builder_new();
	struct histogram h = { .n = 10,
			       .low = SIZE,
			       .high = 5 * SIZE,
			       .hits = hits,
			       .n_hits = n,
			       .rate = 100,
			       .dimension = "seconds",
			       .abbrev = 's' };

	profile_add_arc(
		b, (struct arc){ .from = 3 * SIZE + 8, .to = places[callee].addr, .count = 1 });
	profile_add_source(b, "gmon.out", (struct source){ .kind = "gmon" });
	OK(!profile_add_histogram(b, h));
	struct profile *p = profile_finish(b);
	struct callgraph *g = callgraph_new(p, &program, &(struct callgraph_opts){ 0 });
	profile_free(p);
	return g;
}

static void shared_bins_are_of_functions_that_ran(void)
{
	const struct hit shared[] = { { 2, 100 } }, both[] = { { 2, 100 }, { 3, 10 } };

	make_program(false);
	struct callgraph *g = graph_of_hits(0, shared, 1);
	OK(near(g->nodes[0].self, 100) && g->nodes[1].self == 0 && g->split == 0);
	callgraph_free(g);
	g = graph_of_hits(1, shared, 1);
	OK(g->nodes[0].self == 0 && near(g->nodes[1].self, 100) && g->split == 0);
	callgraph_free(g);
	g = graph_of_hits(0, both, 2); /* the second was hit where it is alone */
	OK(near(g->nodes[0].self, 50) && near(g->nodes[1].self, 60) && g->split == 100);
	callgraph_free(g);
	g = graph_of_hits(3, shared, 1); /* nothing shows which of them ran */
	OK(near(g->nodes[0].self, 50) && near(g->nodes[1].self, 50) && g->split == 100);
	callgraph_free(g);
}

int main(void)
{
	shared_bins_are_of_functions_that_ran();
	graphs_are_the_same_however_they_are_made();
	lists_are_in_order();
	long_lists_are_in_order();
	entries_are_in_order();
	flat_profiles_need_no_arcs();
	place_index_done(&private.index);
	return DONE();
}
