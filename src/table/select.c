/* select.c - a view of a table: columns chosen by key, rows sorted by a column. */
#include "table/select.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/sort.h"
#include "base/vec.h"
#include "table/render.h"
#include "table/table_build.h"

struct selected_view {
	struct kin_table *inner; /* owned */
	size_t n;
	size_t *from;               /* [n] inner column of each column */
	struct kin_column *columns; /* [n] */
	struct kin_cell *cells;     /* [n] cells of the row last returned */

	/* Only if sorted: copies of all rows, with n + 1 cells each; the last cell is the sort
	 * key. */
	bool sorted;
	VEC(struct kin_row) rows;
	VEC(struct kin_cell) kept;
	VEC(uint32_t) heads; /* [rows.n]: the head of each row's block */
	uint32_t *order;     /* [rows.n] */
	size_t next;
};

static void view_free(void *state)
{
	struct selected_view *v = state;
	kin_table_free(v->inner);
	free(v->from);
	free(v->columns);
	free(v->cells);
	free(v->order);
	vec_free(&v->rows);
	vec_free(&v->heads);
	vec_free(&v->kept);
	free(v);
}

static void view_rewind(void *state)
{
	struct selected_view *v = state;
	v->next = 0;
	if (!v->sorted)
		kin_table_rewind(v->inner);
}

static void view_rewind_extremes(void *state)
{
	struct selected_view *v = state;
	v->next = 0;
	if (!v->sorted)
		table_rewind_extremes(v->inner);
}

static bool view_next(void *state, struct kin_row *ret)
{
	struct selected_view *v = state;
	if (v->sorted) {
		if (v->next == v->rows.n)
			return false;
		size_t i = v->order[v->next++];
		*ret = v->rows.at[i];
		ret->cells = v->kept.at + i * (v->n + 1);
		return true;
	}
	struct kin_row row;
	if (!table_next(v->inner, &row))
		return false;
	for (size_t i = 0; i < v->n; i++)
		v->cells[i] = row.cells[v->from[i]];
	*ret = row;
	ret->cells = v->cells;
	return true;
}

static const struct table_source view_source = { view_rewind, view_next, view_free,
						 view_rewind_extremes };

/* ---- columns ---- */

static struct kin_error *no_column(const struct kin_table *t, const char *key)
{
	VEC(char) list = { 0 };
	for (size_t i = 0; i < kin_table_n_columns(t); i++) {
		const char *name = kin_table_column(t, i)->key;
		size_t n = strlen(name);
		vec_reserve(&list, n + 3);
		memcpy(list.at + list.n, i ? ", " : "", i ? 2 : 0);
		memcpy(list.at + list.n + (i ? 2 : 0), name, n + 1);
		list.n += n + (i ? 2 : 0);
	}
	struct kin_error *err = err_new(KIN_ERROR_USAGE, "no column '%s' in '%s': it has %s", key,
					kin_table_name(t), list.n ? list.at : "none");
	vec_free(&list);
	return err;
}

static bool is_chosen(const struct selected_view *v, size_t column)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->from[i] == column)
			return true;
	return false;
}

static void usual_columns(struct selected_view *v, bool hidden_too)
{
	for (size_t i = 0; i < kin_table_n_columns(v->inner); i++)
		if ((hidden_too || !kin_table_column(v->inner, i)->hidden) && !is_chosen(v, i))
			v->from[v->n++] = i;
}

static struct kin_error *choose(struct selected_view *v, const char *const *keys)
{
	size_t n_keys = 0, all = kin_table_n_columns(v->inner);
	while (keys && keys[n_keys])
		n_keys++;
	v->from = xrealloc(NULL, (n_keys + 1) * (all + 1), sizeof(*v->from));
	bool adds = n_keys && keys[0][0] == '+';
	if (!n_keys || adds)
		usual_columns(v, false);
	for (size_t i = 0; i < n_keys; i++) {
		const char *key = keys[i] + (keys[i][0] == '+');
		size_t col = kin_table_find_column(v->inner, key);
		if (col < all && is_chosen(v, col))
			continue; /* the keys of a JSON object are distinct */
		if (col < all)
			v->from[v->n++] = col;
		else if (!strcmp(key, "all"))
			usual_columns(v, true);
		else
			return no_column(v->inner, key);
	}

	v->cells = xalloc((v->n + 1) * sizeof(*v->cells));
	v->columns = xalloc((v->n + 1) * sizeof(*v->columns));
	for (size_t i = 0; i < v->n; i++) {
		v->columns[i] = *kin_table_column(v->inner, v->from[i]);
		v->columns[i].hidden = false;
	}
	return NULL;
}

/* ---- order ---- */

struct by_key {
	const struct selected_view *view;
	bool descending;
};

static int compare_counts(uint64_t a, uint64_t b) { return ORDER(a, b); }

static double as_number(const struct kin_cell *c)
{
	switch (c->type) {
	case KIN_CELL_TIME:
	case KIN_CELL_SHARE:
	case KIN_CELL_NUMBER:
		return c->number;
	case KIN_CELL_COUNT:
	case KIN_CELL_ADDRESS:
		return (double)c->count;
	case KIN_CELL_OF:
	case KIN_CELL_PLUS:
		return (double)c->pair.a;
	case KIN_CELL_NONE:
	case KIN_CELL_TEXT:
		break;
	}
	return 0;
}

