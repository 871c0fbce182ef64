/* api_group.c - makes a report for each thread, process, run, rank, event or object, and joins
 * them. */
#include "api/api_group.h"

#include <stdlib.h>
#include <string.h>

#include "api/api_sections.h"
#include "base/err.h"
#include "base/vec.h"
#include "paths/path_tree.h"
#include "profile/filter.h"
#include "profile/threads.h"
#include "table/render.h"
#include "table/select.h"

/* Sorts, with all columns in place. On failure the table is freed. */
static struct kin_error *sort_rows(struct kin_table **t, const char *sort)
{
	static const char *const all[] = { "all", NULL };
	struct kin_error *err =
		sort ? table_select(*t, &(struct table_selection){ all, sort }, t) : NULL;
	if (err)
		kin_table_free(*t);
	return err;
}

static void free_table(void *t) { kin_table_free(t); }

static const struct section_scale as_it_is = { 1, 1, false };

/* ---- by object: sections of one report ---- */

struct labels {
	VEC(const char *) at; /* labels of the blocks of rows */
	VEC(uint32_t) of_row; /* for each row, index into at */
};

/* Labels blocks of rows: all rows of a block belong to the object of the block's first row that is
 * not nested. */
static struct labels label_blocks(struct kin_table *t, size_t column)
{
	struct labels l = { 0 };
	struct kin_row row;
	uint32_t group = 0;
	bool has_head = true;
	for (kin_table_rewind(t); table_next(t, &row); group = row.group) {
		bool alone = row.kind == KIN_ROW_PLAIN && !row.depth;
		if (!l.at.n || alone || row.group != group) {
			vec_push(&l.at, "[unknown]");
			has_head = false;
		}
		vec_push(&l.of_row, (uint32_t)l.at.n - 1);
		if (row.depth || has_head)
			continue;
		has_head = true;
		if (row.cells[column].type == KIN_CELL_TEXT)
			l.at.at[l.at.n - 1] = row.cells[column].text;
	}
	return l;
}

static struct kin_error *by_object(struct kin_profile *p, const struct report *r,
				   const struct view *v, const struct report_opts *o,
				   const char *sort, struct kin_table **ret)
{
	static const struct kin_column column = { "object", "object",
						  "the object file that the code is in",
						  KIN_CELL_TEXT };
	struct report_input in = report_input_of(p, v);
	struct kin_table *t;
	struct kin_error *err = r->run(&in, o, &t);
	if (err)
		return err;
	if ((err = sort_rows(&t, sort)))
		return err;
	struct sections *s = sections_new(t, &column);
	table_keep(sections_table(s), free_table, t);

	struct labels labels = label_blocks(t, kin_table_find_column(t, "object"));
	struct kin_row row;
	kin_table_rewind(t);
	for (size_t i = 0; table_next(t, &row); i++)
		sections_add_row(s, labels.at.at[labels.of_row.at[i]], &row, as_it_is);
	vec_free(&labels.at);
	vec_free(&labels.of_row);
	sections_take_notes(s, t, NULL);
	report_describe(&in, sections_table(s));
	*ret = sections_finish(s, true);
	return NULL;
}

/* ---- by thread, process, run, rank or event: a report for each part of the data ---- */

struct group_parts {
	struct kin_profile *p;
	const struct report *report;
	const struct view *v;
	const struct report_opts *opts;
	const char *sort;
	struct kin_column column;
	bool own_shares; /* shares are of the part, not of the whole */
	bool many_units; /* parts have different units */
	double rate;     /* with many_units: ticks per second of the parts in units of time */
	const uint32_t *name_ranks; /* as in callgraph_opts */
	struct sections *sections;
};

/* What a part's rows are made from. It is freed once they are read: there may be thousands of
 * parts. */
struct part_report {
	struct profile *flat; /* NULL: the part itself is used */
	struct callgraph *graph;
	struct report_opts opts;
	struct kin_table *table;
};

