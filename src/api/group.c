#include "api/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "profile/filter.h"
#include "profile/threads.h"
#include "table/render.h"
#include "table/select.h"

/* ---- rows in sections ---- */

struct section {
	const char *label; /* in the table's memory */
	double time;       /* what they are ordered by */
	uint64_t calls;
	VEC(uint32_t) rows;
};

struct noted { /* what one or several sections' reports say */
	const char *label, *text;
	size_t sections;
};

struct grouped {
	struct kin_table *table; /* that is made */
	struct kin_column *columns;
	size_t *from; /* [n]: column of the sections' reports; NONE: the label */
	size_t n;
	VEC(struct section) sections;
	VEC(struct kin_row) rows;
	VEC(struct kin_cell) cells; /* n per row */
	VEC(struct noted) notes;

	size_t section, row; /* where reading is */
	uint32_t group, last_group;
};

static void free_grouped(void *state)
{
	struct grouped *g = state;
	for (size_t i = 0; i < g->sections.n; i++)
		vec_free(&g->sections.at[i].rows);
	vec_free(&g->sections);
	vec_free(&g->rows);
	vec_free(&g->cells);
	vec_free(&g->notes);
	free(g->columns);
	free(g->from);
	free(g);
}

static void rewind_rows(void *state)
{
	struct grouped *g = state;
	g->section = g->row = 0;
	g->group = 0;
	g->last_group = NONE;
}

/* Groups within sections become groups of the whole. */
static bool next_row(void *state, struct kin_row *ret)
{
	struct grouped *g = state;
	while (g->section < g->sections.n && g->row == g->sections.at[g->section].rows.n) {
		g->section++;
		g->row = 0;
		g->group += g->last_group != NONE;
		g->last_group = NONE;
	}
	if (g->section == g->sections.n)
		return false;
	uint32_t i = g->sections.at[g->section].rows.at[g->row++];
	*ret = g->rows.at[i];
	ret->cells = g->cells.at + i * g->n;
	g->group += g->last_group != NONE && g->last_group != ret->group;
	g->last_group = ret->group;
	ret->group = g->group;
	return true;
}

static const struct table_source source = { rewind_rows, next_row, free_grouped };

/* The columns of a report, with `first` before them; the one with its key is left out. */
static struct grouped *grouped_new(const struct kin_table *like, const struct kin_column *first)
{
	struct grouped *g = xalloc(sizeof(*g));
	size_t n = kin_table_n_columns(like), same = render_column(like, first->key);

	g->columns = xrealloc(NULL, n + 1, sizeof(*g->columns));
	g->from = xrealloc(NULL, n + 1, sizeof(*g->from));
	g->columns[0] = *first;
	g->from[g->n++] = NONE;
	for (size_t i = 0; i < n; i++) {
		if (i == same)
			continue;
		g->columns[g->n] = *kin_table_column(like, i);
		g->from[g->n++] = i;
	}
	g->table = table_new(kin_table_name(like), kin_table_title(like), g->columns, g->n);
	table_set_source(g->table, &source, g);
	return g;
}

static struct section *add_section(struct grouped *g, const char *label)
{
	vec_push(&g->sections, ((struct section){ .label = table_text(g->table, label) }));
	return &g->sections.at[g->sections.n - 1];
}

static void weigh(const struct grouped *g, struct section *s, const struct kin_cell *cells)
{
	for (size_t i = 0; i < g->n; i++) {
		if (!strcmp(g->columns[i].key, "self") && cells[i].type == KIN_CELL_TIME)
			s->time += cells[i].number;
		if ((!strcmp(g->columns[i].key, "calls") || !strcmp(g->columns[i].key, "count")) &&
		    cells[i].type == KIN_CELL_COUNT)
			s->calls += cells[i].count;
	}
}

/* `scale`: of shares. */
static void add_row(struct grouped *g, struct section *s, const struct kin_row *row, double scale)
{
	vec_reserve(&g->cells, g->n);
	struct kin_cell *cells = g->cells.at + g->cells.n;
	for (size_t i = 0; i < g->n; i++) {
		cells[i] = g->from[i] == NONE ? cell_text(s->label) : row->cells[g->from[i]];
		if (cells[i].type == KIN_CELL_SHARE)
			cells[i].number *= scale;
	}
	g->cells.n += g->n;
	vec_push(&s->rows, (uint32_t)g->rows.n);
	vec_push(&g->rows, *row);
	if (!row->depth)
		weigh(g, s, cells);
}

static int by_weight(const void *l, const void *r)
{
	const struct section *a = l, *b = r;
	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return strcmp(a->label, b->label);
}

static void take_notes(struct grouped *g, const struct kin_table *t, const char *label)
{
	for (size_t i = 0; i < kin_table_n_notes(t); i++) {
		const char *note = kin_table_note_at(t, i);
		size_t k = 0;
		while (k < g->notes.n && strcmp(g->notes.at[k].text, note) != 0)
			k++;
		if (k == g->notes.n)
			vec_push(&g->notes, ((struct noted){ label, table_text(g->table, note) }));
		g->notes.at[k].sections++;
	}
}

static struct kin_table *finish(struct grouped *g)
{
	if (g->sections.n)
		qsort(g->sections.at, g->sections.n, sizeof(*g->sections.at), by_weight);
	for (size_t i = 0; i < g->notes.n; i++) {
		const struct noted *n = &g->notes.at[i];
		if (n->label && n->sections < g->sections.n)
			table_note(g->table, "%s: %s", n->label, n->text);
		else
			table_note(g->table, "%s", n->text);
	}
	rewind_rows(g);
	return g->table;
}

/* All columns stay where they are. On failure the table is gone. */
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

/* ---- by object: rows of one report ---- */

