/* callgraph.c - makes a call graph; index numbers and the order of entries, cycles and their
 * members. */
#include "analysis/callgraph.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/analysis_private.h"
#include "base/map64.h"
#include "base/sort.h"
#include "base/vec.h"

/* ---- order of entries: index numbers ---- */

/* Collects the distinct names. Lines have the names of their functions, so names are compared once
 * per function. group[i]: index of the name of symbol i. */
static struct sort_name *distinct_names(const struct symbols *s, uint32_t *group, size_t *n)
{
	VEC(struct sort_name) names = { 0 };
	struct map64 groups = { 0 }; /* pointer to a name -> index in names */

	for (size_t i = 0; i < s->n; i++) {
		const char *name = s->at[i].name;
		if (i && name == s->at[i - 1].name) {
			group[i] = group[i - 1];
			continue;
		}
		uint32_t *known = map64_at(&groups, (uintptr_t)name);
		if (*known == NONE) {
			*known = (uint32_t)names.n;
			vec_push(&names, ((struct sort_name){ name, *known }));
		}
		group[i] = *known;
	}
	map64_free(&groups);
	*n = names.n;
	return names.at;
}

uint32_t *callgraph_name_ranks(const struct symbols *s)
{
	uint32_t *ret = xrealloc(NULL, s->n, sizeof(*ret)); /* at first the group of each name */
	size_t n;
	struct sort_name *names = distinct_names(s, ret, &n);
	uint32_t *rank_of = xrealloc(NULL, n, sizeof(*rank_of)), rank = 0;

	sort_names(names, n);
	for (size_t i = 0; i < n; i++) {
		rank += i && strcmp(names[i - 1].name, names[i].name) != 0;
		rank_of[names[i].index] = rank;
	}
	for (size_t i = 0; i < s->n; i++)
		ret[i] = rank_of[ret[i]];
	free(rank_of);
	free(names);
	return ret;
}

static void sort_by_ranks(struct sort_key *keys, size_t n, const uint32_t *ranks)
{
	for (size_t i = 0; i < n; i++)
		keys[i].key = ranks[keys[i].index];
	sort_keys(keys, n);
}

static void sort_by_function(const struct callgraph *g, struct sort_key *keys,
			     const uint32_t *ranks)
{
	uint32_t *own = ranks ? NULL : callgraph_name_ranks(g->symbols);
	sort_by_ranks(keys, g->n_symbols, ranks ? ranks : own);
	free(own);
}

/* The class of entries with equal time: cycles come first, then functions, then functions with a
 * leading underscore. */
static uint64_t class_of(const struct callgraph *g, nodeid id)
{
	if (id >= g->n_symbols)
		return 0;
	return g->symbols->at[id].name[0] == '_' ? 2 : 1;
}

/* Sort key for calls: more calls come first; cycles stay in their order. */
static uint64_t calls_key(const struct callgraph *g, nodeid id)
{
	return id < g->n_symbols ? ~g->nodes[id].calls : 0;
}

static uint64_t time_key(const struct callgraph *g, nodeid id)
{
	const struct cg_node *n = &g->nodes[id];
	return ~sort_key_of_double(callgraph_shown_self(n) + n->shown_child);
}

static size_t count_equal(const struct sort_key *keys, size_t n)
{
	size_t equal = 1;
	while (equal < n && keys[equal].key == keys[0].key)
		equal++;
	return equal;
}

static void sort_by_name(const struct callgraph *g, struct sort_key *keys, size_t n)
{
	struct sort_name *names = xrealloc(NULL, n, sizeof(*names));

	for (size_t i = 0; i < n; i++)
		names[i] = (struct sort_name){ g->symbols->at[keys[i].index].name, keys[i].index };
	sort_names(names, n);
	for (size_t i = 0; i < n; i++)
		keys[i].index = names[i].index;
	free(names);
}

/* Sorts entries with equal time and class by calls, then by name. */
static void sort_alike(const struct callgraph *g, struct sort_key *keys, size_t n,
		       const uint32_t *ranks)
{
	for (size_t i = 0; i < n; i++)
		keys[i].key = calls_key(g, keys[i].index);
	sort_keys(keys, n);
	if (g->symbols->opts.lines || keys[0].index >= g->n_symbols)
		return;
	for (size_t i = 0, equal; i < n; i += equal) {
		equal = count_equal(keys + i, n - i);
		if (equal > 1 && ranks)
			sort_by_ranks(keys + i, equal, ranks);
		else if (equal > 1)
			sort_by_name(g, keys + i, equal);
	}
}