/* Places are shared with the whole profile, because frames keep their ids. */
static struct kin_error *part_report_init(struct part_report *r, const struct group_parts *x,
					  const struct profile *part)
{
	const struct view *v = x->v;
	struct report_input in = report_input_of(x->p, v);

	r->flat = v->program ? program_flatten(v->program, part) : NULL;
	r->graph = callgraph_new(
		r->flat ? r->flat : part, v->symbols,
		&(struct callgraph_opts){ .samples = v->program ? &part->samples : NULL,
					  .program = v->program,
					  .no_inlines = x->p->naming.no_inlines,
					  .name_ranks = x->name_ranks });
	r->opts = *x->opts;
	if (!x->own_shares)
		r->opts.whole = v->graph->total;
	in.profile = part;
	in.flat = r->flat ? r->flat : part;
	in.graph = r->graph;
	struct kin_error *err = x->report->run(&in, &r->opts, &r->table);
	return err ? err : sort_rows(&r->table, x->sort);
}

/* The table stays, because cells point to its texts. */
static void part_report_done(struct part_report *r)
{
	callgraph_free(r->graph);
	profile_free(r->flat);
}

static bool is_of_time(const struct profile *part)
{
	const struct samples *s = &part->samples;
	return s->n_events && s->events[samples_event(s)].unit == EVENT_NS;
}

static void add_rows(struct group_parts *x, const struct profile *part, const char *label,
		     const struct part_report *r)
{
	struct kin_row row;
	double total = r->graph->total, rate = r->graph->rate, whole = x->v->graph->total;
	if (!x->sections)
		x->sections = sections_new(r->table, &x->column);
	bool is_time = is_of_time(part);
	if (is_time)
		x->rate = rate;
	struct section_scale scale = { x->own_shares || whole <= 0 ? 1 : total / whole,
				       x->many_units && !is_time ? 1 / rate : 1,
				       x->many_units && !is_time };
	for (kin_table_rewind(r->table); table_next(r->table, &row);)
		sections_add_row(x->sections, label, &row, scale);
	sections_take_notes(x->sections, r->table, label);
	table_keep(sections_table(x->sections), free_table, r->table);
}

static struct kin_error *add_part(struct group_parts *x, const struct profile *part,
				  const char *label)
{
	struct part_report r;
	struct kin_error *err = part_report_init(&r, x, part);
	if (!err)
		add_rows(x, part, label, &r);
	part_report_done(&r);
	return err;
}

/* Consumes the part. `last`: use it even if empty, unless an earlier part was used, so that the
 * report has its columns. */
static struct kin_error *add_some(struct group_parts *x, struct profile *part, const char *label,
				  bool last)
{
	struct kin_error *err = NULL;
	if (!profile_is_empty(part) || (last && !x->sections))
		err = add_part(x, part, label);
	profile_free(part);
	return err;
}

static struct kin_error *by_tasks(struct group_parts *x, struct threads threads)
{
	const struct profile *whole = x->p->data;
	struct profile_parts *parts = profile_parts_new(whole, threads.of_task, threads.n);
	struct kin_error *err = NULL;

	for (size_t i = 0; i < threads.n && !err; i++) {
		struct profile *part = profile_parts_make(parts, i);
		part->samples.timed_event = (uint16_t)(samples_event(&whole->samples) + 1);
		err = add_some(x, part, threads.at[i].label, i + 1 == threads.n);
	}
	profile_parts_free(parts);
	threads_done(&threads);
	return err;
}

static struct kin_error *by_thread(struct group_parts *x)
{
	x->column = (struct kin_column){ "thread", "thread", "the thread, as name/number",
					 KIN_CELL_TEXT };
	return by_tasks(x, threads_of(x->p->data));
}

static struct kin_error *by_process(struct group_parts *x)
{
	x->column = (struct kin_column){ "process", "process", "the process, as name/number",
					 KIN_CELL_TEXT };
	return by_tasks(x, processes_of(x->p->data));
}

