/* report_latency.c - the distribution of the durations of calls. */
#include <stdlib.h>
#include <string.h>

#include "analysis/latencies.h"
#include "base/map64.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "report/reports.h"

enum { COUNT, TOTAL, MEAN, MIN, P50, P90, P99, P999, MAX, PROBES, NAME, FROM, TO, N_COLUMNS };

static const struct kin_column columns[N_COLUMNS] = {
	[COUNT] = { "count", "calls", "calls that ended", KIN_CELL_COUNT },
	[TOTAL] = { "total", "total", "time of all of them together", KIN_CELL_TIME, .si = true },
	[MEAN] = { "mean", "mean", "time of one, on average", KIN_CELL_TIME, .si = true },
	[MIN] = { "min", "min", "the shortest", KIN_CELL_TIME, .hidden = true, .si = true },
	[P50] = { "p50", "p50", "half of them took no longer; of all these, within an eighth",
		  KIN_CELL_TIME, .si = true },
	[P90] = { "p90", "p90", "nine of ten took no longer", KIN_CELL_TIME, .si = true },
	[P99] = { "p99", "p99", "99 of 100 took no longer", KIN_CELL_TIME, .si = true },
	[P999] = { "p999", "p99.9", "999 of 1000 took no longer", KIN_CELL_TIME, .hidden = true,
		   .si = true },
	[MAX] = { "max", "max", "the longest, exactly", KIN_CELL_TIME, .si = true },
	[PROBES] = { "probes", "probes",
		     "what measuring took of each, on average, with all calls below: it is taken "
		     "off. An estimate, and the rest is no better than that",
		     KIN_CELL_TIME, .hidden = true, .si = true },
	[NAME] = { "name", "name", "the function; below it: by whom it was called", KIN_CELL_TEXT,
		   .tree = true, .function = true },
	[FROM] = { "from", "from", "the caller", KIN_CELL_TEXT, .hidden = true, .function = true },
	[TO] = { "to", "to", "the function", KIN_CELL_TEXT, .hidden = true, .function = true },
};

struct latency_calls {  /* calls along one arc, or of one function */
	symid from, to; /* from: NONE: not known, or any caller */
	struct distribution of;
};

struct calls_list {
	VEC(struct latency_calls *) v;
	struct map64 ids; /* MAP64_PAIR(from, to) */
};

static symid find(const struct report_input *in, objid object, uint64_t addr)
{
	symid id = in->program ? program_find(in->program, object, addr)
			       : symbols_find(in->symbols, addr);
	return id == NONE ? NONE : in->symbols->at[id].owner;
}

static struct latency_calls *calls_between(struct calls_list *l, symid from, symid to)
{
	uint32_t *id = map64_at(&l->ids, MAP64_PAIR(from, to));
	if (*id == NONE) {
		struct latency_calls *c = xalloc(sizeof(*c));
		c->from = from;
		c->to = to;
		*id = (uint32_t)l->v.n;
		vec_push(&l->v, c);
	}
	return l->v.at[*id];
}

static void free_list(struct calls_list *l)
{
	for (size_t i = 0; i < l->v.n; i++)
		free(l->v.at[i]);
	vec_free(&l->v);
	map64_free(&l->ids);
}

/* ---- rows ---- */

static int by_total(const void *l, const void *r)
{
	const struct latency_calls *a = *(struct latency_calls *const *)l,
				   *b = *(struct latency_calls *const *)r;
	if (a->of.sum != b->of.sum)
		return a->of.sum > b->of.sum ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return ORDER(a->from, b->from);
}

static void sort(struct calls_list *l)
{
	if (l->v.n)
		qsort(l->v.at, l->v.n, sizeof(struct latency_calls *), by_total);
}

static const char *name_of(const struct report_input *in, const struct report_opts *o, symid id,
			   struct kin_table *t)
{
	return id == NONE ? "<spontaneous>" : report_symbol_name(in, o, id, t);
}

static struct kin_cell *add_row(struct kin_table *t, enum kin_row_kind kind, uint32_t group,
				const struct distribution *d)
{
	struct kin_cell *c =
		table_add_row(t, (struct kin_row){ kind, kind != KIN_ROW_FUNCTION, group, NULL });
	c[COUNT] = cell_count(d->count);
	c[TOTAL] = cell_time((double)d->sum);
	c[MEAN] = cell_time((double)d->sum / (double)d->count);
	c[MIN] = cell_time((double)d->min);
	c[P50] = cell_time(distribution_quantile(d, 0.5));
	c[P90] = cell_time(distribution_quantile(d, 0.9));
	c[P99] = cell_time(distribution_quantile(d, 0.99));
	c[P999] = cell_time(distribution_quantile(d, 0.999));
	c[MAX] = cell_time((double)d->max);
	c[PROBES] = cell_time((double)d->probes / (double)d->count);
	return c;
}

struct latency_job {
	const struct report_input *in;
	const struct report_opts *o;
	struct kin_table *t;
	struct calls_list functions, arcs; /* arcs: sorted by `to` once they are listed */
	struct map64 ids;                  /* of a function in `functions`; scratch */
};

static void gather(struct latency_job *j)
{
	const struct samples *s = &j->in->profile->samples;
	for (size_t i = 0; i < s->n_latencies; i++) {
		const struct latency *l = &s->latencies[i];
		symid from = find(j->in, l->from_object, l->from);
		symid to = find(j->in, l->to_object, l->to);
		if (to == NONE || !l->count)
			continue;
		if (!report_is_subject(j->in, j->o, to) &&
		    (from == NONE || !report_is_subject(j->in, j->o, from)))
			continue;
		distribution_add(&calls_between(&j->arcs, from, to)->of, l);
		distribution_add(&calls_between(&j->functions, NONE, to)->of, l);
	}
	sort(&j->arcs);
	sort(&j->functions);
}