/* Sorts entries with equal time. */
static void sort_ties(const struct callgraph *g, struct sort_key *keys, size_t n,
		      const uint32_t *ranks)
{
	for (size_t i = 0; i < n; i++)
		keys[i].key = class_of(g, keys[i].index);
	sort_keys(keys, n);
	for (size_t i = 0, equal; i < n; i += equal) {
		equal = count_equal(keys + i, n - i);
		if (equal > 1)
			sort_alike(g, keys + i, equal, ranks);
	}
}

/* Most entries in a part of a profile have no time: these are set apart before sorting. */
static void sort_by_time(struct sort_key *keys, size_t n)
{
	const uint64_t no_time = ~sort_key_of_double(0);
	struct sort_key *idle = xrealloc(NULL, n, sizeof(*idle));
	size_t n_busy = 0, n_idle = 0;

	for (size_t i = 0; i < n; i++) {
		if (keys[i].key == no_time)
			idle[n_idle++] = keys[i];
		else
			keys[n_busy++] = keys[i];
	}
	sort_keys(keys, n_busy);
	memcpy(keys + n_busy, idle, n_idle * sizeof(*idle));
	free(idle);
}

/* Keys are made in the order of nodes, so that memory is read in order. */
static void sort_entries(const struct callgraph *g, struct sort_key *keys, size_t n,
			 const uint32_t *ranks)
{
	for (nodeid i = 0; i < n; i++)
		keys[i].index = i;
	if (g->symbols->opts.lines)
		sort_by_function(g, keys, ranks);
	for (size_t i = 0; i < n; i++)
		keys[i].key = time_key(g, keys[i].index);
	sort_by_time(keys, n);
	for (size_t i = 0, equal; i < n; i += equal) {
		equal = count_equal(keys + i, n - i);
		if (equal > 1)
			sort_ties(g, keys + i, equal, ranks);
	}
}

static void number_entries(struct callgraph *g, const uint32_t *name_ranks)
{
	size_t n = g->n_symbols + g->n_cycles;
	struct sort_key *keys = xrealloc(NULL, n, sizeof(*keys));

	sort_entries(g, keys, n, name_ranks);
	g->order = xrealloc(NULL, n, sizeof(*g->order));
	for (size_t i = 0; i < n; i++) {
		g->order[i] = keys[i].index;
		g->nodes[keys[i].index].index = (uint32_t)i + 1;
	}
	free(keys);
}

/* ---- order within a cycle ---- */

static int compare_members(const void *l, const void *r, void *arg)
{
	const struct callgraph *g = arg;
	const struct cg_node *left = &g->nodes[*(const symid *)l],
			     *right = &g->nodes[*(const symid *)r];
	double left_time = callgraph_shown_self(left) + left->shown_child;
	double right_time = callgraph_shown_self(right) + right->shown_child;
	uint64_t left_calls = left->calls + left->self_calls,
		 right_calls = right->calls + right->self_calls;

	if (left_time != right_time)
		return left_time > right_time ? -1 : 1;
	return (left_calls < right_calls) - (left_calls > right_calls);
}

/* A stable sort, which qsort_r() need not be: members that tie stay in their order. */
static void sort_members(struct callgraph *g, symid *members, size_t n, symid *scratch)
{
	if (n < 2)
		return;
	size_t half = n / 2, i = 0, j = half, k = 0;
	sort_members(g, members, half, scratch);
	sort_members(g, members + half, n - half, scratch);
	memcpy(scratch, members, n * sizeof(*members));
	while (i < half && j < n)
		members[k++] = compare_members(&scratch[i], &scratch[j], g) <= 0 ? scratch[i++]
										 : scratch[j++];
	while (i < half)
		members[k++] = scratch[i++];
	while (j < n)
		members[k++] = scratch[j++];
}

