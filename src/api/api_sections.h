/* api_sections.h - joins the rows of several tables into one table with sections.
 *
 *	s = sections_new(table, &column);      once, when the first table is known
 *	sections_add_row(s, label, &row, ...); for all rows of all tables
 *	sections_take_notes(s, table, label);  for each table
 *	t = sections_finish(s);                frees s
 *
 * The texts of cells are not copied: the tables that rows are from must live as long as the new one
 * (table_keep). */
#ifndef API_API_SECTIONS_H
#define API_API_SECTIONS_H

#include "table/table_build.h"

struct sections;

/* Starts a table with the columns of a report, preceded by `first`, which holds the labels of the
 * sections; a column of `like` with the same key is left out. */
struct sections *sections_new(const struct kin_table *like, const struct kin_column *first);
/* The table under construction; if it will not be finished, free it instead of s. */
struct kin_table *sections_table(struct sections *s);

struct section_scale {
	double share, time; /* factors for shares and times */
	bool is_number;     /* times are not in the table's unit, so they become KIN_CELL_NUMBER */
};
void sections_add_row(struct sections *s, const char *label, const struct kin_row *row,
		      struct section_scale scale);

/* Takes over a table's notes, and which of its columns are visible. Notes that not all sections
 * share are prefixed by the label; label NULL: no prefix. */
void sections_take_notes(struct sections *s, const struct kin_table *t, const char *label);
/* by_time: sections with the most time first; otherwise in order of creation. */
struct kin_table *sections_finish(struct sections *s, bool by_time);

#endif
