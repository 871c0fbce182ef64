/* feedback.c - see feedback.h.
 *
 * Exact: for any order of the functions, the arcs that lead backwards are a feedback arc set, and
 * each minimal set comes from some order. The best order of a set of functions is found from the
 * best orders of its subsets with one function less (Held and Karp's way of enumerating orders).
 *
 * Otherwise: an order by P. Eades, X. Lin and W. F. Smyth, "A fast and effective heuristic for the
 * feedback arc set problem", Information Processing Letters 47 (1993). Sinks go to the end and
 * sources to the beginning; if there are neither, the function with the largest excess of callees
 * over callers goes to the beginning. Then arcs that close no cycle with those that stay are taken
 * back, unless there are far too many to test. */
#include "analysis/feedback.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/vec.h"

enum {
	MOST_EXACT = 20,      /* members */
	HALF = 10,            /* half of them */
	MAX_STEPS = 20000000, /* limit for taking arcs back */
};

struct edge {
	uint32_t from, to; /* indices of members */
	arcid arc;
};

struct feedback_problem {
	const struct callgraph *g;
	const symid *members;
	uint32_t n;
	VEC(struct edge) edges; /* by `from` */
	uint32_t *first;        /* [n + 1]: index into edges */
	double total;           /* sum of all counts */
	uint32_t *place;        /* [n]: position of each member in the order found */
};

static uint64_t count_of(const struct feedback_problem *p, const struct edge *e)
{
	return p->g->arcs[e->arc].count;
}

static void begin(struct feedback_problem *p, const struct callgraph *g, uint32_t cycle)
{
	const struct cg_node *c = &g->nodes[g->n_symbols + cycle - 1];
	uint32_t *index = xrealloc(NULL, g->n_symbols, sizeof(*index)); /* of members */

	*p = (struct feedback_problem){ .g = g,
					.members = g->members + c->first_out,
					.n = c->n_members };
	p->first = xalloc((p->n + 1) * sizeof(*p->first));
	p->place = xalloc(p->n * sizeof(*p->place));
	for (uint32_t i = 0; i < p->n; i++)
		index[p->members[i]] = i;
	for (uint32_t i = 0; i < p->n; i++) {
		const struct cg_node *n = &g->nodes[p->members[i]];
		p->first[i] = (uint32_t)p->edges.n;
		for (arcid a = n->first_out; a < n->first_out + n->n_out; a++) {
			symid to = g->arcs[a].to;
			if (g->nodes[to].cycle != cycle || to == p->members[i])
				continue;
			vec_push(&p->edges, ((struct edge){ i, index[to], a }));
			p->total += (double)g->arcs[a].count;
		}
	}
	p->first[p->n] = (uint32_t)p->edges.n;
	free(index);
}

/* ---- the exact order ---- */

/* Whether the member is called from outside the cycle. */
static bool is_entry(const struct feedback_problem *p, uint32_t member)
{
	const struct cg_node *n = &p->g->nodes[p->members[member]];
	uint32_t cycle = n->cycle, inner = 0;

	for (uint32_t k = 0; k < n->n_in; k++)
		inner += p->g->nodes[p->g->arcs[p->g->in[n->first_in + k].arc].from].cycle == cycle;
	return n->outside_calls || inner < n->n_in;
}

/* The cost of the backward calls of each member to a set of members. Each call costs 1, plus a part
 * for the number of times it was made; all these parts together are less than 1. If costs are
 * equal, calls of functions by which the cycle is entered are preferred as backward calls. Costs
 * are looked up by halves of the set. */
static double *make_costs(const struct feedback_problem *p)
{
	double *costs = xalloc((size_t)p->n * 2 * sizeof(*costs) << HALF);

	for (size_t i = 0; i < p->edges.n; i++) {
		const struct edge *e = &p->edges.at[i];
		double cost = 1 + 0.9 * (double)count_of(p, e) / (p->total + 1);
		cost += is_entry(p, e->to) ? 0 : 1e-7;
		double *half = costs + ((size_t)(e->from * 2 + e->to / HALF) << HALF);
		half[1u << e->to % HALF] += cost;
	}
	for (size_t i = 0; i < (size_t)p->n * 2; i++) {
		double *half = costs + (i << HALF);
		for (uint32_t set = 1; set < 1u << HALF; set++)
			if (set & (set - 1))
				half[set] = half[set & (set - 1)] + half[set & -set];
	}
	return costs;
}

static double cost_of(const double *costs, uint32_t member, uint32_t set)
{
	const double *half = costs + ((size_t)member * 2 << HALF);
	return half[set & ((1u << HALF) - 1)] + half[((size_t)1 << HALF) + (set >> HALF)];
}

/* best[set]: cost of the best order of the set's members; last[set]: the last member in that
 * order. */
