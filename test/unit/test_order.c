#include "tap.h"

#include <stdlib.h>

#include "gnu/gnu_order.h"

/* ---- small programs, made by hand ---- */

enum { MOST = 400 };

static struct symbol places[MOST];
static char names[MOST][16];
static struct symbols program = { .at = places };

/* Stands in for src/symbolize/symbols.c: every function is 16 bytes, from 0 on. */
symid symbols_find(const struct symbols *s, uint64_t addr)
{
	return addr / 16 < s->n ? (symid)(addr / 16) : NONE;
}

static void set_program(size_t n)
{
	program.n = n;
	for (size_t i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "f%zu", i);
		places[i] = (struct symbol){ .addr = 16 * i,
					     .end = 16 * i + 16,
					     .name = names[i],
					     .owner = (symid)i,
					     .is_function = true };
	}
}

struct call {
	symid from, to;
	uint64_t count;
};

/* The arcs must be grouped by caller, each group in the order of seq: here the order given. */
static struct callgraph make_graph(const struct call *calls, size_t n)
{
	struct callgraph g = { .symbols = &program,
			       .n_symbols = program.n,
			       .nodes = xalloc(program.n * sizeof(*g.nodes)),
			       .arcs = xalloc((n + 1) * sizeof(*g.arcs)),
			       .seq = xalloc((n + 1) * sizeof(*g.seq)),
			       .in = xalloc((n + 1) * sizeof(*g.in)),
			       .n_arcs = 0 };
	uint32_t in = 0;

	for (symid f = 0; f < program.n; f++) {
		g.nodes[f].first_out = (uint32_t)g.n_arcs;
		for (size_t i = 0; i < n; i++) {
			if (calls[i].from != f)
				continue;
			g.seq[g.n_arcs] = (uint32_t)i;
			g.arcs[g.n_arcs++] =
				(struct cg_arc){ calls[i].from, calls[i].to, calls[i].count };
			g.nodes[f].n_out++;
			if (calls[i].to != f)
				g.nodes[calls[i].to].calls += calls[i].count;
		}
	}
	for (symid f = 0; f < program.n; f++) {
		g.nodes[f].first_in = in;
		for (size_t a = 0; a < g.n_arcs; a++)
			if (g.arcs[a].to == f)
				g.in[in++].arc = (arcid)a;
		g.nodes[f].n_in = in - g.nodes[f].first_in;
	}
	return g;
}

static void free_graph(struct callgraph *g)
{
	free(g->nodes);
	free(g->arcs);
	free(g->seq);
	free(g->in);
}

/* "f1 f2 f0" */
static char *order(const struct call *calls, size_t n, bool gnu)
{
	static char text[MOST * 6];
	struct callgraph g = make_graph(calls, n);
	size_t k, at = 0;
	symid *ids = order_functions(&g, &(struct order_opts){ .gnu = gnu }, &k);

	text[0] = '\0';
	for (size_t i = 0; i < k; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i ? " " : "",
				       program.at[ids[i]].name);
	free(ids);
	free_graph(&g);
	return text;
}

#define ORDER(gnu, ...)                                                                            \
	order((const struct call[]){ __VA_ARGS__ },                                                \
	      sizeof((struct call[]){ __VA_ARGS__ }) / sizeof(struct call), gnu)

static void test_chains(bool gnu)
{
	set_program(5);
	/* f0 and f4 are never called. The busiest call ties first; callers go before callees. */
	OK_STR(ORDER(gnu, { 1, 2, 60 }, { 2, 3, 100 }, { 3, 1, 2 }), "f1 f2 f3 f0 f4");
	/* Calls beyond 99 % of all calls are too rare to make chains. */
	OK_STR(ORDER(gnu, { 1, 2, 1 }, { 2, 3, 100 }), "f2 f3 f0 f1 f4");
	OK_STR(ORDER(gnu, { 1, 2, 100 }, { 2, 3, 50 }, { 3, 1, 1 }), "f1 f2 f3 f0 f4");
	OK_STR(ORDER(gnu, { 1, 1, 1000 }, { 1, 2, 1 }, { 2, 1, 5 }), "f2 f1 f0 f3 f4");
	OK_STR(ORDER(gnu, { 0, 0, 1000 }), "f0 f1 f2 f3 f4");
}

/* ---- hubs ---- */

/* 100 functions in use: each of 1..99 is called by its neighbour, and f50 by ten more, often. */
static size_t hub_calls(struct call *calls)
{
	size_t n = 0;
	for (symid i = 0; i < 100; i++)
		calls[n++] = (struct call){ i, (i + 1) % 100, 10 };
	for (symid i = 0; i < 10; i++)
		calls[n++] = (struct call){ i * 3, 50, 1000 };
	return n;
}

