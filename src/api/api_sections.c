/* api_sections.c - rows of several tables as one table, pulled section by section. */
#include "api/api_sections.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "table/render.h"
#include "table/select.h"
#include "table/table_build.h"

struct report_section {
	const char *label; /* in the table's memory */
	double time;       /* sum by which sections are ordered */
	uint64_t calls;
	VEC(uint32_t) rows;
};

struct noted { /* a note shared by one or several sections' reports */
	const char *label, *text;
	size_t sections;
};

struct sections {
	struct kin_table *table; /* the table under construction */
	struct kin_column *columns;
	size_t *from; /* [n]: column in the sections' tables; NONE: the label */
	size_t n;
	VEC(struct report_section) at;
	VEC(struct kin_row) rows;
	VEC(struct kin_cell) cells; /* n per row */
	VEC(struct noted) notes;
	size_t n_tables; /* number of tables whose notes were taken */

	size_t section, row; /* read position */
	uint32_t group, last_group;
};

static void free_sections(void *state)
{
	struct sections *g = state;
	for (size_t i = 0; i < g->at.n; i++)
		vec_free(&g->at.at[i].rows);
	vec_free(&g->at);
	vec_free(&g->rows);
	vec_free(&g->cells);
	vec_free(&g->notes);
	free(g->columns);
	free(g->from);
	free(g);
}

static void rewind_rows(void *state)
{
	struct sections *g = state;
	g->section = g->row = 0;
	g->group = 0;
	g->last_group = NONE;
}

/* Numbers groups uniquely over all sections. */
static bool next_row(void *state, struct kin_row *ret)
{
	struct sections *g = state;
	while (g->section < g->at.n && g->row == g->at.at[g->section].rows.n) {
		g->section++;
		g->row = 0;
		g->group += g->last_group != NONE;
		g->last_group = NONE;
	}
	if (g->section == g->at.n)
		return false;
	uint32_t i = g->at.at[g->section].rows.at[g->row++];
	*ret = g->rows.at[i];
	ret->cells = g->cells.at + i * g->n;
	g->group += g->last_group != NONE && g->last_group != ret->group;
	g->last_group = ret->group;
	ret->group = g->group;
	return true;
}

static const struct table_source source = { rewind_rows, next_row, free_sections };

struct sections *sections_new(const struct kin_table *like, const struct kin_column *first)
{
	struct sections *g = xalloc(sizeof(*g));
	size_t n = kin_table_n_columns(like), same = kin_table_find_column(like, first->key);

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

struct kin_table *sections_table(struct sections *g) { return g->table; }

static struct report_section *section_of(struct sections *g, const char *label)
{
	for (size_t i = g->at.n; i-- > 0;)
		if (!strcmp(g->at.at[i].label, label))
			return &g->at.at[i];
	vec_push(&g->at, ((struct report_section){ .label = table_text(g->table, label) }));
	return &g->at.at[g->at.n - 1];
}

/* Cumulative values restart in each section. */
static void accumulate(const struct sections *g, const struct report_section *s,
		       struct kin_cell *cells)
{
	for (size_t i = 0; i < g->n; i++)
		if (!strcmp(g->columns[i].key, "cumulative") && cells[i].type == KIN_CELL_TIME)
			cells[i].number = s->time;
}

static void weigh(const struct sections *g, struct report_section *s, const struct kin_cell *cells)
{
	for (size_t i = 0; i < g->n; i++) {
		if (!strcmp(g->columns[i].key, "self") && cells[i].type == KIN_CELL_TIME)
			s->time += cells[i].number;
		if ((!strcmp(g->columns[i].key, "calls") || !strcmp(g->columns[i].key, "count")) &&
		    cells[i].type == KIN_CELL_COUNT)
			s->calls += cells[i].count;
	}
}

void sections_add_row(struct sections *g, const char *label, const struct kin_row *row,
		      struct section_scale scale)
{
	struct report_section *s = section_of(g, label);

	vec_reserve(&g->cells, g->n);
	struct kin_cell *cells = g->cells.at + g->cells.n;
	for (size_t i = 0; i < g->n; i++) {
		cells[i] = g->from[i] == NONE ? cell_text(s->label) : row->cells[g->from[i]];
		if (cells[i].type == KIN_CELL_SHARE)
			cells[i].number *= scale.share;
		else if (cells[i].type == KIN_CELL_TIME)
			cells[i].number *= scale.time;
	}
	g->cells.n += g->n;
	vec_push(&s->rows, (uint32_t)g->rows.n);
	vec_push(&g->rows, *row);
	if (!row->depth) {
		weigh(g, s, cells);
		accumulate(g, s, cells);
	}
	for (size_t i = 0; i < g->n && scale.is_number; i++)
		if (cells[i].type == KIN_CELL_TIME)
			cells[i] = cell_number(cells[i].number);
}

static int by_weight(const void *l, const void *r)
{
	const struct report_section *a = l, *b = r;
	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return strcmp(a->label, b->label);
}

void sections_take_notes(struct sections *g, const struct kin_table *t, const char *label)
{
	label = label ? table_text(g->table, label) : NULL;
	g->n_tables++;
	for (size_t i = 0; i < kin_table_n_notes(t); i++) {
		const char *note = kin_table_note_at(t, i);
		size_t k = 0;
		while (k < g->notes.n && strcmp(g->notes.at[k].text, note) != 0)
			k++;
		if (k == g->notes.n)
			vec_push(&g->notes, ((struct noted){ label, table_text(g->table, note) }));
		g->notes.at[k].sections++;
	}
	for (size_t i = 1; i < g->n; i++)
		g->columns[i].hidden &= kin_table_column(t, g->from[i])->hidden;
}

struct kin_table *sections_finish(struct sections *g, bool by_time)
{
	if (by_time && g->at.n)
		qsort(g->at.at, g->at.n, sizeof(*g->at.at), by_weight);
	for (size_t i = 0; i < g->notes.n; i++) {
		const struct noted *n = &g->notes.at[i];
		if (n->label && n->sections < g->n_tables)
			table_note(g->table, "%s: %s", n->label, n->text);
		else
			table_note(g->table, "%s", n->text);
	}
	rewind_rows(g);
	return g->table;
}