static void order_exactly(struct feedback_problem *p)
{
	double *costs = make_costs(p);
	size_t n_sets = (size_t)1 << p->n;
	double *best = xrealloc(NULL, n_sets, sizeof(*best));
	uint8_t *last = xalloc(n_sets);

	best[0] = 0;
	for (uint32_t set = 1; set < n_sets; set++) {
		best[set] = -1;
		for (uint32_t left = set; left; left &= left - 1) {
			uint32_t member = (uint32_t)__builtin_ctz(left);
			uint32_t before = set & ~(1u << member);
			double cost = best[before] + cost_of(costs, member, before);
			if (best[set] < 0 || cost < best[set]) {
				best[set] = cost;
				last[set] = (uint8_t)member;
			}
		}
	}
	uint32_t set = (uint32_t)(n_sets - 1);
	for (uint32_t i = p->n; i-- > 0; set &= ~(1u << last[set]))
		p->place[last[set]] = i;
	free(costs);
	free(best);
	free(last);
}

/* ---- by a heuristic ---- */

/* Members that are not placed yet, in lists by excess: number of callees less callers. */
struct feedback_bins {
	uint32_t *next, *previous; /* [n]: links within a list; NONE: the end */
	uint32_t *head;            /* [2 * most + 1] */
	int32_t *excess;           /* [n]: callees less callers, among members not yet placed */
	uint32_t *n_out, *n_in;    /* [n] */
	bool *is_placed;
	int32_t most, high; /* high: all lists above it are empty */
};

enum { SINKS = 0, SOURCES = 1, OTHERS = 2 }; /* sinks and sources have separate lists */

static uint32_t list_of(const struct feedback_bins *b, uint32_t i)
{
	if (!b->n_out[i])
		return SINKS;
	return !b->n_in[i] ? SOURCES : OTHERS + (uint32_t)(b->excess[i] + b->most);
}

static void put(struct feedback_bins *b, uint32_t i)
{
	uint32_t list = list_of(b, i), first = b->head[list];
	b->next[i] = first;
	b->previous[i] = NONE;
	if (first != NONE)
		b->previous[first] = i;
	b->head[list] = i;
	if (b->excess[i] > b->high)
		b->high = b->excess[i];
}

static void take(struct feedback_bins *b, uint32_t i)
{
	if (b->next[i] != NONE)
		b->previous[b->next[i]] = b->previous[i];
	if (b->previous[i] != NONE)
		b->next[b->previous[i]] = b->next[i];
	else
		b->head[list_of(b, i)] = b->next[i];
}

static uint32_t choose(struct feedback_bins *b)
{
	if (b->head[SINKS] != NONE)
		return b->head[SINKS];
	if (b->head[SOURCES] != NONE)
		return b->head[SOURCES];
	while (b->head[OTHERS + b->high + b->most] == NONE)
		b->high--;
	return b->head[OTHERS + b->high + b->most];
}

static void forget_call(struct feedback_bins *b, uint32_t from, uint32_t to, uint32_t placed)
{
	uint32_t other = placed == from ? to : from;
	if (b->is_placed[other])
		return;
	take(b, other);
	if (other == to) {
		b->n_in[to]--;
		b->excess[to]++;
	} else {
		b->n_out[from]--;
		b->excess[from]--;
	}
	put(b, other);
}

static void count_calls(const struct feedback_problem *p, struct feedback_bins *b)
{
	for (size_t i = 0; i < p->edges.n; i++) {
		b->n_out[p->edges.at[i].from]++;
		b->n_in[p->edges.at[i].to]++;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		b->excess[i] = (int32_t)b->n_out[i] - (int32_t)b->n_in[i];
		int32_t most = (int32_t)(b->n_out[i] > b->n_in[i] ? b->n_out[i] : b->n_in[i]);
		b->most = most > b->most ? most : b->most;
	}
}

/* into[first_in[i] ..]: the edges to member i. */
static void list_callers(const struct feedback_problem *p, uint32_t *first_in, uint32_t *into)
{
	for (size_t i = 0; i < p->edges.n; i++)
		first_in[p->edges.at[i].to + 1]++;
	for (uint32_t i = 0; i < p->n; i++)
		first_in[i + 1] += first_in[i];
	uint32_t *at = xrealloc(NULL, p->n, sizeof(*at));
	memcpy(at, first_in, p->n * sizeof(*at));
	for (size_t i = 0; i < p->edges.n; i++)
		into[at[p->edges.at[i].to]++] = (uint32_t)i;
	free(at);
}