static int compare_cells(const struct kin_cell *a, const struct kin_cell *b)
{
	bool text_a = a->type == KIN_CELL_TEXT, text_b = b->type == KIN_CELL_TEXT;
	if (text_a || text_b)
		return text_a && text_b ? strcmp(a->text, b->text) : text_a - text_b;
	if (a->type == b->type && (a->type == KIN_CELL_COUNT || a->type == KIN_CELL_ADDRESS))
		return compare_counts(a->count, b->count);
	if (a->type == b->type && (a->type == KIN_CELL_OF || a->type == KIN_CELL_PLUS))
		return a->pair.a != b->pair.a ? compare_counts(a->pair.a, b->pair.a)
					      : compare_counts(a->pair.b, b->pair.b);
	double x = as_number(a), y = as_number(b);
	return ORDER(x, y);
}

/* The cell that a row is sorted by: the sort key of its block's head. */
static const struct kin_cell *head_cell(const struct selected_view *v, uint32_t row)
{
	size_t width = v->n + 1;
	return &v->kept.at[v->heads.at[row] * width + width - 1];
}

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct by_key *by = arg;
	uint32_t i = *(const uint32_t *)pa, j = *(const uint32_t *)pb;
	const struct kin_cell *a = head_cell(by->view, i), *b = head_cell(by->view, j);
	bool none_a = a->type == KIN_CELL_NONE, none_b = b->type == KIN_CELL_NONE;

	if (none_a != none_b)
		return none_a - none_b;
	int order = none_a ? 0 : compare_cells(a, b);
	if (order)
		return by->descending ? -order : order;
	return ORDER(i, j);
}

/* Rows of one group form a block and stay together. Its head is its first row that is not nested. A
 * row outside groups is a block of its own. */
static void find_heads(struct selected_view *v)
{
	const struct kin_row *rows = v->rows.at;
	for (size_t i = 0, end; i < v->rows.n; i = end) {
		size_t head = i;
		for (end = i + 1; end < v->rows.n && rows[end].group == rows[i].group &&
				  (rows[end].kind != KIN_ROW_PLAIN || rows[end].depth);
		     end++)
			if (rows[head].depth && !rows[end].depth)
				head = end;
		for (size_t k = i; k < end; k++)
			vec_push(&v->heads, (uint32_t)head);
	}
}

/* Whether a block has a cell to sort by. Rows that do not nest can always be sorted. */
static bool can_sort(const struct selected_view *v)
{
	bool any_nested = false;
	for (uint32_t i = 0; i < v->rows.n; i++) {
		any_nested |= v->rows.at[i].depth > 0;
		if (head_cell(v, i)->type != KIN_CELL_NONE)
			return true;
	}
	return !any_nested;
}

static struct kin_error *sort(struct selected_view *v, const char *sort)
{
	bool descending = sort[0] == '-';
	const char *key = sort + descending;
	size_t col = kin_table_find_column(v->inner, key);
	if (col == kin_table_n_columns(v->inner))
		return no_column(v->inner, key);

	struct kin_row row;
	kin_table_rewind(v->inner);
	while (table_next(v->inner, &row)) {
		if (v->rows.n == NONE)
			return err_new(KIN_ERROR_UNSUPPORTED, "'%s' is too large to be sorted",
				       kin_table_name(v->inner));
		vec_reserve(&v->kept, v->n + 1);
		for (size_t i = 0; i < v->n; i++)
			v->kept.at[v->kept.n++] = row.cells[v->from[i]];
		v->kept.at[v->kept.n++] = row.cells[col];
		vec_push(&v->rows, row);
	}
	find_heads(v);
	if (!can_sort(v))
		return err_new(KIN_ERROR_USAGE, "the rows of '%s' cannot be sorted by '%s'",
			       kin_table_name(v->inner), key);
	v->sorted = true;
	v->order = xrealloc(NULL, v->rows.n + 1, sizeof(*v->order));
	for (size_t i = 0; i < v->rows.n; i++)
		v->order[i] = (uint32_t)i;
	qsort_r(v->order, v->rows.n, sizeof(*v->order), compare_rows,
		&(struct by_key){ v, descending });
	return NULL;
}

/* ---- the view ---- */

static void copy_facts(struct kin_table *to, const struct kin_table *from)
{
	table_set_rate(to, kin_table_rate(from));
	for (size_t i = 0; i < kin_table_n_notes(from); i++)
		table_note(to, "%s", kin_table_note_at(from, i));
	for (size_t i = 0; i < kin_table_n_properties(from); i++) {
		const struct kin_property *p = kin_table_property_at(from, i);
		table_property(to, p->key, p->value);
	}
}

struct kin_error *table_select(struct kin_table *t, const struct table_selection *how,
			       struct kin_table **ret)
{
	bool columns = how->columns && how->columns[0];
	if (!columns && !how->sort) {
		*ret = t;
		return NULL;
	}
	struct selected_view *v = xalloc(sizeof(*v));
	v->inner = t;
	struct kin_error *err = choose(v, how->columns);
	if (!err && how->sort)
		err = sort(v, how->sort);
	if (err) {
		v->inner = NULL;
		view_free(v);
		return err;
	}

	struct kin_table *made = table_new(kin_table_name(t), kin_table_title(t), v->columns, v->n);
	copy_facts(made, t);
	table_copy_layout(made, t);
	table_set_source(made, &view_source, v);
	view_rewind(v);
	*ret = made;
	return NULL;
}
