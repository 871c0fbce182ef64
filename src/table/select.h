/* select.h - selects columns of a table, or sorts it. */
#ifndef TABLE_SELECT_H
#define TABLE_SELECT_H

#include "base/base.h"
#include "kin/table.h"

struct table_selection {
	/* NULL-terminated keys, in display order. "all": every column, even hidden ones; "+key" as
	 * the first: the default columns, then these. NULL or empty: the default ones. */
	const char *const *columns;
	/* "key": smallest first; "-key": largest first; equal rows keep their order, empty cells
	 * come last either way. NULL: do not sort. */
	const char *sort;
};

/* The result owns t. On failure the caller still does: KIN_ERROR_USAGE if there is no such column
 * (the message lists the columns), or if the rows form blocks that cannot be sorted. */
MUST_CHECK struct kin_error *table_select(struct kin_table *t, const struct table_selection *how,
					  struct kin_table **ret);

#endif