static void order_roughly(struct feedback_problem *p)
{
	struct feedback_bins b = { 0 };
	uint32_t *first_in = xalloc((p->n + 1) * sizeof(*first_in));
	uint32_t *into = xrealloc(NULL, p->edges.n, sizeof(*into));
	uint32_t low = 0, high = p->n;

	b.next = xalloc(p->n * sizeof(*b.next));
	b.previous = xalloc(p->n * sizeof(*b.previous));
	b.excess = xalloc(p->n * sizeof(*b.excess));
	b.n_out = xalloc(p->n * sizeof(*b.n_out));
	b.n_in = xalloc(p->n * sizeof(*b.n_in));
	b.is_placed = xalloc(p->n * sizeof(*b.is_placed));
	count_calls(p, &b);
	size_t n_lists = OTHERS + 2 * (size_t)b.most + 1;
	b.head = xrealloc(NULL, n_lists, sizeof(*b.head));
	memset(b.head, 0xff, n_lists * sizeof(*b.head));
	b.high = -b.most;
	list_callers(p, first_in, into);

	for (uint32_t i = p->n; i-- > 0;)
		put(&b, i);
	while (low < high) {
		uint32_t i = choose(&b);
		bool is_sink = !b.n_out[i];
		take(&b, i);
		b.is_placed[i] = true;
		p->place[i] = is_sink ? --high : low++;
		for (uint32_t k = p->first[i]; k < p->first[i + 1]; k++)
			forget_call(&b, i, p->edges.at[k].to, i);
		for (uint32_t k = first_in[i]; k < first_in[i + 1]; k++)
			forget_call(&b, p->edges.at[into[k]].from, i, i);
	}
	free(b.next);
	free(b.previous);
	free(b.head);
	free(b.excess);
	free(b.n_out);
	free(b.n_in);
	free(b.is_placed);
	free(first_in);
	free(into);
}

/* ---- choice of the cut ---- */

struct feedback_search { /* a search whether one member is reached from another */
	const struct feedback_problem *p;
	const bool *is_cut; /* [edges] */
	uint32_t *seen;     /* [n]: the last search that saw the member */
	uint32_t number;
	VEC(uint32_t) todo;
	size_t steps;
};

static bool reaches(struct feedback_search *s, uint32_t from, uint32_t to)
{
	s->number++;
	s->todo.n = 0;
	vec_push(&s->todo, from);
	s->seen[from] = s->number;
	while (s->todo.n) {
		uint32_t i = s->todo.at[--s->todo.n];
		for (uint32_t k = s->p->first[i]; k < s->p->first[i + 1]; k++) {
			uint32_t next = s->p->edges.at[k].to;
			s->steps++;
			if (s->is_cut[k] || s->seen[next] == s->number)
				continue;
			if (next == to)
				return true;
			s->seen[next] = s->number;
			vec_push(&s->todo, next);
		}
	}
	return false;
}

static int by_count(const void *l, const void *r, void *arg)
{
	const struct feedback_problem *p = arg;
	uint32_t a = *(const uint32_t *)l, b = *(const uint32_t *)r;
	uint64_t x = count_of(p, &p->edges.at[a]), y = count_of(p, &p->edges.at[b]);
	if (x != y)
		return x < y ? -1 : 1;
	return ORDER(a, b);
}

/* Whether to go on. In a cycle with far too many arcs this stops soon. */
static bool is_worth_it(const struct feedback_search *s, size_t done, size_t n)
{
	const double start = 0.1; /* this first part of the steps tells nothing about the pace */
	double used = (double)s->steps / MAX_STEPS;
	return used < start || (used < 1 && used < start + (double)done / (double)n);
}

/* Takes back arcs that may stay, those with the most calls first. */
static void take_back(const struct feedback_problem *p, bool *is_cut, const uint32_t *cut, size_t n)
{
	struct feedback_search s = { .p = p, .is_cut = is_cut };

	s.seen = xalloc(p->n * sizeof(*s.seen));
	for (size_t i = n; i-- > 0 && is_worth_it(&s, n - 1 - i, n);) {
		const struct edge *e = &p->edges.at[cut[i]];
		is_cut[cut[i]] = reaches(&s, e->to, e->from);
	}
	vec_free(&s.todo);
	free(s.seen);
}

struct feedback feedback_of(const struct callgraph *g, uint32_t cycle)
{
	struct feedback_problem p;
	struct feedback f = { 0 };
	VEC(uint32_t) cut = { 0 };

	begin(&p, g, cycle);
	bool is_small = p.n <= MOST_EXACT;
	if (is_small)
		order_exactly(&p);
	else
		order_roughly(&p);
	bool *is_cut = xalloc(p.edges.n * sizeof(*is_cut) + 1);
	for (uint32_t i = 0; i < p.edges.n; i++) {
		is_cut[i] = p.place[p.edges.at[i].from] > p.place[p.edges.at[i].to];
		if (is_cut[i])
			vec_push(&cut, i);
	}
	if (cut.n)
		qsort_r(cut.at, cut.n, sizeof(*cut.at), by_count, &p);
	if (!is_small)
		take_back(&p, is_cut, cut.at, cut.n);
	f.arcs = xrealloc(NULL, cut.n, sizeof(*f.arcs));
	for (size_t i = 0; i < cut.n; i++)
		if (is_cut[cut.at[i]])
			f.arcs[f.n++] = p.edges.at[cut.at[i]].arc;
	f.exact = is_small || f.n == 1;
	vec_free(&cut);
	vec_free(&p.edges);
	free(is_cut);
	free(p.first);
	free(p.place);
	return f;
}
