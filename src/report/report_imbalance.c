/* report_imbalance.c - where ranks of a parallel job wait for each other: which rank has more work
 * than the others, in which functions, and in which MPI calls the others wait. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/rank_spreads.h"
#include "base/err.h"
#include "paths/path_tree.h"
#include "report/reports.h"
#include "symbolize/inlined_into.h"

enum {
	WHAT,
	COST,
	MAX,
	MAX_RANK,
	MEAN,
	MIN,
	MIN_RANK,
	DEVIATION,
	RANKS,
	SUM,
	NAME,
	FROM,
	OBJECT,
	N_COLUMNS
};

enum { MOST = 10 }; /* rows of each kind, unless all are requested */

/* No cause is given for a rank that is slower than average by less than this share. */
#define SLOW 0.01

static const struct kin_column columns[N_COLUMNS] = {
	[WHAT] = { "what", "what",
		   "rank: of ranks as a whole; work: own time of a function outside of calls of "
		   "MPI; MPI: time in a call of MPI; with --all also self, inclusive, calls, and "
		   "the same of each caller and callee: arc, arc calls",
		   KIN_CELL_TEXT },
	[COST] = { "cost", "cost",
		   "of work: what the others can wait for that rank in all, if it holds them all "
		   "up: ranks x max - sum; of MPI: time above that of the rank that is there "
		   "least: sum - ranks x min",
		   KIN_CELL_TIME },
	[MAX] = { "max", "most", "of the rank that has most", KIN_CELL_TIME },
	[MAX_RANK] = { "max_rank", "rank", "which one; the lowest, of several", KIN_CELL_COUNT },
	[MEAN] = { "mean", "mean", "over all ranks", KIN_CELL_TIME },
	[MIN] = { "min", "least", "of the rank that has least", KIN_CELL_TIME },
	[MIN_RANK] = { "min_rank", "rank", "which one; the lowest, of several", KIN_CELL_COUNT },
	[DEVIATION] = { "deviation", "deviation", "standard deviation over ranks", KIN_CELL_TIME },
	[RANKS] = { "ranks", "ranks", "how many have more than 0", KIN_CELL_COUNT, .hidden = true },
	[SUM] = { "sum", "sum", "over all ranks", KIN_CELL_TIME, .hidden = true },
	[NAME] = { "name", "name", "the function; of a call of MPI: that, and who makes it",
		   KIN_CELL_TEXT, .function = true },
	[FROM] = { "from", "from", "the caller", KIN_CELL_TEXT, .hidden = true, .function = true },
	[OBJECT] = { "object", "object", "the program or library of the function", KIN_CELL_TEXT,
		     .hidden = true },
};

struct imbalance_job {
	const struct report_input *in;
	const struct report_opts *o;
	struct kin_table *t;
	const struct spread_set *set;
	uint64_t n; /* number of ranks */
	strid event;
	enum event_unit unit;
	bool *is_mpi;     /* [strings of the set]: it is the name of an MPI function */
	bool *is_subject; /* [strings of the set]: it is the name of a subject */
};

/* ---- kinds of rows ---- */

static bool is_calls(const struct spread_row *r)
{
	return r->kind == SPREAD_CALLS || r->kind == SPREAD_ARC_CALLS;
}

static bool is_of_event(const struct imbalance_job *j, const struct spread_row *r)
{
	return is_calls(r) || (r->event == j->event && r->unit == (uint32_t)j->unit);
}

/* Whether a row is a call from the program's own code into MPI. Time waiting there is on behalf of
 * the caller. */
static bool is_call_of_mpi(const struct imbalance_job *j, const struct spread_row *r)
{
	return r->kind == SPREAD_ARC && j->is_mpi[r->to.name] && !j->is_mpi[r->from.name];
}

static double cost(const struct imbalance_job *j, const struct spread_row *r)
{
	double sum = (double)r->of.sum, n = (double)j->n;
	if (is_call_of_mpi(j, r) || r->kind == SPREAD_MPI)
		return sum - n * (double)r->of.min;
	return n * (double)r->of.max - sum;
}

