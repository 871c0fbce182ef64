/* unwind_table_private.h - declarations shared by unwind_table.c and unwind_table_file.c. */
#ifndef UNWIND_UNWIND_TABLE_PRIVATE_H
#define UNWIND_UNWIND_TABLE_PRIVATE_H

#include "unwind/unwind_table.h"

struct unwind_point { /* a rule and the address it holds from, up to the next point */
	uint32_t at;  /* address - base */
	uint32_t rule;
};

struct unwind_table {
	const struct machine *machine;
	uint64_t base, size;         /* addresses [base, base + size) */
	struct unwind_point *points; /* by address, at least one, the first at 0 */
	size_t n_points;
	struct unwind_row *rules; /* distinct; [0] is the unknown rule */
	size_t n_rules;
	/* buckets[b]: index of the first point whose (at >> shift) is b or more; has one entry more
	 * than there are buckets */
	uint32_t *buckets;
	size_t n_buckets;
	unsigned shift;
	bool is_followed; /* no code was left out (code_file.not_followed) */
};

/* Makes the buckets; everything else must be set. */
void unwind_table_index(struct unwind_table *t);

#endif
