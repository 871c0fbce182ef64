/* line_rules.h - what line an address is of, for programs that have it otherwise than we do
 * (lines.c): who answers, and how the line table of one unit is read. */
#ifndef OBJECT_LINE_RULES_H
#define OBJECT_LINE_RULES_H

#include <string.h>

#include "base/search.h"
#include "object/object.h"

struct object_lines; /* the lines of one object */

struct run_list { /* a VEC */
	struct line_run *at;
	size_t n, cap;
};

/* ---- who answers ---- */

struct line_rules {
	/* What the answers are made of; NULL is never returned. One for each object, which asks it
	 * from then on. Strings in answers live as long as the object. */
	void *(*open)(struct object_lines *l);
	void (*close)(void *answers);
	bool (*find)(void *answers, uint64_t addr, struct srcloc *ret); /* as object_place() */
	/* As object_line_runs(); appended to *ret. */
	void (*runs)(void *answers, struct address_range range, struct run_list *ret);
};

/* ---- one unit (lines_unit.c) ---- */

enum unit_flags {
	UNIT_UNSEEN = 1,   /* one before it, or itself, is damaged or of addresses by index */
	UNIT_NO_CODE = 2,  /* types, and what dwz moved out: their line tables are other units' */
	UNIT_REPEATED = 4, /* an earlier unit has the same line table */
	UNIT_CODE_REPEATED = 8, /* an earlier unit with code has */
	UNIT_CODE_SHARED = 16,  /* a later unit with code has */
};

/* How the runs of a unit are made of its line table and its functions. */
struct unit_rules {
	uint8_t left_out; /* enum unit_flags: units that have no runs */
	uint8_t repeated; /* enum unit_flags: units whose runs are an earlier one's */
	bool of_lines;    /* runs have no functions */
	/* Of the functions that hold an address the one with the shortest range counts, and not the
	 * innermost one; of equal ones the last. */
	bool shortest_wins;
	bool no_indexed_ranges; /* functions whose ranges are given by index have none; where there
				 * are lists with addresses by index the unit has no runs */
	bool no_split;          /* functions in files of their own (.dwo) are not looked for */
	/* A function without a linkage name has that of the symbol found where it was asked for, if
	 * that is at its start, and not that of the symbol there; inlined functions as well. */
	bool named_where_asked;
	bool named_by_symbols; /* code of no function is of the symbol that holds it */
	/* Runs that lack the function, the file or the line have none of these; and there are such
	 * runs where only a function is. */
	bool all_or_nothing;
	bool dead_code;           /* all sequences count, and not only those that start in code */
	bool from_first;          /* see line_table_read() */
	bool whole_tables;        /* a table that is several units' is not cut to the unit's code */
	const char *unknown_file; /* NULL: none */
};

struct line_unit {
	uint8_t flags; /* enum unit_flags */
	bool has_lines;
	uint64_t table;                     /* offset of its line table, if it has one */
	const struct address_range *ranges; /* as the unit says; [n_ranges] */
	uint32_t n_ranges;
};
size_t line_units_count(const struct object_lines *l);
struct line_unit line_unit_at(const struct object_lines *l, size_t unit);
/* The size of the debugging information: a bound for what honest questions cost. */
uint64_t line_units_bytes(const struct object_lines *l);

/* All runs of a unit by address, appended to *ret. Neighbours that touch differ. Where the unit is
 * by its line table and its functions, in their order, is appended to *claims, if that is not NULL.
 */
void unit_runs(struct object_lines *l, size_t unit, const struct unit_rules *rules,
	       struct run_list *ret, struct address_ranges *claims);
/* Whether it has no runs because an earlier unit has all of them. */
bool unit_is_repeated(const struct object_lines *l, size_t unit, const struct unit_rules *rules);
/* The sequences of its line table, in the table's order, appended to *ret. */
void unit_sequences(struct object_lines *l, size_t unit, const struct unit_rules *rules,
		    struct address_ranges *ret);

/* The run that holds addr; NULL if none does. */
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
