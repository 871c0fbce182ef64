/* lines_private.h - what the files of line lookup share. */
#ifndef OBJECT_LINES_PRIVATE_H
#define OBJECT_LINES_PRIVATE_H

#include <string.h>

#include "base/strtab.h"
#include "object/dwarf_info.h"
#include "object/dwarf_line.h"
#include "object/dwarf_scope.h"
#include "object/interval.h"
#include "object/private.h"

/* ---- functions of the symbol table (lines_elf.c) ---- */

struct elf_functions;
struct elf_functions *elf_functions_new(struct object_file *o);
void elf_functions_free(struct elf_functions *f);
/* The function at addr in a section, NULL if there is none; the same answer holds up to *until, and
 * *start is the symbol's address. */
const char *elf_functions_find(const struct elf_functions *f, uint32_t section, uint64_t addr,
			       uint64_t *start, uint64_t *until);

/* ---- one unit (lines_unit.c) ---- */

struct run_list { /* a VEC */
	struct line_run *at;
	size_t n, cap;
};

enum unit_flags {
	UNIT_UNSEEN = 1,   /* BFD stops reading before it */
	UNIT_NO_CODE = 2,  /* types, and what dwz moved out: their line tables are other units' */
	UNIT_REPEATED = 4, /* an earlier unit has the same line table */
	UNIT_CODE_REPEATED = 8, /* an earlier unit with code has */
	UNIT_CODE_SHARED = 16,  /* a later unit with code has */
};

enum line_rules {
	RULES_RIGHT,
	RULES_GNU,
	RULES_PLACES, /* the right ones, functions left out */
};

struct unit_name { /* of a function */
	const char *name;
	bool known;
};

struct object_lines {
	struct object_file *object;
	struct dwarf_info *info;     /* NULL: no debugging information */
	struct dwarf_scopes *scopes; /* NULL until needed */
	struct strtab *paths;
	struct elf_functions *elf; /* NULL until needed */
	uint8_t *units;            /* per unit: enum unit_flags */
	uint64_t work_left;        /* bytes that may still be decoded: nothing honest needs all */

	/* Of the unit at hand, kept for their memory. */
	struct line_table table;
	struct dwarf_functions functions;
	struct intervals pieces;
	VEC(struct unit_name) names;

	struct line_index *index; /* NULL until needed: both answer object_place() */
	struct gnu_lines *gnu;
};

/* The object's, made when first asked for. */
struct object_lines *object_lines(struct object_file *o);

/* All runs of a unit by address, appended to *ret. Neighbours that touch differ.
 *
 * RULES_GNU: with those for which BFD has an answer that GNU gprof does not accept, as the file,
 * line or function is not known: all parts of these are 0. Where BFD says that the unit is, as soon
 * as it has decoded it, is appended to *claims, in BFD's order, if that is not NULL. */
void unit_runs(struct object_lines *l, size_t unit, enum line_rules rules, struct run_list *ret,
	       struct dwarf_ranges *claims);
/* Whether it has no runs because an earlier unit has all of them. */
bool unit_is_repeated(const struct object_lines *l, size_t unit, enum line_rules rules);
/* The sequences of its line table, in the table's order, appended to *ret. */
void unit_sequences(struct object_lines *l, size_t unit, struct dwarf_ranges *ret);

/* Where rows of its line table begin within the range, appended to *ret. */
struct row_starts { /* a VEC */
	uint64_t *at;
	size_t n, cap;
};
void unit_rows(struct object_lines *l, size_t unit, struct address_range range,
	       struct row_starts *ret);

/* The run that holds addr; NULL if none does. */
static inline const struct line_run *run_at(const struct run_list *r, uint64_t addr)
{
	size_t low = 0, high = r->n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (r->at[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < r->n && r->at[low].addr <= addr ? &r->at[low] : NULL;
}

static inline bool run_same(const struct srcloc *a, const struct srcloc *b)
{
	if (a->line != b->line || a->file != b->file)
		return false;
	return a->function == b->function ||
	       (a->function && b->function && !strcmp(a->function, b->function));
}

/* ---- addresses one by one (lines_index.c) ---- */

struct line_index;
struct line_index *line_index_new(struct object_lines *l);
void line_index_free(struct line_index *x);
/* The run that holds addr; valid until the next call. NULL if none does. */
const struct line_run *line_index_find(struct line_index *x, uint64_t addr);

/* ---- BFD's answers (lines_gnu.c) ---- */

struct gnu_lines;
struct gnu_lines *gnu_lines_new(struct object_lines *l);
void gnu_lines_free(struct gnu_lines *g);
/* False if it does not know; strings live as long as the object. */
bool gnu_lines_find(struct gnu_lines *g, uint64_t addr, struct srcloc *ret);
/* Of each byte in the range: what it says when it is asked for all of them the second time. All
 * neighbours differ, and a run may span bytes of which nothing is known. */
void gnu_lines_runs(struct gnu_lines *g, struct address_range range, struct run_list *ret);

#endif