static const struct spread_row *of_ranks(const struct imbalance_job *j, enum spread_kind kind)
{
	for (size_t i = 0; i < j->set->rows.n; i++)
		if (j->set->rows.at[i].kind == kind && is_of_event(j, &j->set->rows.at[i]))
			return &j->set->rows.at[i];
	return NULL;
}

/* ---- rows ---- */

static const char *name_of(const struct imbalance_job *j, const struct spread_function *f)
{
	const char *raw = strtab_get(j->set->strings, f->name);
	char *readable = j->in->symbols ? symbols_readable(j->in->symbols, raw, f->addr) : NULL;
	char *all = xprintf("%s%s", readable ? readable : raw, f->inlined ? REPORT_INLINED : "");
	const char *text = table_text(j->t, *all ? all : "[unknown]");
	free(all);
	free(readable);
	return text;
}

static struct kin_cell amount(const struct imbalance_job *j, const struct spread_row *r, double v)
{
	(void)j;
	return is_calls(r) ? cell_number(v) : cell_time(v);
}

static void add_row(struct imbalance_job *j, const char *what, const struct spread_row *r)
{
	const struct spread *s = &r->of;
	struct kin_cell *c = table_add_row(j->t, (struct kin_row){ .kind = KIN_ROW_PLAIN });
	c[WHAT] = cell_text(what);
	c[COST] = amount(j, r, cost(j, r));
	c[MAX] = amount(j, r, (double)s->max);
	c[MAX_RANK] = cell_count(s->max_rank);
	c[MEAN] = amount(j, r, spread_mean(s, j->n));
	c[MIN] = amount(j, r, (double)s->min);
	c[MIN_RANK] = cell_count(s->min_rank);
	c[DEVIATION] = amount(j, r, spread_deviation(s, j->n));
	c[RANKS] = cell_count(s->n);
	c[SUM] = amount(j, r, (double)s->sum);
	switch ((enum spread_kind)r->kind) {
	case SPREAD_ALL:
		c[NAME] = cell_text(j->unit == EVENT_NS ? "all time" : "all events");
		return;
	case SPREAD_WORK:
		c[NAME] = cell_text("outside of MPI");
		return;
	case SPREAD_MPI:
		c[NAME] = cell_text("in MPI");
		return;
	case SPREAD_SELF:
	case SPREAD_OWN_WORK:
	case SPREAD_INCLUSIVE:
	case SPREAD_CALLS:
		c[NAME] = cell_text(name_of(j, &r->to));
		break;
	case SPREAD_ARC:
	case SPREAD_ARC_CALLS: {
		const char *from = name_of(j, &r->from), *to = name_of(j, &r->to);
		char *both = xprintf("%s -> %s", from, to);
		c[FROM] = cell_text(from);
		c[NAME] = cell_text(table_text(j->t, both));
		free(both);
		break;
	}
	case N_SPREAD_KINDS:
		return;
	}
	const char *path = j->in->program ? program_object_name(j->in->program, r->to.object) : "";
	c[OBJECT] = cell_text(table_text(j->t, base_name(path)));
}

struct ordered {
	const struct spread_row *row;
	double cost;
};

static int by_name(const struct imbalance_job *j, const struct spread_function *x,
		   const struct spread_function *y)
{
	return strcmp(strtab_get(j->set->strings, x->name), strtab_get(j->set->strings, y->name));
}

/* By cost, then by names: object ids may be in another order in the files than in their sum. */
static int by_cost(const void *a, const void *b, void *job)
{
	const struct ordered *x = a, *y = b;
	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	int order = by_name(job, &x->row->to, &y->row->to);
	if (!order)
		order = by_name(job, &x->row->from, &y->row->from);
	if (order)
		return order;
	return x->row < y->row ? -1 : x->row > y->row;
}

static bool is_subject(const struct imbalance_job *j, const struct spread_row *r)
{
	return !j->o->subjects || !j->o->subjects[0] || j->is_subject[r->to.name] ||
	       j->is_subject[r->from.name];
}

static bool is_wanted(const struct imbalance_job *j, const struct spread_row *r,
		      enum spread_kind kind, bool mpi)
{
	return r->kind == (uint32_t)kind && is_of_event(j, r) && is_subject(j, r) &&
	       (!mpi || is_call_of_mpi(j, r));
}

