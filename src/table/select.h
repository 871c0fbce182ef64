/* select.h - the same table with other columns, or in another order. */
#ifndef TABLE_SELECT_H
#define TABLE_SELECT_H

#include "base/base.h"
#include "kin/table.h"

struct table_selection {
	/* NULL-terminated keys, in the order wanted. "all": every column, the hidden ones too;
	 * "+key" as the first: the usual columns, then these. NULL or empty: the usual ones. */
	const char *const *columns;
	/* "key": smallest first; "-key": largest first; equal rows stay as they were, cells with
	 * nothing in them come last either way. NULL: as they are. */
	const char *sort;
};

/* The result owns t. On failure t is still the caller's: KIN_ERROR_USAGE if there is no such column
 * (the message lists those there are), or if rows are to be sorted that belong together. */
MUST_CHECK struct kin_error *table_select(struct kin_table *t, const struct table_selection *how,
					  struct kin_table **ret);

#endif
