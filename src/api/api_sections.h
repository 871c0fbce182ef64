/* api_sections.h - a table made of the rows of others: each row belongs to a section, and the
 *sections come one after the other.
 *
 *	s = sections_new(table, &column);      once, when the first table is known
 *	sections_add_row(s, label, &row, ...); for all rows of all tables
 *	sections_take_notes(s, table, label);  of each table
 *	t = sections_finish(s);                owns s
 *
 * The texts of cells are not copied: the tables that rows are from must live as long as the new one
 * (table_keep). */
#ifndef API_API_SECTIONS_H
#define API_API_SECTIONS_H

#include "table/table_build.h"

struct sections;

/* The columns of a report, with `first` before them, which holds the labels of the sections; a
 * column of `like` with the same key is left out. */
struct sections *sections_new(const struct kin_table *like, const struct kin_column *first);
/* The table that is being made; free it in place of s if it will not be finished. */
struct kin_table *sections_table(struct sections *s);

struct section_scale {
	double share, time; /* what shares and times are multiplied by */
};
void sections_add_row(struct sections *s, const char *label, const struct kin_row *row,
		      struct section_scale scale);

/* What a table says in its notes, and which columns it shows. Notes that not all sections have are
 * said of the one they are from; label NULL: of all. */
void sections_take_notes(struct sections *s, const struct kin_table *t, const char *label);
/* by_time: those with the most first; else in the order in which they were begun. */
struct kin_table *sections_finish(struct sections *s, bool by_time);

#endif