/* Adds the most costly rows of a kind. Returns the number of rows left out. `mpi`: only calls into
 * MPI. */
static size_t add_rows(struct imbalance_job *j, const char *what, enum spread_kind kind, bool mpi,
		       size_t most)
{
	struct ordered *rows = xalloc((j->set->rows.n + 1) * sizeof(*rows));
	const struct spread_row *all = of_ranks(j, SPREAD_ALL);
	double least = all ? j->o->min_share * (double)all->of.sum : 0;
	size_t n = 0;
	for (size_t i = 0; i < j->set->rows.n; i++) {
		const struct spread_row *r = &j->set->rows.at[i];
		if (!is_wanted(j, r, kind, mpi))
			continue;
		rows[n].row = r;
		rows[n++].cost = cost(j, r);
	}
	qsort_r(rows, n, sizeof(*rows), by_cost, j);
	size_t shown = 0;
	for (; shown < n && shown < most; shown++) {
		if (rows[shown].cost < least && !is_calls(rows[shown].row))
			break;
		add_row(j, what, rows[shown].row);
	}
	free(rows);
	return n - shown;
}

static void add_all(struct imbalance_job *j)
{
	static const struct {
		const char *what;
		enum spread_kind kind;
		bool mpi, usual;
	} parts[] = {
		{ "rank", SPREAD_ALL, false, true },
		{ "rank", SPREAD_WORK, false, true },
		{ "rank", SPREAD_MPI, false, true },
		{ "work", SPREAD_OWN_WORK, false, true },
		{ "MPI", SPREAD_ARC, true, true },
		{ "self", SPREAD_SELF, false, false },
		{ "inclusive", SPREAD_INCLUSIVE, false, false },
		{ "calls", SPREAD_CALLS, false, false },
		{ "arc", SPREAD_ARC, false, false },
		{ "arc calls", SPREAD_ARC_CALLS, false, false },
	};
	size_t hidden = 0;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (parts[i].usual || j->o->every_row)
			hidden += add_rows(j, parts[i].what, parts[i].kind, parts[i].mpi,
					   j->o->every_row ? SIZE_MAX : MOST);
	if (hidden)
		table_note(j->t, "%zu %s not shown: --all", hidden,
			   hidden == 1 ? "function or call that costs less is"
				       : "functions and calls that cost less are");
}

/* ---- summary ---- */

static double seconds(const struct imbalance_job *j, double v)
{
	return j->unit == EVENT_NS ? v / 1e9 : v;
}

static int decimals(const struct imbalance_job *j) { return j->unit == EVENT_NS ? 3 : 1; }

/* Finds the function in which the slow rank exceeds the mean over ranks the most; NULL: no known
 * function has at least half of `all`, the rank's total excess. The value of the slow rank is known
 * only in functions where it is the maximum. */
static const struct spread_row *find_cause(const struct imbalance_job *j, uint32_t slow, double all)
{
	const struct spread_row *cause = NULL;
	double most = all / 2;
	for (size_t i = 0; i < j->set->rows.n; i++) {
		const struct spread_row *r = &j->set->rows.at[i];
		if (r->kind != SPREAD_OWN_WORK || !is_of_event(j, r) || r->of.max_rank != slow)
			continue;
		double more = (double)r->of.max - spread_mean(&r->of, j->n);
		if (more > most) {
			most = more;
			cause = r;
		}
	}
	return cause;
}

