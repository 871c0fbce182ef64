/* rank_spreads.c - sums over the tree of paths for one rank after the other, and sums of all ranks.
 *
 * Time on stacks at or below an MPI function is spent on behalf of MPI; the rest is the rank's
 * work. A rank waits for others in MPI, be it asleep or busy. */
#include "analysis/rank_spreads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map64.h"
#include "paths/path_tree.h"

bool rank_spreads_is_mpi(const char *name)
{
	const char *at = name + (*name == 'P' || *name == 'p');
	size_t n = strcspn(at, "@"); /* without a version */
	if (!strncmp(at, "MPI_", 4))
		return at == name || *name == 'P';
	return !strncmp(at, "mpi_", 4) && n > 5 && at[n - 1] == '_' && (at == name || *name == 'p');
}

struct met_rank_arc { /* a caller and a callee */
	symid from, to;
	uint32_t n; /* how often the arc is on the path */
	double time;
};

struct part_of_rank { /* a range in a list that is grouped by rank */
	uint32_t first, n;
};

struct of_rank {
	uint32_t rank;
	struct part_of_rank samples, calls;
};

struct spread_measuring {
	const struct profile *p;
	struct program *g;
	struct symbols *symbols;
	struct path_tree *tree;
	bool *is_mpi;       /* [symbols] */
	uint32_t *group_of; /* [symbols]: the symbol itself, for path_times() */
	struct map64 arc_ids;
	VEC(struct met_rank_arc) arcs;
	uint32_t *arc_of; /* [nodes]: arc of the node; NONE: it is below the root */
	/* For the sums of one rank and one event: */
	struct spread_set *set;
	uint32_t rank;
	strid event;
	enum event_unit unit;
	const struct path_weights *weights;
};

/* ---- kinds of functions ---- */

static symid function_of(const struct symbols *s, symid place)
{
	while (place != NONE && !s->at[place].is_function && s->at[place].is_line)
		place--;
	return place == NONE ? NONE : s->at[place].owner;
}

static struct path_tree *make_tree(struct spread_measuring *m)
{
	const struct samples *s = &m->p->samples;
	symid *places = xrealloc(NULL, s->n_frames + 1, sizeof(*places));
	places[0] = NONE;
	for (size_t i = 1; i < s->n_frames; i++)
		places[i] = function_of(m->symbols, program_place(m->g, (frameid)i));
	struct path_frames frames = path_frames_of_functions(m->g, s, places, program_folds(m->g));
	struct path_tree *tree = path_tree_new(s, &frames, NULL);
	path_frames_free(&frames);
	free(places);
	return tree;
}

static struct spread_function describe(const struct spread_measuring *m, symid id)
{
	bool symbol = program_kind(m->g, id) == PLACE_SYMBOL;
	return (struct spread_function){
		.name = spread_set_string(m->set, m->symbols->at[id].name),
		.object = program_object(m->g, id),
		.addr = symbol ? program_start(m->g, id) : 0,
		.inlined = program_is_inlined(m->g, id),
	};
}

/* ---- one rank ---- */

/* Rounds to the nearest; values that do not fit become the largest. llround() would make gprof load
 * libm. */
static uint64_t whole(double value)
{
	if (value >= 0x1p64)
		return UINT64_MAX;
	uint64_t n = (uint64_t)value;
	return n + (value - (double)n >= 0.5);
}

/* Adds a row. Times are sums of whole numbers, which are exact as doubles up to 2^53. */
static void put(struct spread_measuring *m, enum spread_kind kind, symid from, symid to,
		double value)
{
	if (value < 0.5)
		return;
	struct spread_row row = { .kind = kind, .unit = m->unit, .event = m->event };
	if (from != NONE)
		row.from = describe(m, from);
	if (to != NONE)
		row.to = describe(m, to);
	row.of = spread_of(m->rank, whole(value));
	spread_set_add(m->set, &row);
}

/* Adds rows for own times: all of them, and those outside MPI. Returns the sum of the latter. */
static double put_own(struct spread_measuring *m)
{
	const struct path_tree *t = m->tree;
	double *own = xalloc((m->symbols->n + 1) * sizeof(*own));
	double *work = xalloc((m->symbols->n + 1) * sizeof(*work));
	bool *below_mpi = xalloc(t->n);
	double sum = m->weights->own[0].sum;
	for (size_t i = 1; i < t->n; i++) {
		symid place = t->nodes[i].place;
		below_mpi[i] = below_mpi[t->nodes[i].caller] || m->is_mpi[place];
		own[place] += m->weights->own[i].sum;
		if (!below_mpi[i]) {
			work[place] += m->weights->own[i].sum;
			sum += m->weights->own[i].sum;
		}
	}
	for (symid i = 0; i < m->symbols->n; i++) {
		put(m, SPREAD_SELF, NONE, i, own[i]);
		put(m, SPREAD_OWN_WORK, NONE, i, work[i]);
	}
	free(below_mpi);
	free(work);
	free(own);
	return sum;
}