static struct section *section_of(struct grouped *g, const char *label)
{
	for (size_t i = g->sections.n; i-- > 0;)
		if (!strcmp(g->sections.at[i].label, label))
			return &g->sections.at[i];
	return add_section(g, label);
}

static struct kin_error *by_object(struct kin_profile *p, const struct report *r,
				   const struct view *v, const struct report_opts *o,
				   const char *sort, struct kin_table **ret)
{
	static const struct kin_column column = {
		"object",      "object", "the object file that the code is in",
		KIN_CELL_TEXT, false,    false
	};
	struct report_input in = report_input_of(p, v);
	struct kin_table *t;
	struct kin_error *err = r->run(&in, o, &t);
	if (err)
		return err;
	struct grouped *g = grouped_new(t, &column);
	if ((err = sort_rows(&t, sort))) {
		kin_table_free(g->table);
		return err;
	}
	table_keep(g->table, free_table, t);

	size_t object = render_column(t, "object");
	struct kin_row row;
	for (kin_table_rewind(t); kin_table_next(t, &row);) {
		const struct kin_cell *c = &row.cells[object];
		add_row(g, section_of(g, c->type == KIN_CELL_TEXT ? c->text : "[unknown]"), &row,
			1);
	}
	take_notes(g, t, NULL);
	report_describe(&in, g->table);
	*ret = finish(g);
	return NULL;
}

/* ---- by thread: a report of each ---- */

static bool is_empty(const struct profile *p)
{
	return !p->n_arcs && !p->samples.n && !p->n_blocks && !p->n_histograms;
}

/* Places are those of the whole profile: frames keep their ids. */
static struct kin_error *report_part(struct kin_profile *p, const struct report *r,
				     const struct view *v, const struct profile *part,
				     const struct report_opts *o, double *total,
				     struct kin_table **ret)
{
	struct profile *flat = v->program ? program_flatten(v->program, part) : NULL;
	struct callgraph *graph =
		callgraph_new(flat ? flat : part, v->symbols,
			      &(struct callgraph_opts){
				      .samples = v->program ? &part->samples : NULL,
				      .places = v->program ? program_places(v->program) : NULL });
	struct report_input in = report_input_of(p, v);
	struct report_opts opts = *o;
	in.profile = part;
	in.flat = flat ? flat : part;
	in.graph = graph;
	opts.min_share *= graph->total > 0 ? v->graph->total / graph->total : 1;
	*total = graph->total;
	struct kin_error *err = r->run(&in, &opts, ret);
	if (!err) {
		table_keep(*ret, (void (*)(void *))callgraph_free, graph);
		table_keep(*ret, (void (*)(void *))profile_free, flat);
		return NULL;
	}
	callgraph_free(graph);
	profile_free(flat);
	return err;
}

static struct kin_error *add_thread(struct kin_profile *p, const struct report *r,
				    const struct view *v, const struct profile *part,
				    const struct report_opts *o, const char *sort,
				    const char *label, struct grouped **g)
{
	static const struct kin_column column = {
		"thread", "thread", "the thread, as name/number", KIN_CELL_TEXT, false, false
	};
	struct kin_table *t;
	struct kin_row row;
	double total;
	struct kin_error *err = report_part(p, r, v, part, o, &total, &t);
	if (err)
		return err;
	if (!*g)
		*g = grouped_new(t, &column);
	if ((err = sort_rows(&t, sort)))
		return err;
	struct section *s = add_section(*g, label);
	double scale = v->graph->total > 0 ? total / v->graph->total : 1;
	for (kin_table_rewind(t); kin_table_next(t, &row);)
		add_row(*g, s, &row, scale);
	take_notes(*g, t, s->label);
	table_keep((*g)->table, free_table, t); /* its texts */
	return NULL;
}

static struct kin_error *by_thread(struct kin_profile *p, const struct report *r,
				   const struct view *v, const struct report_opts *o,
				   const char *sort, struct kin_table **ret)
{
	struct threads threads = threads_of(p->data);
	uint8_t *tasks = xalloc(p->data->samples.n_tasks);
	struct grouped *g = NULL;
	struct kin_error *err = NULL;

	for (size_t i = 0; i < threads.n && !err; i++) {
		for (size_t k = 0; k < p->data->samples.n_tasks; k++)
			tasks[k] = threads.of_task[k] == i;
		struct profile *part =
			profile_filter(p->data, &(struct profile_part){ .tasks = tasks });
		if (!is_empty(part) || (i + 1 == threads.n && !g))
			err = add_thread(p, r, v, part, o, sort, threads.at[i].label, &g);
		profile_free(part);
	}
	free(tasks);
	threads_done(&threads);
	if (err) {
		if (g)
			kin_table_free(g->table);
		return err;
	}
	struct report_input in = report_input_of(p, v);
	report_describe(&in, g->table);
	*ret = finish(g);
	return NULL;
}

/* ---- either ---- */

static bool can_group(const struct report *r, const char *by)
{
	return r->by && ((!strcmp(by, "thread") && r->by & REPORT_BY_THREAD) ||
			 (!strcmp(by, "object") && r->by & REPORT_BY_OBJECT));
}

struct kin_error *group_report(struct kin_profile *p, const struct report *r,
			       const struct report_opts *o, const char *by, const char *sort,
			       struct kin_table **ret)
{
	struct view *v;

	if (!can_group(r, by))
		return err_new(KIN_ERROR_USAGE, "the report '%s' cannot be grouped by '%s'",
			       r->name, by);
	struct kin_error *err = profile_view(p, p->lines || r->by_line, true, &v);
	if (err)
		return err;
	return !strcmp(by, "thread") ? by_thread(p, r, v, o, sort, ret)
				     : by_object(p, r, v, o, sort, ret);
}