static void note_slow(struct imbalance_job *j)
{
	const struct spread_row *work = of_ranks(j, SPREAD_WORK), *mpi = of_ranks(j, SPREAD_MPI);
	const char *unit = j->unit == EVENT_NS ? "s" : "events";
	int digits = decimals(j);
	if (!work || j->n < 2)
		return;
	double mean = spread_mean(&work->of, j->n), more = (double)work->of.max - mean;
	table_property(j->t, "slow_rank", cell_count(work->of.max_rank));
	table_note(j->t,
		   "rank %" PRIu32
		   " has most to do outside of MPI: %.*f %s, the mean is %.*f; with "
		   "equal work on all ranks the slowest would have %.1f %% less",
		   work->of.max_rank, digits, seconds(j, (double)work->of.max), unit, digits,
		   seconds(j, mean), 100 * more / (double)work->of.max);
	bool is_slow = more >= SLOW * (double)work->of.max;
	const struct spread_row *cause = is_slow ? find_cause(j, work->of.max_rank, more) : NULL;
	if (cause) {
		double excess = (double)cause->of.max - spread_mean(&cause->of, j->n);
		table_property(j->t, "cause", cell_text(name_of(j, &cause->to)));
		table_note(j->t,
			   "most of that is %s: %.*f %s on rank %" PRIu32
			   ", %.*f on average, %.0f %% "
			   "of the difference",
			   name_of(j, &cause->to), digits, seconds(j, (double)cause->of.max), unit,
			   cause->of.max_rank, digits, seconds(j, spread_mean(&cause->of, j->n)),
			   100 * excess / more);
	}
	if (mpi)
		table_note(j->t,
			   "in MPI ranks %s %.*f %s on average: least on rank %" PRIu32
			   " (%.*f), most on rank %" PRIu32 " (%.*f)",
			   j->unit == EVENT_NS ? "spend" : "have", digits,
			   seconds(j, spread_mean(&mpi->of, j->n)), unit, mpi->of.min_rank, digits,
			   seconds(j, (double)mpi->of.min), mpi->of.max_rank, digits,
			   seconds(j, (double)mpi->of.max));
	else
		table_note(j->t, "no function of MPI is on any stack: all counts as work");
}

/* Counts the distinct values of the facts with a name; equal values follow each other. */
static size_t count_values(const struct profile *p, const char *name)
{
	const char *found = NULL;
	size_t n = 0;
	for (size_t i = 0; i < p->n_facts; i++) {
		const char *value = strtab_get(p->strings, p->facts[i].value);
		if (strcmp(strtab_get(p->strings, p->facts[i].name), name) != 0 ||
		    (found && !strcmp(found, value)))
			continue;
		found = value;
		n++;
	}
	return n;
}

static size_t count_left_out(const struct profile *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_ranks; i++)
		n += p->ranks[i].left_out;
	return n;
}

static void note_ranks(struct imbalance_job *j)
{
	size_t left_out = count_left_out(j->in->profile);
	if (left_out)
		table_note(j->t, "--rank leaves out %zu of the %zu ranks in the data", left_out,
			   j->in->profile->n_ranks);
	const char *gap;
	for (size_t i = 0; (gap = remarks_next(j->in->remarks, KIN_REMARK_GAP, &i));)
		table_note(j->t, "%s", gap);
	if (count_values(j->in->profile, FACT_JOB) > 1 ||
	    count_values(j->in->profile, FACT_RANKS) > 1)
		table_note(j->t,
			   "the data has several jobs: ranks with the same number are added up");
}

/* Notes ranks without time of the event: a rank that was recorded with other events would look
 * idle. */
static void note_events(struct imbalance_job *j)
{
	const struct spread_row *all = of_ranks(j, SPREAD_ALL);
	bool others = false;

	for (size_t i = 0; i < j->set->rows.n; i++)
		others |= j->set->rows.at[i].kind == SPREAD_ALL && &j->set->rows.at[i] != all;
	uint64_t n = all ? all->of.n : 0;
	if (others && n < j->n)
		table_note(j->t,
			   "%" PRIu64 " of the %" PRIu64 " ranks %s no sample of %s, and %s as 0: "
			   "other events were recorded",
			   j->n - n, j->n, j->n - n == 1 ? "has" : "have",
			   strtab_get(j->set->strings, j->event),
			   j->n - n == 1 ? "counts" : "count");
}

/* ---- the report ---- */

static bool *find_mpi(const struct spread_set *s)
{
	size_t n = strtab_count(s->strings);
	bool *is_mpi = xalloc(n + 1);
	for (size_t i = 0; i < n; i++)
		is_mpi[i] = rank_spreads_is_mpi(strtab_get(s->strings, (strid)i));
	return is_mpi;
}

/* The event is that of other reports on time. If there are no samples, it is the first event of the
 * sums over ranks. */
