/* flow_graph.c - solves for the counts of jumps, and takes apart the loops on a line. */
#include "input/flow_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

enum { MOST_STEPS = 1000 }; /* of the search for loops, per jump on the line */

/* ---- counts of all jumps ---- */

static int by_blocks(const void *l, const void *r)
{
	const struct flow_arc *a = l, *b = r;
	if (a->from != b->from)
		return ORDER(a->from, b->from);
	return ORDER(a->to, b->to);
}

static void index_arcs(struct flow_graph *g)
{
	if (g->arcs.n)
		qsort(g->arcs.at, g->arcs.n, sizeof(*g->arcs.at), by_blocks);
	g->blocks = xalloc((g->n_blocks + 2) * sizeof(*g->blocks));
	g->arcs_in = xrealloc(NULL, g->arcs.n + 1, sizeof(*g->arcs_in));
	for (size_t i = 0; i < g->arcs.n; i++) {
		g->blocks[g->arcs.at[i].from + 1].first_out++;
		g->blocks[g->arcs.at[i].to + 2].first_in++;
	}
	for (uint32_t b = 0; b <= g->n_blocks; b++) {
		g->blocks[b + 1].first_out += g->blocks[b].first_out;
		g->blocks[b + 1].first_in += g->blocks[b].first_in;
	}
	for (size_t i = 0; i < g->arcs.n; i++) /* moves each start to the next block's */
		g->arcs_in[g->blocks[g->arcs.at[i].to + 1].first_in++] = (uint32_t)i;
}

static void add_known(struct flow_graph *g, const struct flow_arc *a)
{
	g->blocks[a->from].out += a->count;
	g->blocks[a->to].in += a->count;
}

static void learn_arc(struct flow_graph *g, struct flow_arc *a, uint64_t count)
{
	a->count = count;
	a->is_known = true;
	g->blocks[a->from].unknown_out--;
	g->blocks[a->to].unknown_in--;
	add_known(g, a);
}

/* The one arc out of a block, or into it, that is not known. */
static struct flow_arc *unknown_out(struct flow_graph *g, uint32_t block)
{
	struct flow_arc *a = &g->arcs.at[g->blocks[block].first_out];
	while (a->is_known)
		a++;
	return a;
}

static struct flow_arc *unknown_in(struct flow_graph *g, uint32_t block)
{
	const uint32_t *i = &g->arcs_in[g->blocks[block].first_in];
	while (g->arcs.at[*i].is_known)
		i++;
	return &g->arcs.at[*i];
}

/* Derives what it can at a block. Returns the block at the other end of an arc that is known now,
 * or NONE. */
static uint32_t solve_at(struct flow_graph *g, uint32_t block)
{
	struct flow_block *b = &g->blocks[block];
	bool has_in = block != FLOW_ENTRY, has_out = block != FLOW_EXIT;
	struct flow_arc *a;

	if (!b->is_known && ((has_out && !b->unknown_out) || (has_in && !b->unknown_in))) {
		b->count = has_out && !b->unknown_out ? b->out : b->in;
		b->is_known = true;
	}
	if (b->is_known && has_out && b->unknown_out == 1) {
		a = unknown_out(g, block);
		learn_arc(g, a, b->count - b->out);
		return a->to;
	}
	if (b->is_known && has_in && b->unknown_in == 1) {
		a = unknown_in(g, block);
		learn_arc(g, a, b->count - b->in);
		return a->from;
	}
	return NONE;
}

bool flow_graph_solve(struct flow_graph *g)
{
	VEC(uint32_t) todo = { 0 };
	bool is_solved = true;

	index_arcs(g);
	for (size_t i = 0; i < g->arcs.n; i++) {
		struct flow_arc *a = &g->arcs.at[i];
		g->blocks[a->from].unknown_out += !a->is_known;
		g->blocks[a->to].unknown_in += !a->is_known;
		if (a->is_known)
			add_known(g, a);
	}
	for (uint32_t b = 0; b < g->n_blocks; b++)
		vec_push(&todo, b);
	while (todo.n) {
		uint32_t block = todo.at[--todo.n], other = solve_at(g, block);
		if (other == NONE)
			continue;
		vec_push(&todo, block); /* its other side */
		vec_push(&todo, other);
	}
	vec_free(&todo);
	for (uint32_t b = 0; b < g->n_blocks; b++)
		is_solved &= g->blocks[b].is_known && !g->blocks[b].unknown_in &&
			     !g->blocks[b].unknown_out;
	return is_solved;
}

