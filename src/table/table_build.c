/* table_build.c - columns, properties and rows of a table that is being made. */
#include "table/table_build.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/guard.h"
#include "base/vec.h"

struct kept_rows {
	void (*release)(void *what);
	void *what;
};

struct kin_table {
	const char *name, *title;
	const struct kin_column *columns;
	struct kin_column *own_columns; /* a copy, once one was changed; else NULL */
	size_t n_columns;
	double rate;
	VEC(const char *) notes;
	VEC(struct kin_property) properties;

	/* Rows that were added; unused if there is a source. */
	VEC(struct kin_row) rows;
	VEC(struct kin_cell) cells; /* n_columns per row */
	size_t next;

	const struct table_source *source; /* NULL: the rows above */
	void *state;
	bool at_end;
	struct kin_error *err; /* why rows ended too early */

	const void *layout_owner, *layout;

	VEC(struct kept_rows) kept;
	struct arena arena; /* texts */
};

struct kin_table *table_new(const char *name, const char *title, const struct kin_column *columns,
			    size_t n_columns)
{
	struct kin_table *t = xalloc(sizeof(*t));
	t->name = table_text(t, name);
	t->title = table_text(t, title);
	t->columns = columns;
	t->n_columns = n_columns;
	t->rate = 1;
	return t;
}

void table_show(struct kin_table *t, const char *key, bool shown)
{
	size_t size = t->n_columns * sizeof(*t->columns);

	if (!t->own_columns) {
		t->own_columns = memcpy(arena_alloc(&t->arena, size), t->columns, size);
		t->columns = t->own_columns;
	}
	for (size_t i = 0; i < t->n_columns; i++)
		if (!strcmp(t->own_columns[i].key, key))
			t->own_columns[i].hidden = !shown;
}

void table_set_rate(struct kin_table *t, double ticks_per_second) { t->rate = ticks_per_second; }

void table_note(struct kin_table *t, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *line = xvprintf(fmt, ap);
	va_end(ap);
	vec_push(&t->notes, table_text(t, line));
	free(line);
}

void table_note_first(struct kin_table *t, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *line = xvprintf(fmt, ap);
	va_end(ap);
	table_note(t, "%s", line);
	free(line);
	const char *last = t->notes.at[t->notes.n - 1];
	memmove(t->notes.at + 1, t->notes.at, (t->notes.n - 1) * sizeof(*t->notes.at));
	t->notes.at[0] = last;
}

void table_property(struct kin_table *t, const char *key, struct kin_cell value)
{
	if (kin_table_property(t, key))
		return;
	if (value.type == KIN_CELL_TEXT)
		value.text = table_text(t, value.text);
	vec_push(&t->properties, ((struct kin_property){ key, value }));
}

const char *table_text(struct kin_table *t, const char *s)
{
	size_t n = strlen(s) + 1;
	return memcpy(arena_alloc_bytes(&t->arena, n), s, n);
}

struct kin_cell *table_add_row(struct kin_table *t, struct kin_row row)
{
	vec_push(&t->rows, row);
	vec_reserve(&t->cells, t->n_columns);
	struct kin_cell *cells = t->cells.at + t->cells.n;
	memset(cells, 0, t->n_columns * sizeof(*cells));
	t->cells.n += t->n_columns;
	return cells;
}

void table_set_source(struct kin_table *t, const struct table_source *source, void *state)
{
	t->source = source;
	t->state = state;
}

const void *table_state(const struct kin_table *t, const struct table_source *source)
{
	return t->source == source ? t->state : NULL;
}

void table_set_layout(struct kin_table *t, const void *owner, const void *layout)
{
	t->layout_owner = owner;
	t->layout = layout;
}

const void *table_layout(const struct kin_table *t, const void *owner)
{
	return t->layout_owner == owner ? t->layout : NULL;
}

void table_copy_layout(struct kin_table *to, const struct kin_table *from)
{
	table_set_layout(to, from->layout_owner, from->layout);
}

void table_keep(struct kin_table *t, void (*release)(void *what), void *what)
{
	vec_push(&t->kept, ((struct kept_rows){ release, what }));
}

const char *kin_table_name(const struct kin_table *t) { return t->name; }
const char *kin_table_title(const struct kin_table *t) { return t->title; }
double kin_table_rate(const struct kin_table *t) { return t->rate; }
size_t kin_table_n_notes(const struct kin_table *t) { return t->notes.n; }
const char *kin_table_note_at(const struct kin_table *t, size_t i) { return t->notes.at[i]; }
size_t kin_table_n_properties(const struct kin_table *t) { return t->properties.n; }

const struct kin_property *kin_table_property_at(const struct kin_table *t, size_t i)
{
	return &t->properties.at[i];
}

const struct kin_cell *kin_table_property(const struct kin_table *t, const char *key)
{
	for (size_t i = 0; i < t->properties.n; i++)
		if (!strcmp(t->properties.at[i].key, key))
			return &t->properties.at[i].value;
	return NULL;
}

size_t kin_table_n_columns(const struct kin_table *t) { return t->n_columns; }

const struct kin_column *kin_table_column(const struct kin_table *t, size_t col)
{
	return &t->columns[col];
}

size_t kin_table_find_column(const struct kin_table *t, const char *key)
{
	size_t i = 0;
	while (i < t->n_columns && strcmp(t->columns[i].key, key) != 0)
		i++;
	return i;
}

void kin_table_rewind(struct kin_table *t)
{
	t->next = 0;
	if (t->source)
		t->source->rewind(t->state);
}

void table_rewind_extremes(struct kin_table *t)
{
	if (t->source && t->source->rewind_extremes)
		t->source->rewind_extremes(t->state);
	else
		kin_table_rewind(t);
}

static struct kin_error *pull(struct kin_table *t, struct kin_row *ret)
{
	t->at_end = !table_next(t, ret);
	return NULL;
}

/* For callers outside the library. Calls from within are guarded by the library's outermost
 * function. */
static bool next_guarded(struct kin_table *t, struct kin_row *ret)
{
	if (!t->err)
		t->err = GUARDED(pull(t, ret));
	return !t->err && !t->at_end;
}

const struct kin_error *kin_table_error(const struct kin_table *t) { return t->err; }

bool kin_table_next(struct kin_table *t, struct kin_row *ret)
{
	return t->source && !guard_is_on() ? next_guarded(t, ret) : table_next(t, ret);
}

bool table_next(struct kin_table *t, struct kin_row *ret)
{
	if (t->source)
		return t->source->next(t->state, ret);
	if (t->next == t->rows.n)
		return false;
	*ret = t->rows.at[t->next];
	ret->cells = t->cells.at + t->next * t->n_columns;
	t->next++;
	return true;
}

void kin_table_free(struct kin_table *t)
{
	if (!t)
		return;
	if (t->source && t->source->free)
		t->source->free(t->state);
	for (size_t i = t->kept.n; i-- > 0;)
		t->kept.at[i].release(t->kept.at[i].what);
	vec_free(&t->kept);
	vec_free(&t->notes);
	vec_free(&t->properties);
	vec_free(&t->rows);
	vec_free(&t->cells);
	arena_release(&t->arena);
	free(t);
}