/* Sorts members in the order of their entries. */
static void sort_by_index(const struct callgraph *g, symid *members, size_t n)
{
	struct sort_key *keys = xrealloc(NULL, n, sizeof(*keys));

	for (size_t i = 0; i < n; i++)
		keys[i] = (struct sort_key){ g->nodes[members[i]].index, members[i] };
	sort_keys(keys, n);
	for (size_t i = 0; i < n; i++)
		members[i] = keys[i].index;
	free(keys);
}

static void sort_cycles(struct callgraph *g, bool as_found)
{
	symid *scratch = xrealloc(NULL, g->n_symbols, sizeof(*scratch));
	for (size_t c = 0; c < g->n_cycles; c++) {
		const struct cg_node *cycle = &g->nodes[g->n_symbols + c];
		symid *members = g->members + cycle->first_out;
		if (!as_found)
			sort_by_index(g, members, cycle->n_members);
		sort_members(g, members, cycle->n_members, scratch);
	}
	free(scratch);
}

/* Frees arcs once they have handed on their time: in a large program they take a third of all
 * memory. */
static void drop_arcs(struct callgraph *g)
{
	free(TAKE(g->arcs));
	free(TAKE(g->seq));
	g->in = NULL;
	g->n_arcs = 0;
	for (size_t i = 0; i < g->n_symbols; i++)
		g->nodes[i].first_out = g->nodes[i].n_out = g->nodes[i].first_in =
			g->nodes[i].n_in = 0;
}

/* ---- time along stacks ---- */

struct graph_to_measure {
	struct callgraph *g;
	const struct callgraph_opts *opts;
	struct stack_paths *stacks;
};

static void find_cycles(void *arg)
{
	struct graph_to_measure *m = arg;
	callgraph_find_cycles(m->g);
}

static void sort_stack_calls(void *arg)
{
	struct graph_to_measure *m = arg;
	callgraph_sort_stack_calls(m->stacks, m->g->n_arcs);
}

static void measure(void *arg)
{
	struct graph_to_measure *m = arg;
	callgraph_measure(m->g, m->opts, m->stacks);
}

static void add_callers(void *arg)
{
	struct graph_to_measure *m = arg;
	if (callgraph_wants_callers(m->opts) && !m->g->in)
		callgraph_add_callers(m->g);
}

/* Finds cycles and measures time along the stacks. */
static void find_and_measure(struct callgraph *g, const struct callgraph_opts *o,
			     struct stack_paths *stacks)
{
	struct graph_to_measure m = { g, o, stacks };
	callgraph_run_both(g->n_arcs, (struct workload){ find_cycles, &m },
			   (struct workload){ sort_stack_calls, &m });
	callgraph_run_both(g->n_arcs, (struct workload){ measure, &m },
			   (struct workload){ add_callers, &m });
}

struct callgraph *callgraph_new(const struct profile *p, struct symbols *s,
				const struct callgraph_opts *opts)
{
	struct callgraph *g = xalloc(sizeof(*g));
	struct stack_paths *stacks = callgraph_paths_new(s, opts);

	g->symbols = s;
	g->n_symbols = s->n;
	g->nodes = xalloc(s->n * sizeof(*g->nodes));
	callgraph_credit_histograms(g, p, opts);
	if (stacks)
		callgraph_credit_samples(g, opts, stacks);
	callgraph_add_arcs(g, p, s, opts, stacks);
	if (opts->break_cycles)
		callgraph_break_cycles(g, opts->max_cycle);
	if (callgraph_has_stacks(stacks)) {
		find_and_measure(g, opts, stacks);
	} else {
		callgraph_find_cycles(g);
		callgraph_propagate(g, opts);
	}
	callgraph_paths_free(stacks);
	if (opts->drops_arcs && !g->measured)
		drop_arcs(g);
	if (!opts->flat_only) {
		number_entries(g, opts->name_ranks);
		sort_cycles(g, callgraph_rules_of(opts)->members_as_found);
	}
	return g;
}

void callgraph_free(struct callgraph *g)
{
	if (!g)
		return;
	free(g->nodes);
	free(g->arcs);
	free(g->seq);
	free(g->in_block);
	free(g->share);
	free(g->part);
	free(g->is_cut);
	free(g->cut);
	free(g->measured);
	free(g->roots);
	free(g->cycles);
	free(g->members);
	free(g->order);
	free(g);
}