static struct kin_error *by_run(struct group_parts *x)
{
	x->column = (struct kin_column){ "run", "run", "the run, of several in one recording",
					 KIN_CELL_TEXT };
	return by_tasks(x, runs_of(x->p->data));
}

static struct kin_error *by_rank(struct group_parts *x)
{
	if (x->p->data->spreads)
		return err_new(
			KIN_ERROR_USAGE,
			"the data is the sum over ranks, which tells them apart no more: kin "
			"imbalance shows what they differ by; --by rank takes their own "
			"recordings");
	x->column =
		(struct kin_column){ "rank", "rank", "the rank in a parallel job", KIN_CELL_TEXT };
	return by_tasks(x, ranks_of(x->p->data));
}

/* Each event in its own unit: seconds, or counts. */
static struct kin_error *by_event(struct group_parts *x)
{
	const struct profile *p = x->p->data;
	size_t n = p->samples.n_events;
	uint8_t *events = xalloc(n + 1);
	struct kin_error *err = NULL;

	x->column = (struct kin_column){ "event", "event", "the sampled event", KIN_CELL_TEXT };
	x->own_shares = true;
	for (size_t i = 1; i < n; i++)
		x->many_units |= p->samples.events[i].unit != p->samples.events[0].unit;
	if (!n)
		err = add_some(x, profile_filter(p, &(struct profile_part){ 0 }), "[counts]", true);
	for (size_t i = 0; i < n && !err; i++) {
		memset(events, 0, n);
		events[i] = 1;
		err = add_some(x, profile_filter(p, &(struct profile_part){ .events = events }),
			       strtab_get(p->strings, p->samples.events[i].name), i + 1 == n);
	}
	free(events);
	return err;
}

static struct kin_error *by_parts(struct group_parts *x,
				  struct kin_error *(*add)(struct group_parts *x),
				  struct kin_table **ret)
{
	struct kin_error *err = add(x);
	struct kin_table *t = x->sections ? sections_table(x->sections) : NULL;
	if (err) {
		kin_table_free(t);
		return err;
	}
	struct report_input in = report_input_of(x->p, x->v);
	if (x->many_units) /* replaces the dimension of the first of several counts */
		table_property(t, "dimension", cell_text("s or events"));
	report_describe(&in, t);
	if (x->many_units)
		table_set_rate(t, x->rate);
	*ret = sections_finish(x->sections, !x->own_shares);
	return NULL;
}

/* ---- groupings ---- */

static const struct {
	const char *name;
	unsigned kind;
	struct kin_error *(*add)(struct group_parts *x); /* NULL: by object */
} groupings[] = {
	{ "thread", REPORT_BY_PART, by_thread }, { "process", REPORT_BY_PART, by_process },
	{ "run", REPORT_BY_PART, by_run },       { "rank", REPORT_BY_PART, by_rank },
	{ "event", REPORT_BY_PART, by_event },   { "object", REPORT_BY_OBJECT, NULL },
};

struct kin_error *group_report(struct kin_profile *p, const struct report *r,
			       const struct report_opts *o, const char *by, const char *sort,
			       struct kin_table **ret)
{
	struct view *v;
	size_t i = 0;

	while (i < ARRAY_LEN(groupings) &&
	       (strcmp(groupings[i].name, by) != 0 || !(groupings[i].kind & r->by)))
		i++;
	if (i == ARRAY_LEN(groupings))
		return err_new(KIN_ERROR_USAGE, "the report '%s' cannot be grouped by '%s'",
			       r->name, by);
	struct kin_error *err = profile_view_for(p, r, &v);
	if (err)
		return err;
	if (!groupings[i].add)
		return by_object(p, r, v, o, sort, ret);
	struct group_parts parts = {
		.p = p, .report = r, .v = v, .opts = o, .sort = sort, .rate = 1
	};
	uint32_t *ranks = callgraph_name_ranks(v->symbols);
	parts.name_ranks = ranks;
	err = by_parts(&parts, groupings[i].add, ret);
	free(ranks);
	return err;
}