static void put_inclusive(struct spread_measuring *m)
{
	double *times = path_times(m->tree, m->weights, m->group_of, m->symbols->n);
	for (symid i = 0; i < m->symbols->n; i++)
		put(m, SPREAD_INCLUSIVE, NONE, i, times[i]);
	free(times);
}

/* A call counts at its outermost node on the path. */
static void enter(pathid node, void *arg)
{
	struct spread_measuring *m = arg;
	uint32_t id = m->arc_of[node];
	if (id != NONE && !m->arcs.at[id].n++)
		m->arcs.at[id].time += m->weights->below[node].sum;
}

static void leave(pathid node, void *arg)
{
	struct spread_measuring *m = arg;
	if (m->arc_of[node] != NONE)
		m->arcs.at[m->arc_of[node]].n--;
}

static void put_arcs(struct spread_measuring *m)
{
	for (size_t i = 0; i < m->arcs.n; i++)
		m->arcs.at[i].time = 0;
	path_tree_visit(m->tree, &(struct path_visitor){ enter, leave, m });
	for (size_t i = 0; i < m->arcs.n; i++)
		put(m, SPREAD_ARC, m->arcs.at[i].from, m->arcs.at[i].to, m->arcs.at[i].time);
}

static void find_arcs(struct spread_measuring *m)
{
	const struct path_node *nodes = m->tree->nodes;
	m->arc_of = xalloc(m->tree->n * sizeof(*m->arc_of));
	m->arc_of[0] = NONE;
	for (size_t i = 1; i < m->tree->n; i++) {
		m->arc_of[i] = NONE;
		if (!nodes[i].caller)
			continue;
		struct met_rank_arc arc = { .from = nodes[nodes[i].caller].place,
					    .to = nodes[i].place };
		uint32_t *id = map64_at(&m->arc_ids, MAP64_PAIR(arc.from, arc.to));
		if (*id == NONE) {
			*id = (uint32_t)m->arcs.n;
			vec_push(&m->arcs, arc);
		}
		m->arc_of[i] = *id;
	}
}

static void measure_event(struct spread_measuring *m, const struct samples *some, uint16_t event)
{
	const struct event *e = &some->events[event];
	struct path_weights w = path_weights_of(m->tree, some, event);
	m->weights = &w;
	m->event = spread_set_string(m->set, strtab_get(m->p->strings, e->name));
	m->unit = e->unit;
	put(m, SPREAD_ALL, NONE, NONE, w.below[0].sum);
	double work = put_own(m);
	put(m, SPREAD_WORK, NONE, NONE, work);
	put(m, SPREAD_MPI, NONE, NONE, w.below[0].sum - work);
	put_inclusive(m);
	put_arcs(m);
	path_weights_free(&w);
}

static symid place_of(const struct spread_measuring *m, objid object, uint64_t addr)
{
	symid id = program_find(m->g, object, addr);
	return id == NONE ? NONE : function_of(m->symbols, id);
}

static void measure_calls(struct spread_measuring *m, const struct task_arc *calls, size_t n)
{
	m->event = 0;
	m->unit = EVENT_COUNT;
	for (size_t i = 0; i < n; i++) {
		const struct task_arc *a = &calls[i];
		symid from = place_of(m, a->from_object, a->from);
		symid to = place_of(m, a->to_object, a->to);
		if (to == NONE)
			continue;
		put(m, SPREAD_CALLS, NONE, to, (double)a->count);
		if (from != NONE)
			put(m, SPREAD_ARC_CALLS, from, to, (double)a->count);
	}
}

/* ---- all ranks ---- */

struct ranked { /* data of all ranks, grouped by rank */
	VEC(struct of_rank) ranks;
	struct map64 ids; /* rank + 1: index in ranks */
	struct sample *samples;
	struct task_arc *calls;
};

/* NULL: the task has no rank, or its rank is left out. */
static struct of_rank *rank_of_task(const struct ranked *r, const struct samples *s, taskid task)
{
	uint32_t rank = s->tasks[task].rank, id = rank ? map64_get(&r->ids, rank) : NONE;
	return id == NONE ? NULL : &r->ranks.at[id];
}

/* Turns a number of items into the start of their range; items are counted again as they are put
 * there. Returns the start of the next range. */
