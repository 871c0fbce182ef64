/* line_rules.h - rules for the line of an address, for programs that differ from our own rules
 * (lines.c): who answers, and how the line table of one unit is read. */
#ifndef OBJECT_LINE_RULES_H
#define OBJECT_LINE_RULES_H

#include <string.h>

#include "base/search.h"
#include "object/object.h"

struct object_lines; /* line lookup of one object */

struct run_list { /* a VEC */
	struct line_run *at;
	size_t n, cap;
};

/* ---- who answers ---- */

struct line_rules {
	/* Makes the object that answers; never NULL. One for each ELF object, used for all its
	 * requests from then on. Strings in answers live as long as the ELF object. */
	void *(*open)(struct object_lines *l);
	void (*close)(void *answers);
	bool (*find)(void *answers, uint64_t addr, struct srcloc *ret); /* as object_place() */
	/* As object_line_runs(), but appended to *ret. */
	void (*runs)(void *answers, struct address_range range, struct run_list *ret);
};

/* ---- one unit (lines_unit.c) ---- */

enum unit_flags {
	UNIT_UNSEEN = 1,   /* an earlier unit, or itself, is damaged or has addresses by index */
	UNIT_NO_CODE = 2,  /* only types, or a dwz unit: its line table belongs to other units */
	UNIT_REPEATED = 4, /* an earlier unit has the same line table */
	UNIT_CODE_REPEATED = 8, /* an earlier unit with code has */
	UNIT_CODE_SHARED = 16,  /* a later unit with code has */
};

/* How the runs of a unit are made from its line table and its functions. */
struct unit_rules {
	uint8_t left_out; /* enum unit_flags: units without runs */
	uint8_t repeated; /* enum unit_flags: units that share the runs of an earlier one */
	/* Of the functions that contain an address the one with the shortest range counts, not the
	 * innermost one; among equals the last. */
	bool shortest_wins;
	bool no_indexed_ranges; /* functions whose ranges are given by index have none; a unit with
				   a list of addresses by index has no runs */
	bool no_split;          /* functions in split files (.dwo) are ignored */
	/* A function without a linkage name, inlined or not, is named by the symbol at the
	 * requested address, if that symbol starts where the function does. False: the symbol at
	 * the function's start names it, unless it is inlined. */
	bool named_where_asked;
	bool named_by_symbols; /* code outside of all functions gets the name of its symbol */
	/* Runs that lack the function, the file or the line lack all three; and code with a
	 * function but without rows has such runs. */
	bool all_or_nothing;
	bool dead_code;    /* use all sequences, not only those that start in code */
	bool from_first;   /* see line_table_read() */
	bool whole_tables; /* a table shared by several units is not restricted to the unit's code
			    */
	const char *unknown_file; /* NULL: none */
};

struct line_unit {
	uint8_t flags; /* enum unit_flags */
	bool has_lines;
	uint64_t table;                     /* offset of its line table, if any */
	const struct address_range *ranges; /* the unit's own ranges; [n_ranges] */
	uint32_t n_ranges;
};
size_t line_units_count(const struct object_lines *l);
struct line_unit line_unit_at(const struct object_lines *l, size_t unit);
/* The size of the debugging information: an upper bound for the cost of honest files. */
uint64_t line_units_bytes(const struct object_lines *l);

/* Appends the runs of a unit by address to *ret: the parts in `in`, which is disjoint and by
 * address; all if that is NULL. Neighbours that touch differ. The ranges of its sequences and then
 * of its functions, in their order, are appended to *claims, if that is not NULL. */
void unit_runs(struct object_lines *l, size_t unit, const struct unit_rules *rules,
	       const struct address_ranges *in, struct run_list *ret,
	       struct address_ranges *claims);
/* Whether it has no runs because an earlier unit has all of them. */
bool unit_is_repeated(const struct object_lines *l, size_t unit, const struct unit_rules *rules);
/* Appends the sequences of its line table to *ret, in the table's order. */
void unit_sequences(struct object_lines *l, size_t unit, const struct unit_rules *rules,
		    struct address_ranges *ret);

/* The run that contains addr; NULL if none does. */
static inline const struct line_run *run_at(const struct run_list *r, uint64_t addr)
{
	size_t low = COUNT_WHILE(r->n, i, r->at[i].end <= addr);
	return low < r->n && r->at[low].addr <= addr ? &r->at[low] : NULL;
}

static inline bool run_same(const struct srcloc *a, const struct srcloc *b)
{
	if (a->line != b->line || a->file != b->file)
		return false;
	return a->function == b->function ||
	       (a->function && b->function && !strcmp(a->function, b->function));
}

#endif