/* Sorts arcs by callee: in the list of all arcs the callers of a function are scattered. */
static int by_callee(const void *l, const void *r)
{
	const struct latency_calls *a = *(struct latency_calls *const *)l,
				   *b = *(struct latency_calls *const *)r;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return by_total(l, r);
}

static size_t first_caller(const struct calls_list *arcs, symid to)
{
	return COUNT_WHILE(arcs->v.n, i, arcs->v.at[i]->to < to);
}

static void list(struct latency_job *j)
{
	const struct calls_list *f = &j->functions;
	double most = f->v.n ? (double)f->v.at[0]->of.sum : 0;

	if (j->arcs.v.n)
		qsort(j->arcs.v.at, j->arcs.v.n, sizeof(struct latency_calls *), by_callee);
	for (uint32_t i = 0; i < f->v.n; i++) {
		const struct latency_calls *function = f->v.at[i];
		if ((double)function->of.sum < j->o->min_share * most)
			continue;
		const char *to = name_of(j->in, j->o, function->to, j->t);
		struct kin_cell *c = add_row(j->t, KIN_ROW_FUNCTION, i, &function->of);
		c[NAME] = c[TO] = cell_text(to);
		for (size_t k = first_caller(&j->arcs, function->to);
		     k < j->arcs.v.n && j->arcs.v.at[k]->to == function->to; k++) {
			const char *from = name_of(j->in, j->o, j->arcs.v.at[k]->from, j->t);
			c = add_row(j->t, KIN_ROW_CALLER, i, &j->arcs.v.at[k]->of);
			c[NAME] = c[FROM] = cell_text(from);
			c[TO] = cell_text(to);
		}
	}
}

/* Notes functions whose time is mostly the cost of measuring. */
static void note_doubts(const struct latency_job *j)
{
	const struct latency_calls *worst = NULL;
	size_t n = 0;

	for (size_t i = 0; i < j->functions.v.n; i++) {
		const struct latency_calls *c = j->functions.v.at[i];
		if (!distribution_is_doubtful(&c->of))
			continue;
		worst = worst ? worst : c; /* the one with the most time comes first */
		n++;
	}
	if (!worst)
		return;
	table_note(j->t,
		   "%zu function%s took less time than measuring did: in %s measuring took %.0f ns "
		   "of each call, and left %.0f ns or less of half of the calls, but no less than "
		   "bare calls take. --columns=+probes shows it",
		   n, n == 1 ? "" : "s", name_of(j->in, j->o, worst->to, j->t),
		   (double)worst->of.probes / (double)worst->of.count,
		   distribution_quantile(&worst->of, 0.5));
}

/* Calls that were counted and have no duration; of one call, as of a main() that ends by exit(),
 * nobody needs to hear. */
static uint64_t unmeasured(const struct latency_job *j, symid id)
{
	const struct cg_node *n = &j->in->graph->nodes[id];
	uint32_t at = map64_get(&j->ids, id);
	uint64_t counted = n->calls + n->self_calls;
	uint64_t measured = at == NONE ? 0 : j->functions.v.at[at]->of.count;
	return counted > measured + 1 && report_is_subject(j->in, j->o, id) ? counted - measured
									    : 0;
}

static void note_unmeasured(struct latency_job *j)
{
	uint64_t calls = 0, most = 0;
	size_t functions = 0;
	symid worst = NONE;
	for (size_t i = 0; i < j->functions.v.n; i++)
		*map64_at(&j->ids, j->functions.v.at[i]->to) = (uint32_t)i;
	for (symid id = 0; id < j->in->graph->n_symbols; id++) {
		uint64_t n = unmeasured(j, id);
		calls += n;
		functions += n > 0;
		worst = n > most ? id : worst;
		most = n > most ? n : most;
	}
	map64_free(&j->ids);
	if (functions)
		table_note(j->t,
			   "%llu calls of %zu function%s have no duration, most of %s: they did "
			   "not return (longjmp(), exceptions, the end of a thread or of the "
			   "program), or were compiled without -finstrument-functions",
			   (unsigned long long)calls, functions, functions == 1 ? "" : "s",
			   name_of(j->in, j->o, worst, j->t));
}

static struct kin_error *latency_run(const struct report_input *in, const struct report_opts *o,
				     struct kin_table **ret)
{
	struct kin_error *err = report_check_subjects(in, o);
	if (err)
		return err;
	struct kin_table *t = table_new("latency", "Time of calls", columns, N_COLUMNS);
	struct latency_job j = { .in = in, .o = o, .t = t };

	table_set_rate(t, 1e9);
	gather(&j);
	list(&j);
	if (in->profile->samples.n_latencies)
		table_note(t, "times are wall-clock times, with callees and without the cost of "
			      "measuring");
	else
		table_note(t, "the data has no durations of calls: kin run --latency measures "
			      "them, in programs compiled with -finstrument-functions");
	note_doubts(&j);
	if (in->profile->samples.n_latencies)
		note_unmeasured(&j);
	report_note_subjects(in, o, t);
	free_list(&j.arcs);
	free_list(&j.functions);
	*ret = t;
	return NULL;
}

const struct report latency_report = {
	.name = "latency",
	.help = "how long calls took, as distributions",
	.run = latency_run,
};