static uint32_t begin_part(struct part_of_rank *part, uint32_t first)
{
	uint32_t n = part->n;
	*part = (struct part_of_rank){ .first = first };
	return first + n;
}

static void sort_samples(struct ranked *r, const struct samples *s)
{
	uint32_t n = 0;
	struct of_rank *of;
	for (size_t i = 0; i < s->n; i++)
		if ((of = rank_of_task(r, s, s->at[i].task)))
			of->samples.n++;
	for (size_t i = 0; i < r->ranks.n; i++)
		n = begin_part(&r->ranks.at[i].samples, n);
	r->samples = xrealloc(NULL, (size_t)n + 1, sizeof(*r->samples));
	for (size_t i = 0; i < s->n; i++)
		if ((of = rank_of_task(r, s, s->at[i].task)))
			r->samples[of->samples.first + of->samples.n++] = s->at[i];
}

static void sort_calls(struct ranked *r, const struct samples *s)
{
	uint32_t n = 0;
	struct of_rank *of;
	for (size_t i = 0; i < s->n_task_arcs; i++)
		if ((of = rank_of_task(r, s, s->task_arcs[i].task)))
			of->calls.n++;
	for (size_t i = 0; i < r->ranks.n; i++)
		n = begin_part(&r->ranks.at[i].calls, n);
	r->calls = xrealloc(NULL, (size_t)n + 1, sizeof(*r->calls));
	for (size_t i = 0; i < s->n_task_arcs; i++)
		if ((of = rank_of_task(r, s, s->task_arcs[i].task)))
			r->calls[of->calls.first + of->calls.n++] = s->task_arcs[i];
}

/* Ranks without samples are included: they did nothing, which counts as 0. */
static struct ranked sort_by_rank(const struct profile *p)
{
	struct ranked r = { 0 };
	for (size_t i = 0; i < p->n_ranks; i++) {
		if (p->ranks[i].left_out)
			continue;
		*map64_at(&r.ids, p->ranks[i].rank + 1) = (uint32_t)r.ranks.n;
		vec_push(&r.ranks, ((struct of_rank){ .rank = p->ranks[i].rank }));
	}
	sort_samples(&r, &p->samples);
	sort_calls(&r, &p->samples);
	return r;
}

static void ranked_done(struct ranked *r)
{
	vec_free(&r->ranks);
	map64_free(&r->ids);
	free(r->samples);
	free(r->calls);
}

static void prepare(struct spread_measuring *m)
{
	size_t n = m->symbols->n;
	m->tree = make_tree(m);
	m->is_mpi = xalloc(n + 1);
	m->group_of = xalloc((n + 1) * sizeof(*m->group_of));
	for (symid i = 0; i < n; i++) {
		m->is_mpi[i] = rank_spreads_is_mpi(m->symbols->at[i].name);
		m->group_of[i] = i;
	}
	find_arcs(m);
}

static void release(struct spread_measuring *m)
{
	free(m->is_mpi);
	free(m->group_of);
	free(m->arc_of);
	map64_free(&m->arc_ids);
	vec_free(&m->arcs);
	path_tree_free(m->tree);
}

static void measure_rank(struct spread_measuring *m, const struct ranked *all,
			 const struct of_rank *r)
{
	struct samples some = m->p->samples;
	some.at = all->samples + r->samples.first;
	some.n = r->samples.n;
	m->rank = r->rank;
	m->set = spread_set_new();
	spread_set_add_ranks(m->set, (struct rank_range){ r->rank, r->rank });
	for (size_t i = 0; i < some.n_events; i++)
		measure_event(m, &some, (uint16_t)i);
	measure_calls(m, all->calls + r->calls.first, r->calls.n);
}

struct kin_error *rank_spreads_twice(uint32_t rank)
{
	return err_new(KIN_ERROR_MISMATCH,
		       "rank %u is in several files, and one of them is a sum over ranks: leave "
		       "one out, or name the ranks' own recordings, all of one job",
		       rank);
}

struct spread_set *rank_spreads_new(const struct profile *p, struct program *g)
{
	struct spread_set *all = spread_set_new();
	struct spread_measuring m = { .p = p, .g = g, .symbols = program_symbols(g) };
	struct ranked r = sort_by_rank(p);
	if (p->spreads)
		spread_set_join(all, p->spreads, NULL);
	if (r.ranks.n)
		prepare(&m);
	for (size_t i = 0; i < r.ranks.n; i++) {
		measure_rank(&m, &r, &r.ranks.at[i]);
		spread_set_join(all, m.set, NULL);
		spread_set_free(m.set);
	}
	release(&m);
	ranked_done(&r);
	return all;
}
