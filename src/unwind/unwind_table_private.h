/* unwind_table_private.h - what unwind_table.c and unwind_table_file.c share. */
#ifndef UNWIND_UNWIND_TABLE_PRIVATE_H
#define UNWIND_UNWIND_TABLE_PRIVATE_H

#include "unwind/unwind_table.h"

struct unwind_point { /* from here on, up to the next point, this rule */
	uint32_t at;  /* address - base */
	uint32_t rule;
};

struct unwind_table {
	const struct machine *machine;
	uint64_t base, size;         /* addresses [base, base + size) */
	struct unwind_point *points; /* by address, at least one, the first at 0 */
	size_t n_points;
	struct unwind_row *rules; /* distinct; [0] knows nothing */
	size_t n_rules;
	/* buckets[b]: the first point whose (at >> shift) is b or more; one more than there are
	 * buckets */
	uint32_t *buckets;
	size_t n_buckets;
	unsigned shift;
};

/* Makes the buckets; everything else is set. */
void unwind_table_index(struct unwind_table *t);

#endif
