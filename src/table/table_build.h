/* table_build.h - building a report's table. Reading one is public: kin/table.h.
 *
 * Rows are either added (table_add_row), or made by a source as they are read. */
#ifndef TABLE_TABLE_BUILD_H
#define TABLE_TABLE_BUILD_H

#include <string.h>

#include "base/base.h"
#include "kin/table.h"

/* Columns must be static: the table keeps the pointer. Name and title are copied. */
struct kin_table *table_new(const char *name, const char *title, const struct kin_column *columns,
			    size_t n_columns);
/* Whether the column with this key is visible by default; overrides the column's `hidden`. */
void table_show(struct kin_table *t, const char *key, bool shown);
void table_set_rate(struct kin_table *t, double ticks_per_second); /* default 1 */
void table_note(struct kin_table *t, const char *fmt, ...)
	PRINTF(2, 3); /* a line under the title */
void table_note_first(struct kin_table *t, const char *fmt, ...)
	PRINTF(2, 3); /* a note before all others */
void table_property(
	struct kin_table *t, const char *key,
	struct kin_cell value); /* key is static, text is copied; the first one counts */
const char *table_text(struct kin_table *t, const char *s); /* copy for a cell */

/* Returns the row's n_columns cells, all KIN_CELL_NONE, valid until the next row is added. */
struct kin_cell *table_add_row(struct kin_table *t, struct kin_row row);

struct table_source {
	void (*rewind)(void *state);
	bool (*next)(void *state, struct kin_row *row); /* row->cells are owned by the source */
	void (*free)(void *state);                      /* may be NULL */
	/* As rewind(), for readers that only need the extremes of columns. Rows may come in any
	 * order. A row may be left out if each of its cells is in another row of the same depth, or
	 * its number lies between those of other rows. NULL: there is no faster way. */
	void (*rewind_extremes)(void *state);
};
/* kin_table_next() for internal callers: out of memory ends the guarded call, or the program. */
bool table_next(struct kin_table *t, struct kin_row *ret);
/* kin_table_rewind() for readers that only need the extremes of columns. */
void table_rewind_extremes(struct kin_table *t);
void table_set_source(struct kin_table *t, const struct table_source *source, void *state);
/* The state of a table with that source; NULL: it has another. */
const void *table_state(const struct kin_table *t, const struct table_source *source);

/* Data for another program's layout that fits neither rows nor columns: a struct of that layout.
 * `owner` identifies its type: any address within the layout's code. NULL: there is none. The
 * struct must live as long as the table. */
void table_set_layout(struct kin_table *t, const void *owner, const void *layout);
const void *table_layout(const struct kin_table *t, const void *owner);
void table_copy_layout(struct kin_table *to, const struct kin_table *from);

/* Calls release(what) when the table is freed: keeps data alive that rows point into. */
void table_keep(struct kin_table *t, void (*release)(void *what), void *what);

static inline struct kin_cell cell_none(void) { return (struct kin_cell){ .type = KIN_CELL_NONE }; }
static inline struct kin_cell cell_count(uint64_t n)
{
	return (struct kin_cell){ .type = KIN_CELL_COUNT, .count = n };
}
static inline struct kin_cell cell_time(double ticks)
{
	return (struct kin_cell){ .type = KIN_CELL_TIME, .number = ticks };
}
static inline struct kin_cell cell_share(double share)
{
	return (struct kin_cell){ .type = KIN_CELL_SHARE, .number = share };
}
static inline struct kin_cell cell_number(double n)
{
	return (struct kin_cell){ .type = KIN_CELL_NUMBER, .number = n };
}
static inline struct kin_cell cell_address(uint64_t a)
{
	return (struct kin_cell){ .type = KIN_CELL_ADDRESS, .count = a };
}
static inline struct kin_cell cell_text_of(const char *s, size_t length)
{
	return (struct kin_cell){ .type = KIN_CELL_TEXT, .text = s, .length = length };
}
static inline struct kin_cell cell_text(const char *s) { return cell_text_of(s, strlen(s)); }
static inline struct kin_cell cell_of(uint64_t a, uint64_t b)
{
	return (struct kin_cell){ .type = KIN_CELL_OF, .pair = { a, b } };
}
static inline struct kin_cell cell_plus(uint64_t a, uint64_t b)
{
	return (struct kin_cell){ .type = KIN_CELL_PLUS, .pair = { a, b } };
}

#endif