void flow_graph_done(struct flow_graph *g)
{
	vec_free(&g->arcs);
	free(g->blocks);
	free(g->arcs_in);
}

/* ---- executions of a line ---- */

struct loop_arc {
	uint32_t from, to;
	uint64_t left; /* count that is not yet part of a loop */
};

struct loop_search {
	struct flow_graph *g;
	VEC(struct loop_arc) arcs; /* by `from` and `to` */
	VEC(uint32_t) path;        /* indices in arcs[] */
	uint64_t steps;
};

static int by_number(const void *l, const void *r)
{
	return ORDER(*(const uint32_t *)l, *(const uint32_t *)r);
}

static void gather_arcs(struct loop_search *l, const uint32_t *blocks, size_t n)
{
	struct flow_graph *g = l->g;
	uint32_t *sorted = xrealloc(NULL, n + 1, sizeof(*sorted));

	memcpy(sorted, blocks, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_number);
	for (size_t i = 0; i < n; i++) {
		struct flow_block *b = &g->blocks[sorted[i]];
		if (i && sorted[i] == sorted[i - 1])
			continue;
		b->first_loop = (uint32_t)l->arcs.n;
		for (uint32_t k = b->first_out; k < b[1].first_out; k++) {
			const struct flow_arc *a = &g->arcs.at[k];
			if (a->count && g->blocks[a->to].mark == g->n_marks)
				vec_push(&l->arcs, ((struct loop_arc){ a->from, a->to, a->count }));
		}
		b->n_loop = (uint32_t)l->arcs.n - b->first_loop;
	}
	free(sorted);
}

/* Finds a loop through `start` and later blocks: its arcs are the path. */
static bool find_loop(struct loop_search *l, uint32_t start)
{
	struct flow_block *blocks = l->g->blocks, *b = &blocks[start];
	uint32_t search = ++l->g->n_searches, k = b->first_loop;

	l->path.n = 0;
	for (;; l->steps++) {
		if (k == b->first_loop + b->n_loop) { /* no way on: back */
			if (!l->path.n)
				return false;
			k = l->path.at[--l->path.n];
			b = &blocks[l->arcs.at[k].from];
			k++;
			continue;
		}
		const struct loop_arc *a = &l->arcs.at[k];
		if (!a->left || a->to < start || blocks[a->to].seen == search) {
			k++;
			continue;
		}
		vec_push(&l->path, k);
		if (a->to == start)
			return true;
		b = &blocks[a->to];
		b->seen = search;
		k = b->first_loop;
	}
}

/* The rounds of a loop are the count of its least frequent jump. They are taken off all its jumps.
 */
static uint64_t take_loop(struct loop_search *l)
{
	uint64_t least = UINT64_MAX;
	for (size_t i = 0; i < l->path.n; i++)
		if (l->arcs.at[l->path.at[i]].left < least)
			least = l->arcs.at[l->path.at[i]].left;
	for (size_t i = 0; i < l->path.n; i++)
		l->arcs.at[l->path.at[i]].left -= least;
	return least;
}

static bool count_rounds(struct flow_graph *g, const uint32_t *blocks, size_t n, uint64_t *rounds)
{
	struct loop_search l = { .g = g };

	gather_arcs(&l, blocks, n);
	uint64_t most = MOST_STEPS * (l.arcs.n + 1);
	for (size_t i = 0; i < n && l.steps < most; i++)
		while (l.steps < most && find_loop(&l, blocks[i]))
			*rounds += take_loop(&l);
	vec_free(&l.arcs);
	vec_free(&l.path);
	return l.steps < most;
}

bool flow_graph_visits(struct flow_graph *g, const uint32_t *blocks, size_t n, uint64_t *ret)
{
	uint64_t visits = 0;

	g->n_marks++;
	for (size_t i = 0; i < n; i++)
		g->blocks[blocks[i]].mark = g->n_marks;
	for (size_t i = 0; i < n; i++) {
		const struct flow_block *b = &g->blocks[blocks[i]];
		if (blocks[i] == FLOW_ENTRY)
			visits += b->count;
		for (uint32_t k = b->first_in; k < b[1].first_in; k++) {
			const struct flow_arc *a = &g->arcs.at[g->arcs_in[k]];
			if (g->blocks[a->from].mark != g->n_marks)
				visits += a->count;
		}
	}
	*ret = visits;
	return count_rounds(g, blocks, n, ret);
}