static void find_event(struct imbalance_job *j, struct spread_set *set)
{
	const struct samples *s = &j->in->profile->samples;
	j->unit = EVENT_NS;
	if (s->n_events) {
		const struct event *e = &s->events[samples_event(s)];
		j->event = spread_set_string(set, strtab_get(j->in->profile->strings, e->name));
		j->unit = e->unit;
		return;
	}
	for (size_t i = 0; i < set->rows.n && !j->event; i++) {
		j->event = set->rows.at[i].event;
		j->unit = set->rows.at[i].unit;
	}
}

/* Notes that existing sums of ranks cannot be folded: their functions were fixed when the sums were
 * made. */
static void note_folding(struct imbalance_job *j)
{
	const struct spread_set *sums = j->in->profile->spreads;
	bool any = false;

	for (size_t i = 0; program_folds(j->in->program) && sums && i < sums->rows.n && !any; i++)
		any = sums->rows.at[i].from.inlined || sums->rows.at[i].to.inlined;
	if (any)
		table_note(j->t, "sums of ranks were made with inlined functions as functions, and "
				 "cannot be folded any more");
}

static bool is_raw_name(const struct symbols *s, const symid *at, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(s->at[at[i]].name, name))
			return true;
	return false;
}

/* Marks the strings that name a subject in any form. False: there is no such function, not even
 * inlined into others. */
static bool find_subject(struct imbalance_job *j, const char *name)
{
	struct symbols *s = j->in->symbols;
	size_t n = strtab_count(j->set->strings), n_named;
	symid *named = report_symbols_named(s, name, &n_named);
	bool found = n_named > 0;

	for (strid i = 1; i < n; i++) {
		const char *raw = strtab_get(j->set->strings, i);
		if (!is_raw_name(s, named, n_named, raw) &&
		    !inlined_is_called(raw, name, s->opts.style))
			continue;
		j->is_subject[i] = true;
		found = true;
	}
	free(named);
	return found || report_is_inlined(j->in, name);
}

static struct kin_error *find_subjects(struct imbalance_job *j)
{
	j->is_subject = xalloc(strtab_count(j->set->strings) + 1);
	for (const char *const *s = j->o->subjects; s && *s; s++)
		if (!find_subject(j, *s))
			return report_no_function(j->in, *s, "in the profile");
	return NULL;
}

/* Why there is nothing to compare, or NULL. */
static struct kin_error *check_ranks(const struct spread_set *set)
{
	if (!set || !set->ranks.n)
		return err_new(KIN_ERROR_USAGE,
			       "the data has no ranks of a parallel job: mpirun -n 8 kin record "
			       "./app leaves a file for each");
	if (set->is_part)
		return err_new(KIN_ERROR_USAGE,
			       "the data is the sum over ranks, which keeps what they differ by "
			       "for each event as a whole, but not by thread, object or time: the "
			       "ranks' own recordings tell that");
	return set->twice ? rank_spreads_twice(set->twice - 1) : NULL;
}

static struct kin_error *imbalance_run(const struct report_input *in, const struct report_opts *o,
				       struct kin_table **ret)
{
	struct spread_set *set = in->program ? rank_spreads_new(in->profile, in->program) : NULL;
	struct kin_error *err = check_ranks(set);
	if (err) {
		spread_set_free(set);
		return err;
	}
	struct kin_table *t = table_new("imbalance", "Imbalance over ranks", columns, N_COLUMNS);
	struct imbalance_job j = {
		.in = in, .o = o, .t = t, .set = set, .n = spread_set_count(set)
	};
	find_event(&j, set);
	spread_set_sort(set);
	j.is_mpi = find_mpi(set);
	err = find_subjects(&j);
	table_set_rate(t, j.unit == EVENT_NS ? 1e9 : 1);
	if (j.unit != EVENT_NS)
		table_property(t, "dimension", cell_text("events"));
	table_property(t, "ranks", cell_count(j.n));
	if (!err) {
		note_slow(&j);
		note_ranks(&j);
		note_events(&j);
		note_folding(&j);
		report_note_subjects(in, o, t);
		add_all(&j);
	}
	free(j.is_mpi);
	free(j.is_subject);
	spread_set_free(set);
	if (err)
		kin_table_free(t);
	else
		*ret = t;
	return err;
}

const struct report imbalance_report = {
	.name = "imbalance",
	.help = "where ranks of a parallel job wait for each other",
	.run = imbalance_run,
	.inlines = true,
};