static void test_hub(void)
{
	struct call calls[200];
	size_t n = hub_calls(calls);

	set_program(100);
	const char *right = order(calls, n, false);
	OK(!strncmp(right, "f50 ", 4));

	/* GNU picks it, and forgets to write it. */
	const char *gnu = order(calls, n, true);
	OK(!strstr(gnu, "f50 "));
	OK(strncmp(gnu, "f50", 3) != 0);
}

/* ---- any graph: each function is in the order once ---- */

static bool is_permutation(const struct callgraph *g)
{
	size_t n, bad = 0;
	symid *ids = order_functions(g, &(struct order_opts){ 0 }, &n);
	bool *seen = xalloc(g->n_symbols * sizeof(*seen));

	for (size_t i = 0; i < n; i++) {
		bad += seen[ids[i]];
		seen[ids[i]] = true;
	}
	free(ids);
	free(seen);
	return !bad && n == g->n_symbols;
}

static void test_random(void)
{
	int good = 0, tries = 300;

	srand(1);
	for (int t = 0; t < tries; t++) {
		size_t functions = 1 + (size_t)rand() % MOST, n = (size_t)rand() % 1000;
		struct call *calls = xalloc((n + 1) * sizeof(*calls));
		bool *used = xalloc(MOST * MOST);
		size_t k = 0;
		set_program(functions);
		for (size_t i = 0; i < n; i++) {
			symid from = (symid)((size_t)rand() % functions);
			symid to = (symid)((size_t)rand() %
					   (rand() % 3 ? functions : 1 + functions / 30));
			if (used[from * MOST + to])
				continue;
			used[from * MOST + to] = true;
			calls[k++] = (struct call){ from, to, (uint64_t)(rand() % 1000) };
		}
		struct callgraph g = make_graph(calls, k);
		good += is_permutation(&g);
		free_graph(&g);
		free(calls);
		free(used);
	}
	OK(good == tries);
}

/* ---- files ---- */

static char *files(const struct arc *arcs, size_t n_arcs, const struct file_map_entry *map,
		   size_t n_map, bool gnu)
{
	static char text[400];
	struct profile p = { .arcs = { .any = arcs }, .n_arcs = n_arcs };
	size_t n, at = 0;
	const char **order = order_files(&p, &program, map, n_map, NULL, gnu, &n);

	text[0] = '\0';
	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i ? " " : "",
				       order[i]);
	free(order);
	return text;
}

static void test_files(void)
{
	/* f0 f1 are in a.o, f2 in b.o, f3 f4 in c.o, f5 in d.o; e.o has no code. */
	static const struct file_map_entry map[] = { { "a.o", "f0" },  { "a.o", "f1" },
						     { "b.o", "f2" },  { "c.o", "f3" },
						     { "c.o", "f4" },  { "d.o", "f5" },
						     { "e.o", "data" } };
	static const struct arc arcs[] = {
		{ .from = 0x10 + 4, .to = 0x40, .count = 30 }, /* f1 -> f4 */
		{ .from = 0x14, .to = 0x30, .count = 30 },     /* f1 -> f3 */
		{ .from = 0x24, .to = 0x30, .count = 50 },     /* f2 -> f3 */
	};
	set_program(6);
	/* a.o calls c.o 60 times, so b.o comes behind these two. */
	OK_STR(files(arcs, 3, map, ARRAY_LEN(map), false), "a.o c.o b.o d.o e.o");
	OK_STR(files(arcs, 0, map, ARRAY_LEN(map), false), "a.o b.o c.o d.o e.o");

	/* A file in two places of the map: once. */
	static const struct file_map_entry twice[] = { { "a.o", "f0" },
						       { "b.o", "f2" },
						       { "a.o", "f1" } };
	OK_STR(files(arcs, 3, twice, ARRAY_LEN(twice), false), "a.o b.o");

	/* GNU has only f0, f2, f3 and f5, and they are called a.o, b.o, c.o and d.o. */
	static const struct arc kept[] = {
		{ .from = 0x04, .to = 0x20, .count = 60 },
		{ .from = 0x14, .to = 0x20, .count = 50 },
	};
	static const size_t first[] = { 0, 2, 3, 5 };
	set_program(4);
	for (size_t i = 0; i < 4; i++)
		places[i].name = map[first[i]].file;
	OK_STR(files(kept, 2, map, ARRAY_LEN(map), true), "a.o c.o b.o d.o e.o");
	for (size_t i = 0; i < 3; i++)
		places[i].name = twice[i].file;
	OK_STR(files(kept, 2, twice, ARRAY_LEN(twice), true), "a.o a.o b.o");
}

int main(void)
{
	test_chains(true);
	test_chains(false);
	test_hub();
	test_random();
	test_files();
	return DONE();
}
